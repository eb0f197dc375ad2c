import type { ErrorFacts } from './error-facts.js'
import { rateLimits, refusedUntilMs } from './rate-limits.js'

const IN_WORDS =
  /(?:try again|retry|resets?) (?:in|after) (\d+(?:\.\d+)?) ?(ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?)\b/i

/** How long the server asked to wait: a header in milliseconds, seconds or as a date; else what the message says. */
export function retryAfter({ headers, message }: ErrorFacts, nowMs: number): number | null {
  const exact = Number(headers?.get('retry-after-ms') ?? Number.NaN)
  if (exact >= 0) return exact
  const header = headers?.get('retry-after')?.trim()
  if (header) {
    if (/^\d+(?:\.\d+)?$/.test(header)) return Number(header) * 1_000
    const atMs = Date.parse(header)
    if (!Number.isNaN(atMs)) return Math.max(0, atMs - nowMs)
  }
  const words = IN_WORDS.exec(message)
  if (!words) return resetOf(headers, nowMs)
  const unit = words[2]!.toLowerCase()
  const scale = unit.startsWith('ms') || unit.startsWith('milli') ? 1 : unit.startsWith('m') ? 60_000 : 1_000
  return Number(words[1]) * scale
}

/** Headers that tell of limits say when those that are used up begin anew. */
function resetOf(headers: Headers | null, nowMs: number): number | null {
  if (!headers) return null
  const untilMs = refusedUntilMs(rateLimits(Object.fromEntries(headers), nowMs), nowMs)
  return untilMs === null ? null : untilMs - nowMs
}
