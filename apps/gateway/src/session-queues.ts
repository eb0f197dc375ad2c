import { ApiError } from './api-error.js'

const MAX_WAITING = 8

interface SessionQueue {
  tail: Promise<void>
  length: number
  /** Who has the lane is about to leave it. */
  isEnding: boolean
}

/** The right to run in a session. */
export interface Turn {
  /** Says that it will end soon: whoever comes may wait. */
  ending(): void
  leave(): void
}

/** One request at a time in a session, in the order they came. */
export class SessionQueues {
  readonly #sessionQueues = new Map<string, SessionQueue>()

  /** Whether a request holds the session that will not end by itself soon. */
  isBusy(sessionId: string): boolean {
    const sessionQueue = this.#sessionQueues.get(sessionId)
    return sessionQueue !== undefined && !sessionQueue.isEnding
  }

  /** Whether anybody is in the session or waits for it. */
  isTaken(sessionId: string): boolean {
    return this.#sessionQueues.has(sessionId)
  }

  /**
   * Waits for its turn. Abort of `signal` gives the place up and rejects.
   * @throws ApiError 429 when too many wait already
   */
  async enter(sessionId: string, signal: AbortSignal): Promise<Turn> {
    const sessionQueue = this.#sessionQueues.get(sessionId) ?? { tail: Promise.resolve(), length: 0, isEnding: false }
    if (sessionQueue.length > MAX_WAITING) {
      const message = `Session ${sessionId} is busy and ${MAX_WAITING} requests wait for it already; try again later.`
      throw new ApiError(message, { status: 429, code: 'session_busy', headers: { 'retry-after': '5' } })
    }
    this.#sessionQueues.set(sessionId, sessionQueue)
    sessionQueue.length++
    const before = sessionQueue.tail
    const { promise, resolve } = Promise.withResolvers<void>()
    sessionQueue.tail = before.then(() => promise)
    const leave = () => {
      if (--sessionQueue.length === 0) this.#sessionQueues.delete(sessionId)
      resolve()
    }
    try {
      await unlessAborted(before, signal)
    } catch (error) {
      leave()
      throw error
    }
    sessionQueue.isEnding = false
    return { ending: () => void (sessionQueue.isEnding = true), leave }
  }
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
