/** How many model calls a run may make. */
export class TurnBudget {
  readonly limit: number
  #used = 0

  constructor(limit: number) {
    this.limit = limit
  }

  get used(): number {
    return this.#used
  }

  /** Takes one; `false` when none is left. */
  consume(): boolean {
    if (this.#used >= this.limit) return false
    this.#used++
    return true
  }

  /** Gives one back, for a call that did no work of its own. */
  refund(): void {
    this.#used = Math.max(0, this.#used - 1)
  }
}
