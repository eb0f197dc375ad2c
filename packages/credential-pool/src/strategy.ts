import type { PoolEntry } from './entry.js'

/** How the next credential is chosen among the usable ones. */
export type PoolStrategy = 'fill-first' | 'round-robin' | 'least-used' | 'random'

/** All strategies, the default first. */
export const POOL_STRATEGIES: readonly PoolStrategy[] = Object.freeze([
  'fill-first',
  'round-robin',
  'least-used',
  'random',
])

/** Whether each choice has to be written down for the next one. */
export function isCounting(strategy: PoolStrategy): boolean {
  return strategy === 'round-robin' || strategy === 'least-used'
}

/** One of `entries`, which are in the order of their priority; `null` when there is none. */
export function choose(entries: readonly PoolEntry[], strategy: PoolStrategy, random: () => number): PoolEntry | null {
  switch (strategy) {
    case 'fill-first':
      return entries[0] ?? null
    case 'round-robin':
      return smallest(entries, ({ lastUsedAtMs }) => lastUsedAtMs)
    case 'least-used':
      return smallest(entries, ({ requestCount }) => requestCount)
    case 'random':
      return entries[Math.floor(random() * entries.length)] ?? null
    default:
      return strategy satisfies never
  }
}

/** The first with the smallest number. */
function smallest(entries: readonly PoolEntry[], numberOf: (entry: PoolEntry) => number): PoolEntry | null {
  return entries.toSorted((left, right) => numberOf(left) - numberOf(right))[0] ?? null
}
