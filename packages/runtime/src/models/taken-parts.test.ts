import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { UserPart } from '@hermes/contracts/conversation'
import { type ModelServer, startModelServer, type TemporaryHome, temporaryHome } from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { Runtime } from '../runtime.js'

const WAV = Buffer.from('RIFF\x04\0\0\0WAVEfmt 0000', 'latin1').toString('base64')
const PDF = Buffer.from('%PDF-1.4 0000').toString('base64')
const memo = { type: 'audio', mediaType: 'audio/wav', data: WAV, name: 'memo.wav' } as const
const plan = { type: 'file', mediaType: 'application/pdf', data: PDF, name: 'plan.pdf' } as const

let home: TemporaryHome
let server: ModelServer
let runtime: Runtime
let cwd: string

beforeEach(async () => {
  ;[home, server] = await Promise.all([temporaryHome(), startModelServer()])
  cwd = join(home.path, 'work')
  await mkdir(cwd)
})
afterEach(async () => {
  await runtime.close()
  await server.close()
  await home.remove()
})

async function start(config: object) {
  const base = { model: { default: 'm', base_url: server.baseUrl }, terminal: { isolation: 'off' } }
  const path = join(home.path, '.hermes')
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'config.yaml'), JSON.stringify({ ...base, ...config }))
  runtime = await openRuntime({ home: path, userHome: home.path, env: {}, cwd, user: 'u', tempDir: home.path })
  const { agent } = await runtime.createAgent({})
  const notices: string[] = []
  return async (...content: readonly UserPart[]) => {
    const run = agent.run({ content })
    for await (const event of run)
      if (event.type === 'notice') notices.push(event.text)
      else if (event.type === 'retry-wait') notices.push(JSON.stringify(event.remedy))
    const { status } = await run.result
    return { status, notices, sent: JSON.stringify(server.requests.at(-1)!.body.messages) }
  }
}

const words = { type: 'text', text: 'What is this?' } as const

it('a model known to hear nothing gets a line in place of a recording, the person is told, and a file goes out', async () => {
  server.enqueue({ text: 'I cannot hear it.' })
  const say = await start({ model_overrides: { m: { supports_audio: false } } })
  const { sent, notices } = await say(words, memo, plan)
  expect(notices).toEqual([expect.stringMatching(/^m does not take memo\.wav \(audio\/wav\)/)])
  expect(sent).toContain('The recording memo.wav was left out')
  expect(sent).not.toContain(WAV)
  expect(sent).toContain(PDF)
})

it('a wire without a form for it counts as a model that does not take it', async () => {
  server.enqueue({ text: 'I cannot hear it.' })
  const model = { provider: 'anthropic', default: 'claude-sonnet-4-5', base_url: server.anthropicBaseUrl, api_key: 'k' }
  const say = await start({ model })
  const { sent, notices } = await say(words, memo, plan, { ...plan, mediaType: 'application/zip', name: 'all.zip' })
  expect(notices).toEqual([
    expect.stringContaining('does not take memo.wav'),
    expect.stringContaining('does not take all.zip'),
  ])
  expect(sent).toContain('The recording memo.wav was left out')
  expect(sent).toContain('The file all.zip was left out')
  expect(sent.match(/"media_type":"application\/pdf"/g)).toHaveLength(1)
})

it.each([
  [500, 'audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
  [501, 'Unknown part type: file'],
  [400, "Invalid 'messages[1]'. Content blocks are expected to be either text or image_url type."],
])('what a server refuses with %i is left out, so that the conversation goes on', async (status, message) => {
  server.enqueue({ fault: 'status', status, body: { error: { message } } }, { text: 'Nothing.' }, { text: 'Still.' })
  const say = await start({})
  const first = await say(words, memo, plan)
  expect(first.notices).toEqual(['{"type":"repair","repair":"drop-attachments"}'])
  expect(first.sent).toContain('The recording memo.wav was left out')
  const { status: ended, sent } = await say({ type: 'text', text: 'And now?' })
  expect([ended, server.requests.length]).toEqual(['completed', 3])
  expect(sent).not.toContain(WAV)
})

it('a recording is attached by its name for a model that hears, and refused in a line for another', async () => {
  await writeFile(join(cwd, 'memo.wav'), Buffer.from(WAV, 'base64'))
  server.enqueue({ text: 'A voice.' })
  const say = await start({ model_overrides: { m: { supports_audio: true } } })
  const heard = await say({ type: 'text', text: 'What says @file:memo.wav?' })
  expect(heard.sent).toContain(`"input_audio":{"data":"${WAV}","format":"wav"}`)
  await runtime.close()
  server.enqueue({ text: 'I cannot hear it.' })
  const other = await start({ model_overrides: { m: { supports_audio: false } } })
  const { sent, notices } = await other({ type: 'text', text: 'What says @file:memo.wav?' })
  expect(notices).toEqual(['Not attached: @file:memo.wav (m does not take recordings)'])
  expect(sent).not.toContain(WAV)
})
