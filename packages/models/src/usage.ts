import type { Usage } from '@hermes/contracts/conversation'

/** What a model costs, in US dollars per million tokens. */
export interface ModelPrices {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
  /** Default: as other input. */
  readonly cacheReadPerMillion?: number
  /** Default: as other input. */
  readonly cacheWritePerMillion?: number
}

const MILLION = 1_000_000

/** `usage` with its cost: what the provider reported, else 0 for a local model, else by `prices`, else `unknown`. */
export function withCost(usage: Usage, prices: ModelPrices | undefined, isLocal: boolean): Usage {
  if (usage.costUsd !== 'unknown') return usage
  if (isLocal) return { ...usage, costUsd: 0 }
  if (!prices) return usage
  const { inputPerMillion, cacheReadPerMillion = inputPerMillion, cacheWritePerMillion = inputPerMillion } = prices
  const costUsd =
    ((usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens) * inputPerMillion +
      usage.cacheReadTokens * cacheReadPerMillion +
      usage.cacheWriteTokens * cacheWritePerMillion +
      usage.outputTokens * prices.outputPerMillion) /
    MILLION
  return { ...usage, costUsd }
}
