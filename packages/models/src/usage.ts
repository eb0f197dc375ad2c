import { noUsage, type Usage } from '@hermes/contracts/conversation'

/** What a model costs, in US dollars per million tokens. */
export interface ModelPrices {
  readonly inputPerMillion: number
  readonly outputPerMillion: number
  /** Default: as other input. */
  readonly cacheReadPerMillion?: number
  /** Default: as other input. */
  readonly cacheWritePerMillion?: number
  /** For prefixes kept for an hour. Default: as other writes. */
  readonly cacheWriteHourPerMillion?: number
  /** Prices of requests with more input than that, rising. Default: none. */
  readonly tiers?: readonly PriceTier[]
  /** Where they come from and of which date, for ledgers. Default `given`. */
  readonly source?: string
}

/** What a whole request costs from a size on. */
export interface PriceTier extends Omit<ModelPrices, 'tiers' | 'source'> {
  /** Tokens. */
  readonly aboveInputTokens: number
}

/** A cost and where it comes from; `null` when it is unknown. */
export interface PricedUsage {
  readonly usage: Usage
  readonly priceSource: string | null
}

const MILLION = 1_000_000

/** `usage` with its cost: what the provider reported, else 0 for a local model, else by `prices`, else `unknown`. */
export function priced(usage: Usage, prices: ModelPrices | null, isLocal: boolean): PricedUsage {
  if (usage.costUsd !== 'unknown') return { usage, priceSource: 'reported' }
  if (isLocal) return { usage: { ...usage, costUsd: 0 }, priceSource: 'local' }
  if (!prices) return { usage, priceSource: null }
  return { usage: { ...usage, costUsd: costOf(usage, prices) }, priceSource: prices.source ?? 'given' }
}

/**
 * What it costs to have a request of so many tokens answered with one token where the provider still has all of it, and what more it costs to have
 * it written into the cache anew, in US dollars. `null` where the prices do not say what the cache costs.
 */
export function cacheCosts(
  inputTokens: number,
  prices: ModelPrices,
): { readonly readUsd: number; readonly rewriteUsd: number } | null {
  const { cacheReadPerMillion, cacheWritePerMillion } = tierOf(prices, inputTokens)
  if (cacheReadPerMillion === undefined || cacheWritePerMillion === undefined) return null
  const usage = { ...noUsage, inputTokens, outputTokens: 1 }
  const readUsd = costOf({ ...usage, cacheReadTokens: inputTokens }, prices)
  return { readUsd, rewriteUsd: costOf({ ...usage, cacheWriteTokens: inputTokens }, prices) - readUsd }
}

function tierOf(prices: ModelPrices, inputTokens: number): Omit<ModelPrices, 'tiers' | 'source'> {
  return prices.tiers?.findLast(({ aboveInputTokens }) => inputTokens > aboveInputTokens) ?? prices
}

function costOf(usage: Usage, prices: ModelPrices): number {
  const tier = tierOf(prices, usage.inputTokens)
  const { inputPerMillion, outputPerMillion, cacheReadPerMillion = inputPerMillion } = tier
  const { cacheWritePerMillion = inputPerMillion } = tier
  const fresh = usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens
  const sum =
    fresh * inputPerMillion +
    usage.cacheReadTokens * cacheReadPerMillion +
    usage.cacheWriteTokens * cacheWritePerMillion +
    usage.outputTokens * outputPerMillion
  return sum / MILLION
}
