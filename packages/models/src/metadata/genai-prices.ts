import { calcPrice, findProvider, type ModelPrice } from '@pydantic/genai-prices'
import type { ModelPrices, PriceTier } from '../usage.js'
import type { PartialFacts, RequestedModel } from './facts.js'
import { metadataIds } from './provider-ids.js'

// The package is 800 KB of data that takes some 30 ms to load, so this module is itself loaded only for a model not seen lately.

/** The release of the package whose prices these are, and its day. */
export const PRICES_RELEASE = { version: '0.1.8', asOf: '2026-09-23' } as const

/** What a package entry says, and for how long it holds. */
interface PackagedFacts extends PartialFacts {
  /** Prices differ by day or hour, so they are looked up again within one. */
  readonly changes: boolean
}

/** What the package knows of a model at an endpoint; `null` for nothing. A price is never taken from another endpoint. */
export function packagedFacts({ provider, baseUrl, model }: RequestedModel, atMs: number): PackagedFacts | null {
  const id = metadataIds(provider).genaiPrices
  const known = findProvider({ providerApiUrl: baseUrl }) ?? findProvider({ providerId: id })
  if (!known || (known.id !== id && !new RegExp(known.api_pattern).test(baseUrl))) return null
  const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, model, { provider: known, timestamp: new Date(atMs) })
  if (!found) return null
  return {
    contextLength: found.model.context_window,
    prices: toPrices(found.model_price),
    changes: Array.isArray(found.model.prices),
  }
}

/** Names of models that the package has for a provider; not all there are. */
export function packagedNames(provider: string): readonly string[] {
  const known = findProvider({ providerId: metadataIds(provider).genaiPrices })
  return (known?.models ?? []).map(({ id }) => id)
}

type Price = ModelPrice[string]

function toPrices(price: ModelPrice): ModelPrices | undefined {
  const [input, output] = [price['input_mtok'], price['output_mtok']]
  if (input === undefined || output === undefined) return undefined
  return { ...pricesAt(price, 0), ...tiersOf(price) }
}

function pricesAt(price: ModelPrice, inputTokens: number) {
  const at = (name: string) => priceAt(price[name], inputTokens)
  const [read, write, writeHour] = [at('cache_read_mtok'), at('cache_write_mtok'), at('cache_write_1h_mtok')]
  return {
    inputPerMillion: at('input_mtok') ?? 0,
    outputPerMillion: at('output_mtok') ?? 0,
    ...(read === undefined ? {} : { cacheReadPerMillion: read }),
    ...(write === undefined ? {} : { cacheWritePerMillion: write }),
    ...(writeHour === undefined ? {} : { cacheWriteHourPerMillion: writeHour }),
  }
}

function priceAt(price: Price, inputTokens: number): number | undefined {
  if (typeof price !== 'object') return price
  return price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base
}

function tiersOf(price: ModelPrice): { readonly tiers?: readonly PriceTier[] } {
  const starts = Object.values(price).flatMap((one) =>
    typeof one === 'object' ? one.tiers.map(({ start }) => start) : [],
  )
  const tiers = [...new Set(starts)]
    .toSorted((a, b) => a - b)
    .map((aboveInputTokens) => ({ aboveInputTokens, ...pricesAt(price, aboveInputTokens + 1) }))
  return tiers.length === 0 ? {} : { tiers }
}
