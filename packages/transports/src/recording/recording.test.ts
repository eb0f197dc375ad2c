import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Message } from '@hermes/contracts/conversation'
import type { ModelFinish } from '@hermes/contracts/model'
import {
  encodeEventMessage,
  type ModelServer,
  startModelServer,
  type TemporaryHome,
  temporaryHome,
} from '@hermes/testkit'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createRecorder,
  createTransport,
  defaultPlaceholders,
  type Placeholder,
  serveRecording,
  type TransportOptions,
} from '../index.js'
import { readBinaryEvents, writeBinaryEvent } from './binary-events.js'
import { compareBodies } from './compare-bodies.js'
import { mergeEvents } from './merge-events.js'
import { departure, normalise } from './placeholders.js'

let home: TemporaryHome
let server: ModelServer
let file: string

beforeEach(async () => {
  home = await temporaryHome()
  server = await startModelServer()
  file = join(home.path, 'a.jsonl')
})
afterEach(async () => {
  await server.close()
  await home.remove()
})

const here = { cwd: '/work/app', home: '/home/ada', tempDir: '/tmp', host: 'engine', user: 'ada' }
const there = { cwd: '/Users/bob/src/app', home: '/Users/bob', tempDir: '/var/tmp', host: 'mac', user: 'bob' }

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

async function ask(
  baseUrl: string,
  text: string,
  fetch?: typeof globalThis.fetch,
  fields: Partial<TransportOptions> = {},
  model = 'm',
): Promise<ModelFinish> {
  const transport = createTransport({ provider: 'custom', baseUrl, ...(fetch ? { fetch } : {}), ...fields })
  let last: unknown
  const request = { model, messages: [user(text)], tools: [] }
  for await (const event of transport.stream(request, { credential: 'very-secret-key' })) last = event
  return last as ModelFinish
}

async function record(texts: readonly string[], placeholders: readonly Placeholder[] = defaultPlaceholders(here)) {
  const recorder = createRecorder({ file, placeholders })
  for (const text of texts) await ask(server.baseUrl, text, recorder.fetch)
  await recorder.close()
}

