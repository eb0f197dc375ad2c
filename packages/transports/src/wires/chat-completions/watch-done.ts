import { drain } from '../drain.js'

const SENTINEL = '[DONE]'
const KEPT_BYTES = 32

/** A body on its way to the SDK. */
export interface WatchedBody {
  readonly body: AsyncIterableIterator<Uint8Array>
  /** Whether the sentinel went by. */
  readonly done: () => boolean
}

/**
 * Watches a body for the sentinel that ends a complete stream; the SDK takes it out without a word and then leaves. What follows
 * the sentinel is read off for a second at most, so that the connection can serve the next request.
 */
export function watchDone(source: ReadableStream<Uint8Array> | null): WatchedBody {
  const reader = source?.getReader()
  let tail: Uint8Array = new Uint8Array()
  const done = () => new TextDecoder().decode(tail).includes(SENTINEL)
  const end = { done: true, value: undefined } as const
  const body: AsyncIterableIterator<Uint8Array> = {
    next: async () => {
      const piece = await reader?.read()
      if (!piece || piece.done) return end
      tail = piece.value.length >= KEPT_BYTES ? piece.value.subarray(-KEPT_BYTES) : join(tail, piece.value)
      return piece
    },
    return: async () => {
      if (reader && done()) drain(reader)
      else await reader?.cancel()
      return end
    },
    [Symbol.asyncIterator]: () => body,
  }
  return { body, done }
}

function join(tail: Uint8Array, chunk: Uint8Array): Uint8Array {
  const joined = new Uint8Array(tail.length + chunk.length)
  joined.set(tail)
  joined.set(chunk, tail.length)
  return joined.slice(-KEPT_BYTES)
}
