const EVERY_MS = 15_000
const STRIKES = 3
const LIFETIME = 8
const BURST = 15
const BURST_MS = 10_000
const COOLDOWN_MS = 30_000

/** Whether a match is told, kept quiet, or the last straw. */
type Verdict = 'tell' | 'quiet' | 'stop'

/** How often one process may tell of matches: once in 15 seconds, eight times in all; three crowded windows in a row end it. */
export class WatchLimits {
  readonly #shared: BurstLimit
  #notifiedAtMs = Number.NEGATIVE_INFINITY
  #notified = 0
  #strikes = 0
  #isCrowded = false

  constructor(shared: BurstLimit) {
    this.#shared = shared
  }

  judge(nowMs: number): Verdict {
    if (nowMs - this.#notifiedAtMs < EVERY_MS) {
      if (!this.#isCrowded) this.#strikes++
      this.#isCrowded = true
      return this.#strikes >= STRIKES ? 'stop' : 'quiet'
    }
    if (this.#notified >= LIFETIME) return 'stop'
    if (!this.#shared.take(nowMs)) return 'quiet'
    if (!this.#isCrowded) this.#strikes = 0
    this.#isCrowded = false
    this.#notifiedAtMs = nowMs
    this.#notified++
    return 'tell'
  }
}

/** What all processes of a session share: 15 in ten seconds, then half a minute of silence. */
export class BurstLimit {
  #times: number[] = []
  #quietUntilMs = Number.NEGATIVE_INFINITY

  take(nowMs: number): boolean {
    if (nowMs < this.#quietUntilMs) return false
    this.#times = this.#times.filter((time) => nowMs - time < BURST_MS)
    if (this.#times.length >= BURST) {
      this.#quietUntilMs = nowMs + COOLDOWN_MS
      return false
    }
    this.#times.push(nowMs)
    return true
  }
}