describe('record and replay', () => {
  it('gives the same answers again on another machine, with its own paths', async () => {
    const path = `${here.cwd}/src/a.ts`
    server.enqueue(
      { text: `Reading ${path} first.`, toolCalls: [{ name: 'read', args: { path } }], chunkSize: 3 },
      { text: 'Done.' },
    )
    const line = ({ cwd, home: dir, host, user: name }: typeof here, took: string, day: string) =>
      `cwd ${cwd}, home ${dir}, ${name}@${host}, took ${took}, ${day}, http://127.0.0.1:${took.length + 4000}/x`
    await record([line(here, '12 ms', '2026-01-01 10:00:00'), 'thanks'])
    const replay = await serveRecording({ file, placeholders: defaultPlaceholders(there) })
    const first = await ask(replay.baseUrl, line(there, '1.25s', '2027-12-31T23:59:59Z'))
    expect(first.message.content).toMatchObject([
      { type: 'text', text: `Reading ${there.cwd}/src/a.ts first.` },
      { type: 'tool-call', name: 'read', args: { path: `${there.cwd}/src/a.ts` } },
    ])
    expect(replay.done()).toBe(false)
    expect((await ask(replay.baseUrl, 'thanks')).message.content).toEqual([{ type: 'text', text: 'Done.' }])
    expect([replay.done(), replay.problem()]).toEqual([true, null])
    await replay.close()
  })

  it('keeps nothing that is private and reads well in a diff', async () => {
    server.enqueue({ text: `See ${here.home}/notes.`, chunkSize: 2, usage: { inputTokens: 1, outputTokens: 1 } })
    await record([`I am ${here.user} in ${here.cwd}`])
    const text = await readFile(file, 'utf8')
    for (const secret of ['very-secret-key', 'authorization', here.cwd, here.home, ' ada ', '127.0.0.1'])
      expect(text).not.toContain(secret)
    const [header, exchange, ...rest] = text.split('\n')
    expect(JSON.parse(header ?? '')).toEqual({ format: 'hermes-recording', version: 1 })
    expect(JSON.parse(exchange ?? '')).toMatchObject({
      request: {
        method: 'POST',
        path: '/v1/chat/completions',
        body: { messages: [{ content: 'I am {{user}} in {{cwd}}' }] },
      },
      response: { status: 200, headers: { 'content-type': 'text/event-stream' } },
    })
    expect(JSON.parse(exchange ?? '').response.chunks).toHaveLength(4)
    expect(text).toContain('See {{home}}/notes.')
    expect(rest).toEqual([''])
  })

  it('replays Anthropic messages too, thoughts and their signatures included, and keeps no key', async () => {
    const path = `${here.cwd}/src/a.ts`
    server.enqueue({
      reasoning: `It is in ${path}.`,
      toolCalls: [{ id: 'a', name: 'read', args: { path } }],
      chunkSize: 3,
    })
    const recorder = createRecorder({ file, placeholders: defaultPlaceholders(here) })
    const fields = { provider: 'anthropic', api: 'anthropic-messages' } as const
    await ask(server.anthropicBaseUrl, 'go', recorder.fetch, fields)
    await recorder.close()
    const text = await readFile(file, 'utf8')
    for (const secret of ['very-secret-key', 'x-api-key', here.cwd]) expect(text).not.toContain(secret)
    expect(text).toContain('event: content_block_delta\\ndata: ')
    const replay = await serveRecording({ file, placeholders: defaultPlaceholders(there) })
    expect(replay.api).toBe('anthropic-messages')
    const { message } = await ask(replay.baseUrl, 'go', undefined, fields)
    expect(message.content).toMatchObject([
      {
        type: 'reasoning',
        text: `It is in ${there.cwd}/src/a.ts.`,
        replay: { data: { signature: expect.any(String) } },
      },
      { type: 'tool-call', args: { path: `${there.cwd}/src/a.ts` } },
    ])
    await replay.close()
  })

  it('replays Responses too, thoughts still sealed, with deltas put together', async () => {
    const path = `${here.cwd}/src/a.ts`
    server.enqueue({
      reasoning: `It is in ${path}.`,
      text: `I read ${path}.`,
      toolCalls: [{ id: 'a', name: 'read', args: { path } }],
      chunkSize: 3,
    })
    const recorder = createRecorder({ file, placeholders: defaultPlaceholders(here) })
    const fields = { provider: 'openai', api: 'responses' } as const
    const made = await ask(server.baseUrl, 'go', recorder.fetch, fields, 'gpt-5')
    await recorder.close()
    const text = await readFile(file, 'utf8')
    for (const secret of ['very-secret-key', here.cwd]) expect(text).not.toContain(secret)
    for (const kind of ['output_text', 'reasoning_summary_text', 'function_call_arguments'])
      expect(text.split(`event: response.${kind}.delta`)).toHaveLength(2)
    const replay = await serveRecording({ file, placeholders: defaultPlaceholders(there) })
    expect(replay).toMatchObject({ api: 'responses', baseUrl: expect.stringMatching(/:\d+\/v1$/) })
    const { message } = await ask(replay.baseUrl, 'go', undefined, fields, 'gpt-5')
    const elsewhere = JSON.stringify(made.message.content).replaceAll(here.cwd, there.cwd)
    expect(message.content).toEqual(JSON.parse(elsewhere.replaceAll(server.baseUrl, replay.baseUrl)))
    await replay.close()
  })

  it('replays the binary stream of Bedrock too, readable in the recording, with deltas put together', async () => {
    const path = `${here.cwd}/a.ts`
    const turn = { reasoning: `See ${path} é😀.`, redacted: 'c2VjcmV0', text: `Reading ${path}.`, chunkSize: 3 }
    server.enqueue({ ...turn, toolCalls: [{ name: 'read', args: { path } }] })
    const recorder = createRecorder({ file, placeholders: defaultPlaceholders(here) })
    const fields = { provider: 'bedrock' } as const
    const model = 'us.anthropic.claude-opus-5-5-v1:0'
    const made = await ask(server.anthropicBaseUrl, 'go', recorder.fetch, fields, model)
    await recorder.close()
    const text = await readFile(file, 'utf8')
    for (const secret of ['very-secret-key', here.cwd]) expect(text).not.toContain(secret)
    // The thought, its signature, the sealed one, the text and the arguments.
    expect(text.split('event: contentBlockDelta')).toHaveLength(1 + 5)
    const replay = await serveRecording({ file, placeholders: defaultPlaceholders(there) })
    expect(replay).toMatchObject({ api: 'bedrock-converse', model, baseUrl: expect.stringMatching(/:\d+$/) })
    const { message } = await ask(replay.baseUrl, 'go', undefined, fields, model)
    const elsewhere = JSON.stringify(made.message.content).replaceAll(here.cwd, there.cwd)
    expect(message.content).toEqual(JSON.parse(elsewhere.replaceAll(server.anthropicBaseUrl, replay.baseUrl)))
    await expect(ask(replay.baseUrl, 'more', undefined, fields, model)).rejects.toMatchObject({
      code: 'transport.replay_mismatch',
    })
    await replay.close()
  })

  it('stops at the first difference, says where and what, and is not tried again', async () => {
    server.enqueue({ text: 'ok' }, { text: 'ok' })
    await record(['one', 'two'])
    const replay = await serveRecording({ file })
    await ask(replay.baseUrl, 'one')
    const message = 'replay: request 2 differs at messages[0].content: expected "two", got "three"'
    for (const text of ['three', 'two'])
      await expect(ask(replay.baseUrl, text)).rejects.toMatchObject({
        code: 'transport.replay_mismatch',
        retryable: false,
        message,
      })
    expect([replay.problem(), replay.done()]).toEqual([message, false])
    await replay.close()
  })

  it('refuses a request beyond the recording', async () => {
    server.enqueue({ text: 'ok' })
    await record(['one'])
    const replay = await serveRecording({ file })
    await ask(replay.baseUrl, 'one')
    await expect(ask(replay.baseUrl, 'one')).rejects.toThrow(
      'replay: request 2 is one more than the 1 of the recording',
    )
    await replay.close()
  })

  it('records failures with their status and leaves out what broke off', async () => {
    server.enqueue({ fault: 'cut', text: 'x' }, { fault: 'status', status: 429, retryAfterSeconds: 2 })
    const recorder = createRecorder({ file })
    for (const code of ['transport.connection', 'transport.rate_limit'])
      await expect(ask(server.baseUrl, 'hi', recorder.fetch)).rejects.toMatchObject({ code })
    await recorder.close()
    const replay = await serveRecording({ file })
    await expect(ask(replay.baseUrl, 'hi')).rejects.toMatchObject({
      code: 'transport.rate_limit',
      details: { retryAfterMs: 2_000 },
    })
    await replay.close()
  })

  it('says when a recording cannot be written', async () => {
    server.enqueue({ text: 'ok' })
    const recorder = createRecorder({ file: join(home.path, 'missing', 'a.jsonl') })
    expect((await ask(server.baseUrl, 'hi', recorder.fetch)).message.finishReason).toBe('stop')
    await expect(recorder.close()).rejects.toMatchObject({ code: 'transport.recording_failed' })
  })

  it.each([
    ['{"format":"other"}', 'line 1 does not say'],
    ['{"format":"hermes-recording","version":9}', 'line 1 has version 9'],
    ['{"format":"hermes-recording","version":1}\n{', 'line 2 is not JSON'],
    ['{"format":"hermes-recording","version":1}\n{"request":{}}', 'line 2 is not an exchange'],
  ])('names the line of a broken recording: %s', async (text, problem) => {
    await writeFile(file, text)
    await expect(serveRecording({ file })).rejects.toMatchObject({
      code: 'transport.bad_recording',
      message: expect.stringContaining(`${file}: ${problem}`),
    })
  })
})

