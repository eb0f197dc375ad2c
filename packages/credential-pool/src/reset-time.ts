const MIN_EPOCH_S = 1_000_000_000
const MIN_EPOCH_MS = 100_000_000_000
/** Of a text; a time further on is not looked for. */
const MAX_CHARS = 4_000
const MAX_AHEAD_MS = 31 * 24 * 3_600_000

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const UNIT = '(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)'
const DURATION = `\\d+(?:\\.\\d+)?\\s*${UNIT}(?:[\\s,]*(?:and\\s+)?\\d+(?:\\.\\d+)?\\s*${UNIT})*`
const WHOLE_DURATION = new RegExp(`^${DURATION}$`, 'i')
const PIECE = new RegExp(`(\\d+(?:\\.\\d+)?)\\s*(${UNIT})(?![a-z])`, 'gi')
const ISO_DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i

const MOMENT = '\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?\\s?(?:Z|[+-]\\d\\d:?\\d\\d|UTC)?'
/** "resets at 1700000000", `"reset_at": "2026-01-01T00:00:00Z"`, `quotaResetTimeStamp`. */
const AT = new RegExp(
  `(?:resets?|retry|try again|available)[a-z_]*["']?\\s*(?:again\\s*)?(?:at|on|until|[:=])\\s*["']?(${MOMENT}|\\d{10,13}(?:\\.\\d+)?)`,
  'i',
)
/** "try again in 6m0s", "resets in 3 hr 20 min", "retry after 30 seconds", `"quotaResetDelay": "54.3s"`. */
const IN = new RegExp(
  `(?:resets?|retry|try again|available|wait)[a-z_]*["']?\\s*(?:again\\s*)?(?:in|after|for|[:=])?\\s*["']?(${DURATION})(?![a-z])`,
  'i',
)
/** `"resets_in_seconds": 120`, `retry_after: 30`. */
const IN_SECONDS = /(?:resets?|retry)_?(?:in|after)(?:_?seconds)?["']?\s*[:=]\s*["']?(\d+(?:\.\d+)?)(?![\d.a-z])/i

/**
 * When a limit ends, in Unix milliseconds: from an epoch time in seconds or milliseconds, a number of seconds from now, an ISO or HTTP
 * date, a duration (`1m30s`, `PT30S`, `3 hr 20 min`), or a sentence or JSON text that holds one. `null` when nothing can be read, when it
 * is over, or when it lies more than 31 days ahead.
 */
export function parseResetTime(value: unknown, nowMs: number): number | null {
  const atMs =
    typeof value === 'number' ? fromNumber(value, nowMs) : typeof value === 'string' ? fromText(value, nowMs) : null
  return atMs !== null && atMs > nowMs && atMs <= nowMs + MAX_AHEAD_MS ? Math.ceil(atMs) : null
}

function fromNumber(value: number, nowMs: number): number | null {
  if (!Number.isFinite(value) || value < 0) return null
  return toEpochMs(value) ?? nowMs + value * 1_000
}

/** An epoch time in seconds or milliseconds, or a date, as Unix milliseconds; `null` for anything else. Past times count too. */
export function toEpochMs(value: unknown): number | null {
  if (typeof value === 'number') return value >= MIN_EPOCH_MS ? value : value >= MIN_EPOCH_S ? value * 1_000 : null
  if (typeof value !== 'string') return null
  const text = value.trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) return toEpochMs(Number(text))
  if (!/\d{4}/.test(text)) return null
  const isWithoutZone = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/.test(text)
  const atMs = Date.parse(isWithoutZone ? `${text.replace(' ', 'T')}Z` : text)
  return Number.isNaN(atMs) ? null : atMs
}

function fromText(value: string, nowMs: number): number | null {
  const text = value.slice(0, MAX_CHARS).trim()
  if (/^\d+(?:\.\d+)?$/.test(text)) return fromNumber(Number(text), nowMs)
  if (WHOLE_DURATION.test(text)) return nowMs + durationMs(text)
  const iso = ISO_DURATION.exec(text)
  if (iso) {
    const [days = 0, hours = 0, minutes = 0, seconds = 0] = iso.slice(1).map((part) => Number(part ?? 0))
    return nowMs + (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000
  }
  return (text.length < 40 ? toEpochMs(text) : null) ?? fromProse(text, nowMs)
}

function fromProse(text: string, nowMs: number): number | null {
  const at = AT.exec(text)
  if (at) return toEpochMs(at[1]!)
  const duration = IN.exec(text)
  if (duration) return nowMs + durationMs(duration[1]!)
  const seconds = IN_SECONDS.exec(text)
  return seconds ? fromNumber(Number(seconds[1]), nowMs) : null
}

function durationMs(text: string): number {
  return [...text.matchAll(PIECE)].reduce((sum, [, amount, unit]) => sum + Number(amount) * unitMs(unit!), 0)
}

function unitMs(unit: string): number {
  const word = unit.toLowerCase()
  return UNIT_MS[word.startsWith('ms') || word.startsWith('milli') ? 'ms' : word[0]!]!
}

/**
 * When a limit ends by the headers of an answer: `retry-after` and `retry-after-ms`, and the reset times of those limits of which
 * nothing remains, the latest of them. `null` when no header says so.
 */
export function resetFromHeaders(headers: Readonly<Record<string, string>>, nowMs: number): number | null {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const milliseconds = Number(lower['retry-after-ms'] ?? Number.NaN)
  const times = [
    milliseconds > 0 ? nowMs + milliseconds : null,
    parseResetTime(lower['retry-after'], nowMs),
    ...Object.keys(lower)
      .filter(
        (name) => name.includes('ratelimit') && name.includes('reset') && Number(lower[remainingOf(name)] ?? 0) === 0,
      )
      .map((name) => parseResetTime(lower[name], nowMs)),
  ].filter((time) => time !== null)
  return times.length > 0 ? Math.max(...times) : null
}

/** The header that says how much of the same limit is left. */
function remainingOf(resetHeader: string): string {
  return resetHeader.replace('reset', 'remaining')
}
