import type { Clock } from '@hermes/contracts'

/** Something that is costly to look at, for many who look again and again at the same time: one look is for all of them. */
export class SharedLook<Seen> {
  readonly #look: () => Seen
  readonly #clock: Clock
  #waiting: ((seen: Seen) => void)[] = []
  #ofThisTurn: { readonly seen: Seen } | null = null

  constructor(look: () => Seen, clock: Clock) {
    this.#look = look
    this.#clock = clock
  }

  /** What is seen now: what somebody saw in this turn of the event loop, if it is `enough`. */
  now(enough: (seen: Seen) => boolean): Seen {
    const known = this.#ofThisTurn
    return known && enough(known.seen) ? known.seen : this.#lookForAll()
  }

  /** Resolves with what is seen after `pauseMs` milliseconds, or as soon as somebody else looks. Rejects as its own look throws. */
  next(pauseMs: number): Promise<Seen> {
    const { promise, resolve, reject } = Promise.withResolvers<Seen>()
    const over = new AbortController()
    let isSeen = false
    const take = (seen: Seen) => {
      isSeen = true
      over.abort()
      resolve(seen)
    }
    this.#waiting.push(take)
    this.#clock.sleep(pauseMs, over.signal).then(
      () => {
        if (isSeen) return
        try {
          this.#lookForAll()
        } catch (error) {
          this.#waiting = this.#waiting.filter((one) => one !== take)
          reject(error)
        }
      },
      () => undefined,
    )
    return promise
  }

  #lookForAll(): Seen {
    const seen = this.#look()
    const waiting = this.#waiting
    this.#waiting = []
    for (const take of waiting) take(seen)
    if (this.#ofThisTurn === null) setImmediate(() => (this.#ofThisTurn = null))
    this.#ofThisTurn = { seen }
    return seen
  }
}
