import { ApiError } from './api-error.js'

const MAX_WAITING = 8

interface Lane {
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
export class Lanes {
  readonly #lanes = new Map<string, Lane>()

  /** Whether a request holds the session that will not end by itself soon. */
  isBusy(sessionId: string): boolean {
    const lane = this.#lanes.get(sessionId)
    return lane !== undefined && !lane.isEnding
  }

  /** Whether anybody is in the session or waits for it. */
  isTaken(sessionId: string): boolean {
    return this.#lanes.has(sessionId)
  }

  /**
   * Waits for its turn. Abort of `signal` gives the place up and rejects.
   * @throws ApiError 429 when too many wait already
   */
  async enter(sessionId: string, signal: AbortSignal): Promise<Turn> {
    const lane = this.#lanes.get(sessionId) ?? { tail: Promise.resolve(), length: 0, isEnding: false }
    if (lane.length > MAX_WAITING) {
      const message = `Session ${sessionId} is busy and ${MAX_WAITING} requests wait for it already; try again later.`
      throw new ApiError(message, { status: 429, code: 'session_busy', headers: { 'retry-after': '5' } })
    }
    this.#lanes.set(sessionId, lane)
    lane.length++
    const before = lane.tail
    const { promise, resolve } = Promise.withResolvers<void>()
    lane.tail = before.then(() => promise)
    const leave = () => {
      if (--lane.length === 0) this.#lanes.delete(sessionId)
      resolve()
    }
    try {
      await unlessAborted(before, signal)
    } catch (error) {
      leave()
      throw error
    }
    lane.isEnding = false
    return { ending: () => void (lane.isEnding = true), leave }
  }
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
