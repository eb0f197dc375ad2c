import type { AgentEvent, AgentEventBody, Run } from '@hermes/agent-core'
import { noUsage } from '@hermes/contracts/conversation'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ChunkWriter, toEnding } from './completion.js'
import { PieceSource } from './piece-source.js'
import { ReplyReader } from './reply.js'
import { streamReply } from './stream-reply.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const delta = (text: string): AgentEventBody => ({ type: 'message-delta', messageId: '1', text })
const end: AgentEventBody = { type: 'run-end', result: { status: 'completed', text: 'x', usage: noUsage } }

/** A run whose events come when the test says so. */
function scriptedRun() {
  let controller!: ReadableStreamDefaultController<AgentEvent>
  const events = new ReadableStream<AgentEvent>({ start: (own) => void (controller = own) })
  const run = { [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() } as unknown as Run
  const say = (body: AgentEventBody) =>
    controller.enqueue({ runId: 'r', sessionId: 's', agentPath: ['root'], atMs: 0, ...body } as AgentEvent)
  return { run, say }
}

function reply(run: Run) {
  const reader = new ReplyReader()
  return streamReply({
    source: new PieceSource(run, reader, () => undefined),
    writer: new ChunkWriter({ id: 'c', created: 0, model: 'm' }, { includeUsage: false }),
    toEnding: ({ result }) => toEnding({ sessionId: 's', result, reader }),
  })
}

function read(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader()
  return {
    next: async () => new TextDecoder().decode((await reader.read()).value),
    rest: async () => {
      let text = ''
      for (let part = await reader.read(); !part.done; part = await reader.read())
        text += new TextDecoder().decode(part.value)
      return text
    },
  }
}

it('begins after a while without anything to say, and keeps the connection alive in between', async () => {
  const { run, say } = scriptedRun()
  const started = reply(run)
  await vi.advanceTimersByTimeAsync(15_000)
  const { next, rest } = read(await started)
  expect(await next()).toMatch(/^data: .*"role":"assistant".*\n\n: keepalive\n\n$/)
  const later = next()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await later).toBe(': keepalive\n\n')
  const spoken = next()
  say(delta('Hello.'))
  expect(await spoken).toContain('"content":"Hello."')
  say(end)
  expect(await rest()).toMatch(/"finish_reason":"stop".*\n\ndata: \[DONE\]\n\n$/)
  expect(vi.getTimerCount()).toBe(0)
})

it('says nothing to a reader that does not ask', async () => {
  const { run, say } = scriptedRun()
  say(delta('Hello.'))
  const { rest } = read(await reply(run))
  await vi.advanceTimersByTimeAsync(60_000)
  say(end)
  expect(await rest()).not.toContain('keepalive')
})

it('is an error of its own when the run fails before anything was said', async () => {
  const { run, say } = scriptedRun()
  const error = { code: 'transport.auth', message: 'refused', details: {} }
  say({ type: 'run-end', result: { status: 'failed', text: '', usage: noUsage, error } })
  await expect(reply(run)).rejects.toMatchObject({ status: 502, message: 'refused' })
})
