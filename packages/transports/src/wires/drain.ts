const DRAIN_MS = 1_000

/** Where the pieces of a body come from. */
export interface Pieces {
  next(): Promise<IteratorResult<Uint8Array, unknown>>
  /** Closes the connection, also while `next` waits. */
  cancel(): Promise<unknown>
}

/** The pieces of an answer: straight from the connection where the answer can itself be iterated, else by the web stream of its body. */
export function piecesOf(response: Pick<Response, 'body'> & Partial<AsyncIterable<Uint8Array>>): Pieces | null {
  // A web stream makes promises and requests of its own for each piece, and its own iterator waits for one under way before it ends.
  const iterator = response[Symbol.asyncIterator]?.()
  if (iterator) return { next: () => iterator.next(), cancel: async () => iterator.return?.() }
  const reader = response.body?.getReader()
  if (!reader) return null
  return {
    next: () => reader.read() as Promise<IteratorResult<Uint8Array, unknown>>,
    cancel: () => reader.cancel(),
  }
}

/** Reads off the rest of a body that is as good as over, for a second at most, so that its connection can serve the next request. */
export function drain(pieces: Pieces): void {
  const leave = () => {
    pieces.cancel().catch(() => undefined)
  }
  const timer = setTimeout(leave, DRAIN_MS)
  timer.unref()
  const readOff = async () => {
    while (!(await pieces.next()).done);
  }
  readOff()
    .catch(() => undefined)
    .finally(() => clearTimeout(timer))
}
