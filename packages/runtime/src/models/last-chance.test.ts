// What nobody saved is looked for once more before a session loses it: when it is compacted, and once it was left.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CapturedRequest,
  type ModelServer,
  type ModelStep,
  startModelServer,
  type TemporaryHome,
  temporaryHome,
} from '@hermes/testkit'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRuntime } from '../open-runtime.js'
import type { ReadyAgent, Runtime } from '../runtime.js'

const RECORD = '## Active Task\nread on\n\n## Goal\nread\n\n## Completed Actions\n1. read a lot'
const KEPT = { operations: [{ target: 'user', action: 'add', content: 'Prefers metric units.' }] }

let home: TemporaryHome
let server: ModelServer
let runtime: Runtime
const script: ModelStep[] = []

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  await writeFile(join(home.path, 'notes.txt'), 'a line of notes\n'.repeat(400))
  server.setHandler((request) => {
    if (isReview(request)) return { text: JSON.stringify(KEPT) }
    const text = JSON.stringify(request.body.messages)
    if (text.includes('You write the record')) return { text: RECORD }
    return script.shift() ?? { text: 'Done.' }
  })
  await open()
})
afterEach(async () => {
  await runtime.close()
  await server.close()
  await home.remove()
})

async function open(memory: object = {}): Promise<void> {
  const model = { provider: 'custom', default: 'm', base_url: server.baseUrl, context_length: 100_000 }
  const config = { model, memory: { flush_min_turns: 2, ...memory } }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(config))
  const place = { home: home.path, userHome: home.path, cwd: home.path, tempDir: home.path }
  runtime = await openRuntime({ ...place, env: {}, user: 'me', yolo: true })
}

const isReview = ({ body }: CapturedRequest) => JSON.stringify(body.messages).includes('what an agent remembers')
const reviews = () => server.requests.filter(isReview)
const look = ({ sessionId }: ReadyAgent['agent']) => runtime.doSessionJob('memory-review', sessionId)
const remembered = () => readFile(join(home.path, 'memories', 'USER.md'), 'utf8').catch(() => '')

async function talk(): Promise<ReadyAgent> {
  const ready = await runtime.createAgent({})
  for (let page = 0; page < 12; page++)
    script.push({ toolCalls: [{ name: 'read_file', args: { path: 'notes.txt', offset: 1 + page * 30, limit: 30 } }] })
  await ready.agent.run('Read the notes. I want metric units.').result
  await ready.agent.run('Thank you.').result
  return ready
}

it('keeps what lasts of the messages that a compaction takes out, at the latest with the next program where the first ends at once', async () => {
  const { agent, close } = await talk()
  expect(reviews()).toEqual([])
  expect(await agent.compact()).toMatchObject({ type: 'compacted' })
  await close()
  await runtime.close()
  if ((await remembered()) === '') {
    await open()
    expect(await look(agent)).toBe(true)
    await runtime.close()
  }
  expect(await remembered()).toBe('Prefers metric units.\n')
  expect(JSON.stringify(reviews().at(-1)!.body.messages)).toContain('User: Read the notes. I want metric units.')
})

it('keeps what lasts of a session once, and looks again only through what came since', async () => {
  const { agent } = await talk()
  expect([await look(agent), await look(agent)]).toEqual([true, false])
  expect(await remembered()).toBe('Prefers metric units.\n')
  await agent.run('And now inches.').result
  expect(await look(agent)).toBe(false)
  await agent.run('No, really.').result
  expect(await look(agent)).toBe(true)
  expect(JSON.stringify(reviews()[1]!.body)).not.toContain('I want metric units')
})

it('does not look through what was compacted once more', async () => {
  const { agent } = await talk()
  await agent.compact()
  const { meta } = await runtime.storage()
  await expect.poll(() => meta.get('looked_through')).toContain(agent.sessionId)
  await agent.run('One more thing.').result
  expect(await look(agent)).toBe(false)
  expect(reviews()).toHaveLength(1)
})

it('spends nothing on a session in which little was said, nor where config.yaml says no', async () => {
  const { agent } = await runtime.createAgent({})
  await agent.run('I want metric units.').result
  expect(await look(agent)).toBe(false)
  await runtime.close()
  await open({ flush_min_turns: 0 })
  expect(runtime.sessionJobs).not.toContain('memory-review')
  expect(await look((await talk()).agent)).toBe(false)
  expect(reviews()).toEqual([])
})