describe('placeholders', () => {
  it('match what they replaced, whatever stands around it', () => {
    const words = fc.constantFrom(...Object.values(here), '', '/', '12 ms', '2026-01-01', 'root', '10:00:00', 'x')
    fc.assert(
      fc.property(fc.array(words, { maxLength: 8 }), (pieces) => {
        const text = pieces.join(' ')
        const placeholders = defaultPlaceholders(here)
        expect(departure(normalise(text, placeholders), text, placeholders)).toBeNull()
      }),
    )
  })

  it.each([
    ['-rw-r--r-- 1 root 5 Nov 21 13:47 a.txt', '-rw-r--r-- 1 root 5 Dec  3  2024 a.txt'],
    ['Sat Nov 21 11:55:51 UTC 2026', 'Wed Jan  6 01:02:03 PM CET 2027'],
    ['Date:   Sat Nov 21 11:55:51 2026 +0000', 'Date:   Mon Mar 1 9:05:00 2027 -0700'],
    ['Date: Sat, 21 Nov 2026 11:55:51 GMT', 'Date: Tue, 1 Dec 2026 00:00:00 +0100'],
    ['up since 11:55, took 3 min', 'up since 09:10, took 1.5 h'],
  ])('stand for another time than in %j', (recorded, now) => {
    const placeholders = defaultPlaceholders(here)
    expect(departure(normalise(recorded, placeholders), now, placeholders)).toBeNull()
    expect(departure(normalise(recorded, placeholders), `${now}!`, placeholders)).not.toBeNull()
  })

  it('do not take a path for part of a longer name, nor a word for part of another', () => {
    const text = '/home/adam /home/ada-x /home/ada/x adaptor ada'
    expect(normalise(text, defaultPlaceholders(here))).toBe('/home/adam /home/ada-x {{home}}/x adaptor {{user}}')
  })

  it('accept another word where the name of the person who recorded happened to stand', () => {
    const recorded = normalise('engine of the car', defaultPlaceholders(here))
    expect(recorded).toBe('{{host}} of the car')
    expect(departure(recorded, 'engine of the car', defaultPlaceholders(there))).toBeNull()
    expect(departure(recorded, 'engine of a car', defaultPlaceholders(there))).toEqual({
      templateAt: '{{host}} of '.length,
      textAt: 'engine of '.length,
    })
  })
})

