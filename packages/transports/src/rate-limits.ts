/** One limit an endpoint keeps for a key, as the headers of its last answer said. */
export interface RateLimit {
  /** What is counted: `requests`, `tokens`, `input-tokens` …, with its window where the header names one: `requests-1h`. */
  readonly name: string
  readonly limit: number | null
  readonly remaining: number | null
  /** Unix milliseconds. */
  readonly resetAtMs: number | null
}

type Part = 'limit' | 'remaining' | 'reset'

/** Names of headers, in lower case, with the part and the name of the limit somewhere in them. */
const SHAPES: readonly RegExp[] = [
  /^x-ratelimit-(?<part>limit|remaining|reset)(?:-(?<name>[a-z0-9-]+))?$/,
  /^anthropic-ratelimit-(?<name>[a-z-]+)-(?<part>limit|remaining|reset)$/,
  /^ratelimit-(?<part>limit|remaining|reset)$/,
]

/** The limits that response headers tell of; empty when they tell of none. Names are in lower case. Pure. */
export function rateLimits(headers: Readonly<Record<string, string>>, nowMs: number): readonly RateLimit[] {
  const found = new Map<string, Partial<Record<Part, string>>>()
  for (const [header, value] of Object.entries(headers)) {
    const groups = SHAPES.map((shape) => shape.exec(header)).find((match) => match !== null)?.groups
    if (!groups) continue
    const name = groups['name'] ?? 'requests'
    found.set(name, { ...found.get(name), [groups['part'] as Part]: value })
  }
  return [...found].map(([name, { limit, remaining, reset }]) => ({
    name,
    limit: toNumber(limit),
    remaining: toNumber(remaining),
    resetAtMs: reset === undefined ? null : resetAt(reset, nowMs),
  }))
}

/**
 * Until when the next call would certainly be refused, in Unix milliseconds; `null` when one may go out now. `inputTokens`, which a call has
 * at least, is asked only where less than half of a limit on tokens is left; without it, only what is used up refuses.
 */
export function refusedUntilMs(limits: readonly RateLimit[], nowMs: number, inputTokens?: () => number): number | null {
  const spent = limits.filter((limit) => isSpent(limit, nowMs, inputTokens))
  const resets = spent.flatMap(({ resetAtMs }) => (resetAtMs === null ? [] : [resetAtMs]))
  return resets.length === 0 ? null : Math.max(...resets)
}

const TOKENS = /^(?:input-)?tokens(?:-|$)/

function isSpent({ name, limit, remaining, resetAtMs }: RateLimit, nowMs: number, inputTokens?: () => number): boolean {
  if (remaining === null || resetAtMs === null || resetAtMs <= nowMs) return false
  if (remaining <= 0) return true
  if (!inputTokens || !TOKENS.test(name) || limit === null || 2 * remaining >= limit) return false
  const needed = inputTokens()
  // No wait makes room for what is larger than the whole limit.
  return needed > remaining && needed <= limit
}

function toNumber(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : null
}

const EPOCH_MS = 1e12
const EPOCH_S = 1e9
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads `6m0s`, `250ms`, a number of seconds, an epoch in seconds or milliseconds, or a date. */
function resetAt(text: string, nowMs: number): number | null {
  const trimmed = text.trim()
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) {
    const value = Number(trimmed)
    if (value >= EPOCH_MS) return value
    return value >= EPOCH_S ? value * 1_000 : nowMs + value * 1_000
  }
  const pieces = [...trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)]
  if (pieces.length > 0 && pieces.map(([piece]) => piece).join('') === trimmed)
    return nowMs + pieces.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0)
  const atMs = Date.parse(trimmed)
  return Number.isNaN(atMs) ? null : atMs
}
