/** How many model calls a run may make. */
export class StepBudget {
  readonly #limit: number
  #used = 0
  #refunded = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Takes one; `false` when none is left. */
  consume(): boolean {
    if (this.#used >= this.#limit) return false
    this.#used++
    return true
  }

  /** Gives one back, for calls that stand for many; as often as the limit says, so that there is an end to it. */
  refundOnce(): void {
    if (this.#refunded++ < this.#limit) this.refund()
  }

  /** Gives one back, for a call that did no work of its own. */
  refund(): void {
    this.#used = Math.max(0, this.#used - 1)
  }
}
