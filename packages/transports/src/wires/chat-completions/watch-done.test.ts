import { describe, expect, it } from 'vitest'
import { watchDone } from './watch-done.js'

/** A body whose pieces come when the test says so, and which tells whether its reader gave up on it. */
function scripted() {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const state = { canceled: false }
  const body = new ReadableStream<Uint8Array>({
    start: (started) => {
      controller = started
    },
    cancel: () => {
      state.canceled = true
    },
  })
  return { body, state, send: (text: string) => controller.enqueue(new TextEncoder().encode(text)) }
}

describe('watchDone', () => {
  it('sees the sentinel wherever the body is split', async () => {
    const text = 'data: {"choices":[]}\n\ndata: [DONE]\n\n'
    for (let at = 0; at <= text.length; at++) {
      const source = scripted()
      const watched = watchDone(source.body)
      expect(watched.done()).toBe(false)
      for (const piece of [text.slice(0, at), text.slice(at)]) {
        if (piece === '') continue
        source.send(piece)
        await watched.body.next()
      }
      expect(watched.done()).toBe(true)
    }
  })

  it('leaves the body open for its end when the reader leaves after the sentinel, and closes it when before', async () => {
    for (const [text, canceled] of [
      ['data: [DONE]\n\n', false],
      ['data: {}\n\n', true],
    ] as const) {
      const source = scripted()
      const { body } = watchDone(source.body)
      source.send(text)
      await body.next()
      await body.return?.()
      expect(source.state.canceled).toBe(canceled)
    }
  })
})
