import { addUsage, noUsage } from '@hermes/contracts/conversation'
import type { UsageGroup, UsageTotal } from '@hermes/contracts/store'

/** All time zones are whole quarters of an hour apart, so days can be put together from these. */
export const QUARTER_HOUR_MS = 900_000

/** Calls of one group as the store adds them up. The key of a day is the number of a quarter of an hour. */
export interface TotalRow {
  readonly key: string | number
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  readonly costUsd: number
  readonly unpriced: number
  readonly sources: string
  /** Calls whose tokens were estimated. */
  readonly estimated: number
}

const NOTHING: UsageTotal = {
  key: '',
  calls: 0,
  usage: noUsage,
  knownCostUsd: 0,
  unpricedCalls: 0,
  priceSources: [],
}

/** The totals that rows stand for; without `by` exactly one. */
export function addUp(
  rows: readonly TotalRow[],
  { by, timeZone }: { readonly by: UsageGroup | undefined; readonly timeZone: string },
): readonly UsageTotal[] {
  const totals = rows.map(toTotal)
  if (by === undefined) return [totals[0] ?? NOTHING]
  return by === 'day' ? byDay(rows, timeZone) : totals
}

function toTotal(row: TotalRow): UsageTotal {
  const { key, calls, costUsd, unpriced, sources, estimated, ...tokens } = row
  return {
    key: String(key),
    calls,
    usage: { ...tokens, costUsd: unpriced > 0 ? 'unknown' : costUsd },
    knownCostUsd: costUsd,
    unpricedCalls: unpriced,
    priceSources: (JSON.parse(sources) as (string | null)[]).filter((source) => source !== null).sort(),
    ...estimates(estimated),
  }
}

function estimates(estimatedCalls: number): Pick<UsageTotal, 'estimatedCalls'> {
  return estimatedCalls > 0 ? { estimatedCalls } : {}
}

function byDay(rows: readonly TotalRow[], timeZone: string): readonly UsageTotal[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const days = new Map<string, UsageTotal>()
  for (const row of rows) {
    const key = format.format(Number(row.key) * QUARTER_HOUR_MS)
    days.set(key, { ...sum(days.get(key) ?? NOTHING, toTotal(row)), key })
  }
  return [...days.values()]
}

function sum(left: UsageTotal, right: UsageTotal): UsageTotal {
  return {
    key: '',
    calls: left.calls + right.calls,
    usage: addUsage(left.usage, right.usage),
    knownCostUsd: left.knownCostUsd + right.knownCostUsd,
    unpricedCalls: left.unpricedCalls + right.unpricedCalls,
    priceSources: [...new Set([...left.priceSources, ...right.priceSources])].sort(),
    ...estimates((left.estimatedCalls ?? 0) + (right.estimatedCalls ?? 0)),
  }
}