describe('mergeEvents', () => {
  it('puts deltas together that continue each other and keeps the rest in order', () => {
    const event = (delta: object, rest = {}) => `data: ${JSON.stringify({ choices: [{ delta }], ...rest })}\n\n`
    const call = (index: number, args: string, start = {}) => ({
      tool_calls: [{ index, function: { arguments: args, ...start } }],
    })
    const start = { name: 't' }
    const body = [
      event({ role: 'assistant', content: '' }),
      ': ping\n\n',
      event({ content: 'a' }),
      event({ content: 'b' }),
      event(call(0, '', start)),
      event(call(0, '{"x"')),
      event(call(0, ':1}')),
      event(call(1, '{}', start)),
      'data: [DONE]\n\n',
    ].join('')
    expect(mergeEvents(body)).toEqual([
      event({ role: 'assistant', content: 'ab' }),
      event(call(0, '{"x":1}', start)),
      event(call(1, '{}', start)),
      'data: [DONE]\n\n',
    ])
  })
})

describe('the binary event stream', () => {
  const frame = (kind: string, name: string, data: object) => {
    const headers = { [`:${kind}-type`]: name, ':content-type': 'application/json', ':message-type': kind }
    return encodeEventMessage(headers, JSON.stringify(data))
  }

  it('becomes text and the same bytes again, padding aside', () => {
    const data = { contentBlockIndex: 0, delta: { text: 'é😀\n\n' } }
    const bytes = Buffer.concat([
      frame('event', 'contentBlockDelta', { ...data, p: 'abc' }),
      frame('exception', 'throttlingException', { message: 'Slow down' }),
    ])
    const text = readBinaryEvents(bytes)
    expect(text).toBe(
      `event: contentBlockDelta\ndata: ${JSON.stringify(data)}\n\nevent: exception throttlingException\ndata: {"message":"Slow down"}\n\n`,
    )
    expect(mergeEvents(text).map((event) => writeBinaryEvent(event))).toEqual([
      frame('event', 'contentBlockDelta', data),
      frame('exception', 'throttlingException', { message: 'Slow down' }),
    ])
  })

  it('is not read where it was cut', () => {
    const bytes = frame('event', 'messageStop', { stopReason: 'end_turn' })
    for (let end = 1; end < bytes.length; end++)
      expect(() => readBinaryEvents(bytes.subarray(0, end)), `${end} bytes`).toThrow(RangeError)
  })
})

describe('compareBodies', () => {
  it('names the place of the first difference in any kind of value', () => {
    const recorded = { model: 'm', messages: [{ role: 'user', content: `${'a'.repeat(40)} in {{cwd}} now` }], n: 1 }
    const got = (change: object) => ({ ...recorded, messages: [{ role: 'user', content: 'x' }], ...change })
    const lines = [
      got({}),
      got({ messages: [{ role: 'user', content: `${'a'.repeat(40)} in ${there.cwd} then` }] }),
      got({ messages: [] }),
      got({ messages: recorded.messages, n: 2 }),
      got({ messages: recorded.messages, extra: true }),
    ].map((body) => compareBodies(recorded, body, defaultPlaceholders(there)))
    expect(lines).toEqual([
      `messages[0].content: expected "${'a'.repeat(40)} in {{cwd}} now", got "x"`,
      'messages[0].content: expected …"aaaaaaaa in {{cwd}} now", got …" /Users/bob/src/app then"',
      expect.stringMatching(/^messages\[0\]: expected \{"role":"user".*…, got nothing$/),
      'n: expected 1, got 2',
      'extra: expected nothing, got true',
    ])
  })
})
