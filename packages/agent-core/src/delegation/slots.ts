/** So many at a time, the others in the order they came. */
export class Slots {
  #taken = 0
  readonly #waiting: { readonly limit: number; readonly start: () => void }[] = []

  async take(limit: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#taken >= limit || this.#waiting.length > 0) await this.#turn(limit, signal)
    else this.#taken++
    let isTaken = false
    return () => {
      if (isTaken) return
      isTaken = true
      this.#taken--
      const next = this.#waiting[0]
      if (!next || this.#taken >= next.limit) return
      this.#waiting.shift()
      next.start()
    }
  }

  #turn(limit: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const one = {
        limit,
        start: () => {
          signal.removeEventListener('abort', leave)
          this.#taken++
          resolve()
        },
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(one), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(one)
    })
  }
}
