import { HermesError } from '@hermes/contracts'

const MAX_WAITING = 8

/** The right to run in a session. */
export interface Place {
  /** Says that it will end soon: who comes may wait for it. */
  ending(): void
  leave(): void
}

/** One at a time in a session, in the order they came. */
export class SessionQueue {
  #tail: Promise<void> = Promise.resolve()
  #length = 0
  #isEnding = false

  /** Whether something is in the session that will not end by itself soon. */
  get isBusy(): boolean {
    return this.isTaken && !this.#isEnding
  }

  /** Whether anything is in the session or waits for it. */
  get isTaken(): boolean {
    return this.#length > 0
  }

  /**
   * Waits for its turn. Abort of `signal` gives the place up and rejects.
   * @throws HermesError `host.session_full` when eight wait already.
   */
  async enter(signal?: AbortSignal): Promise<Place> {
    if (this.#length > MAX_WAITING) {
      throw new HermesError(`The session is busy and ${MAX_WAITING} inputs wait for it already; try again later.`, {
        code: 'host.session_full',
        retryable: true,
      })
    }
    this.#length++
    const before = this.#tail
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#tail = before.then(() => promise)
    let hasLeft = false
    const leave = () => {
      if (hasLeft) return
      hasLeft = true
      this.#length--
      resolve()
    }
    try {
      await unlessAborted(before, signal)
    } catch (error) {
      leave()
      throw error
    }
    this.#isEnding = false
    const ending = () => {
      if (!hasLeft) this.#isEnding = true
    }
    return { ending, leave }
  }
}

function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
