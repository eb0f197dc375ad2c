// How long searches of a store take, and how long they keep anything else from running.
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @param {import('@hermes/storage').Storage} store
 * @param {Record<string, { text: string }[]>} queries by kind, as many of each
 * @returns {Promise<{ p95: Record<string, number>, heldMs: number }>}
 */
export async function measureSearches(store, queries) {
  const kinds = Object.entries(queries)
  const samples = Object.fromEntries(kinds.map(([kind]) => [kind, []]))
  let heldMs = 0
  let lastMs = performance.now()
  const heart = setInterval(() => {
    const now = performance.now()
    heldMs = Math.max(heldMs, now - lastMs - 5)
    lastMs = now
  }, 5)
  for (let i = 0; i < kinds[0][1].length; i++) {
    for (const [kind, list] of kinds) {
      const { text, ...filter } = list[i]
      samples[kind].push((await timed(() => store.search.find(text, filter))).ms)
      await sleep(2)
    }
  }
  clearInterval(heart)
  const p95 = Object.fromEntries(kinds.map(([kind]) => [kind, percentile(samples[kind], 0.95)]))
  return { p95, heldMs }
}

export async function timed(work) {
  const fromMs = performance.now()
  const result = await work()
  return { result, ms: performance.now() - fromMs }
}

export function percentile(values, share) {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]
}
