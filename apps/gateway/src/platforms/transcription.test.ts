// Voice notes over real HTTP, by a service that speaks as OpenAI does.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type ChatStage, chatStage } from '../__fixtures__/chat-stage.js'

const KEY = 'sk-the-key-for-voice-notes-of-a-test'
const VOICE = Buffer.from('OggS what was spoken')

/** What a service got. */
interface Heard {
  readonly path: string
  readonly authorization: string | undefined
  readonly fields: Readonly<Record<string, string>>
  readonly file: { readonly name: string; readonly text: string }
}

async function service(answer: RequestListener) {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    const body = new Uint8Array(Buffer.concat(await request.toArray()))
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    const form = [...(await new Response(body, { headers }).formData())]
    const file = form.find(([name]) => name === 'file')![1] as unknown as File
    heard.push({
      path: request.url!,
      authorization: request.headers.authorization,
      fields: Object.fromEntries(form.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))),
      file: { name: file.name, text: await file.text() },
    })
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

const says =
  (text: string): RequestListener =>
  (_request, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ text }))

async function open(base_url: string, stt: object = {}, variables: Record<string, string> = {}) {
  const config = { stt: { openai: { base_url }, ...stt } }
  const stage = await chatStage(config, {}, undefined, variables)
  stage.bot.files.set('v', VOICE)
  return stage
}

const speak = ({ bot }: ChatStage) =>
  bot.say('', { over: { voice: { file_id: 'v', file_unique_id: 'v', duration: 2, mime_type: 'audio/ogg' } } })
const texts = ({ bot }: ChatStage) => bot.messages(7).map(({ text }) => text)
const answered = (stage: ChatStage, text: string) =>
  stage.bot.waitFor(7, (all) => all.some((message) => message.text.includes(text)))
const request = ({ server }: ChatStage) => JSON.stringify(server.requests.at(-1)!.body.messages)

it('makes words of a voice note, shows them in the chat, and has them count as text from outside', async () => {
  const { heard, url } = await service(says(' Turn the lights on. '))
  const stt = { language: 'en', prompt: 'Ada' }
  const stage = await open(url, stt, { VOICE_TOOLS_OPENAI_KEY: KEY })
  await writeFile(join(stage.work, 'note.txt'), 'a note')
  stage.server.enqueue({ text: `They are on.\nMEDIA:${join(stage.work, 'note.txt')}` })
  await stage.start()
  speak(stage)
  await answered(stage, 'They are on.')
  expect(heard).toEqual([
    {
      path: '/v1/audio/transcriptions',
      authorization: `Bearer ${KEY}`,
      fields: { model: 'whisper-1', response_format: 'json', language: 'en', prompt: 'Ada' },
      file: { name: 'voice.ogg', text: VOICE.toString() },
    },
  ])
  expect(request(stage)).toMatch(/\[Attached audio: [^\]]*cache\/media.*Spoken in it:\]\\nTurn the lights on\."/)
  expect(texts(stage)[0]).toBe('🎙 Turn the lights on.')
  // A file of the workspace would go by itself else.
  await answered(stage, 'because of a voice note of Ada')
})

it.each([
  ['the service fails', (_request, response) => response.writeHead(503).end('no'), /OpenAI answered 503\.\]/],
  ['the key is refused', (_request, response) => response.writeHead(401).end(), /look at VOICE_TOOLS_OPENAI_KEY or/],
  ['the answer has no words', (_request, response) => response.end('<html>'), /OpenAI answered without words\.\]/],
  ['nothing was spoken', says('  '), /Nothing was spoken in it\.\]/],
] satisfies [string, RequestListener, RegExp][])('keeps the file and says so where %s', async (_why, answer, line) => {
  const { url } = await service(answer)
  const stage = await open(url, { provider: 'openai' })
  stage.server.enqueue({ text: 'I cannot hear.' })
  await stage.start()
  speak(stage)
  await answered(stage, 'I cannot hear.')
  expect(request(stage)).toMatch(/\[Attached audio: /)
  expect(request(stage)).toMatch(line)
  expect(texts(stage)).toEqual(['I cannot hear.'])
})

it('sends nothing to a service where a rule forbids it, where none is chosen, or where it is switched off', async () => {
  const { heard, url } = await service(says('never'))
  const cases = [
    { stt: { provider: 'openai' }, isDenied: true },
    { stt: {}, isDenied: false },
    { stt: { provider: 'openai', enabled: false }, isDenied: false },
  ]
  for (const { stt, isDenied } of cases) {
    const stage = await open(url, stt, { OPENAI_API_KEY: KEY })
    if (isDenied) await writeFile(join(stage.home, 'permissions.yaml'), `'fetch(${url}/*)': deny\n`, { mode: 0o600 })
    stage.server.enqueue({ text: 'A file.' })
    await stage.start()
    speak(stage)
    await answered(stage, 'A file.')
    expect(request(stage).includes('It could not be made into words')).toBe(isDenied)
  }
  expect(heard).toEqual([])
})
