import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventBody } from './event-body.js'

const bytes = (text: string) => new TextEncoder().encode(text)

/** A body whose pieces come when the test says so, and which tells whether its reader gave up on it. */
function scripted(isComplete = () => false) {
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>
  const state = { canceled: false }
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (started) => {
      controller = started
    },
    cancel: () => {
      state.canceled = true
    },
  })
  const abort = new AbortController()
  const events = new EventBody<unknown>(new Response(stream), { signal: abort.signal, isComplete })
  return {
    events,
    state,
    abort,
    send: (text: string) => controller.enqueue(bytes(text)),
    end: () => controller.close(),
  }
}

async function read(pieces: readonly Uint8Array<ArrayBuffer>[]) {
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })
  const events = new EventBody<unknown>(new Response(stream), { signal: new AbortController().signal })
  const found: unknown[] = []
  try {
    for await (const batch of events) found.push(...batch)
  } catch (error) {
    found.push((error as { error?: unknown }).error ?? (error as Error).name)
  }
  return { found, isDone: events.isDone }
}

describe('EventBody', () => {
  it('gives the same events, errors and end wherever the body is split', async () => {
    const bodies = [
      'data: {"a":"ä😀"}\n\n: comment\n\ndata: {"b":1}\r\n\r\ndata: [DONE]\n\ndata: {"after":1}\n\n',
      'event: x\ndata: {"a":\ndata: 1}\n\ndata: {"no blank line":2}',
      'data: {"a":1}\n\nevent: error\ndata: {"type":"overloaded_error"}\n\ndata: {"after":1}\n\n',
      'data: {"a":1}\n\ndata: {"error":{"code":429}}\n\n',
      'data: {"a":1}\n\ndata: {"cut": \n\n',
    ]
    const whole = await Promise.all(bodies.map((body) => read([bytes(body)])))
    expect(whole).toEqual([
      { found: [{ a: 'ä😀' }, { b: 1 }], isDone: true },
      { found: [{ a: 1 }, { 'no blank line': 2 }], isDone: false },
      { found: [{ a: 1 }, { type: 'overloaded_error' }], isDone: false },
      { found: [{ a: 1 }, { code: 429 }], isDone: false },
      { found: [{ a: 1 }, 'SyntaxError'], isDone: false },
    ])
    await fc.assert(
      fc.asyncProperty(fc.nat(bodies.length - 1), fc.array(fc.nat(120), { maxLength: 6 }), async (which, cuts) => {
        const all = bytes(bodies[which]!)
        const at = [0, ...cuts.map((cut) => cut % (all.length + 1)).sort((a, b) => a - b), all.length]
        expect(await read(at.slice(1).map((end, index) => all.slice(at[index], end)))).toEqual(whole[which])
      }),
    )
  })

  it('leaves the body open for its end when the reader leaves after the last word, and closes it when before', async () => {
    for (const [text, isComplete, canceled] of [
      ['data: [DONE]\n\n', false, false],
      ['data: {}\n\n', true, false],
      ['data: {}\n\n', false, true],
    ] as const) {
      const { events, send, state } = scripted(() => isComplete)
      send(text)
      await events.next()
      await events.return()
      expect(state.canceled).toBe(canceled)
    }
  })

  it('ends a read that is under way when the call is aborted, though the body does not hear of it', async () => {
    const { events, abort } = scripted()
    const waiting = events.next()
    abort.abort(new DOMException('Stop.', 'AbortError'))
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    await expect(events.next()).rejects.toMatchObject({ name: 'AbortError' })
  })
})
