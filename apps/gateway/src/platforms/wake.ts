/** A bell: who waits is told that something was written. */
export class Wake {
  #waiting: (() => void)[] = []

  readonly ring = (): void => {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Until the next ring, or until the signal fires. */
  readonly wait = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const done = () => {
        signal.removeEventListener('abort', done)
        this.#waiting = this.#waiting.filter((wake) => wake !== done)
        resolve()
      }
      signal.addEventListener('abort', done, { once: true })
      this.#waiting.push(done)
    })
}
