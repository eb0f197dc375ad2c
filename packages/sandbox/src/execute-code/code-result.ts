import type { TextSource } from '@hermes/contracts/conversation'
import type { TimeLimit } from './time-limit.js'

/** What came of a program. */
export interface CodeResult {
  readonly status: 'success' | 'error' | 'timeout' | 'interrupted'
  /** Standard output, at most 50,000 bytes, head and tail. */
  readonly output: string
  /** Standard error, at most 10,000 bytes, and why the program ended; empty after a success. */
  readonly errors: string
  /** Where all of a cut output is. */
  readonly fullOutputPath: string | null
  readonly toolCallsMade: number
  readonly durationMs: number
  /** Where text from outside came from that reached the program, and may be in its output; `null` where one source is not known. */
  readonly sources: readonly TextSource[] | null
  /** What whoever wrote the program should know besides. */
  readonly note: string | null
}

/** What came first. */
export type Watched<T> =
  | { readonly type: 'ended'; readonly value: T }
  | { readonly type: 'timeout' }
  | { readonly type: 'interrupted' }

/** Waits for `end`, the time limit or the signal; never rejects unless `end` does. */
export async function watch<T>(
  end: Promise<T>,
  options: { readonly limit: TimeLimit; readonly signal: AbortSignal },
): Promise<Watched<T>> {
  const { signal } = options
  const settled = new AbortController()
  const interrupted = new Promise<Watched<T>>((resolve) => {
    const abort = () => resolve({ type: 'interrupted' })
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true, signal: settled.signal })
  })
  const timeout = options.limit.over.then((): Watched<T> => ({ type: 'timeout' }))
  try {
    return await Promise.race([interrupted, end.then((value): Watched<T> => ({ type: 'ended', value })), timeout])
  } finally {
    options.limit.stop()
    settled.abort()
  }
}
