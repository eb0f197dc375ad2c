// How much is done at once: requests beyond that wait, in the order they came, and are refused only when too many do.
import { ApiError } from './api-error.js'

/** Options of {@link Slots}. */
interface SlotsOptions {
  /** Requests under way at once. */
  readonly size: number
  /** Requests that may wait. */
  readonly maxWaiting: number
  /** How long one waits at most. */
  readonly waitMs: number
}

/** Requests under way, and those that wait for a place. */
export interface Load {
  readonly underWay: number
  readonly waiting: number
}

/** Places for requests. */
export class Slots {
  readonly #options: SlotsOptions
  readonly #waiting: (() => void)[] = []
  #taken = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  get load(): Load {
    return { underWay: this.#taken, waiting: this.#waiting.length }
  }

  /**
   * Waits for a place; gives how to leave it, once. Abort of `signal` rejects.
   * @throws ApiError `overloaded`
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    const { size, maxWaiting, waitMs } = this.#options
    if (this.#taken < size) this.#taken++
    else if (this.#waiting.length >= maxWaiting) throw overloaded(this.#taken, this.#waiting.length)
    else await this.#wait(signal, waitMs)
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      const next = this.#waiting.shift()
      // The place goes to who waits longest, so that nobody comes in between.
      if (next) next()
      else this.#taken--
    }
  }

  #wait(signal: AbortSignal, waitMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(go), 1)
      signal.removeEventListener('abort', gone)
      clearTimeout(timer)
    }
    const gone = () => {
      leave()
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      leave()
      reject(overloaded(this.#taken, this.#waiting.length))
    }, waitMs)
    const go = () => {
      signal.removeEventListener('abort', gone)
      clearTimeout(timer)
      resolve()
    }
    this.#waiting.push(go)
    signal.addEventListener('abort', gone, { once: true })
    if (signal.aborted) gone()
    return promise
  }
}

function overloaded(taken: number, waiting: number): ApiError {
  const message = `The server is busy with ${taken} requests, and ${waiting} wait; try again later.`
  return new ApiError(message, { status: 503, code: 'overloaded', headers: { 'retry-after': '2' } })
}
