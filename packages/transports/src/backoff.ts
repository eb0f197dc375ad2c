/** Shape of the waits between attempts. */
export interface BackoffOptions {
  /** The first wait. Default 5,000. */
  readonly baseMs?: number
  /** Upper bound before jitter. Default 120,000. */
  readonly maxMs?: number
  /** Up to this share of the wait is added at random. Default 0.5. */
  readonly jitterRatio?: number
  /** 0 to below 1. Default `Math.random`. */
  readonly random?: () => number
}

/** How long to wait, in milliseconds, after failed attempt number `attempt` (from 1): doubling, bounded, with jitter on top. */
export function jitteredBackoff(attempt: number, options: BackoffOptions = {}): number {
  const { baseMs = 5_000, maxMs = 120_000, jitterRatio = 0.5, random = Math.random } = options
  const delayMs = Math.min(baseMs * 2 ** Math.max(0, attempt - 1), maxMs)
  return Math.round(delayMs * (1 + jitterRatio * random()))
}
