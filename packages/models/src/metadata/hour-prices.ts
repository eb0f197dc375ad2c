import type { ModelPrices } from '../usage.js'

type PricesOfSize = Omit<ModelPrices, 'tiers' | 'source'>

/** The prices where prefixes are kept for an hour. */
export function hourly(prices: ModelPrices): ModelPrices {
  return perSize(prices, ({ cacheWriteHourPerMillion: write }) =>
    write === undefined ? {} : { cacheWritePerMillion: write },
  )
}

/**
 * `prices` with what an hour costs, of which most lists say nothing: as `packaged` says for requests of that size, else twice the input
 * where keeping has a price at all.
 * @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing
 */
export function withHour(prices: ModelPrices, packaged: ModelPrices | undefined): ModelPrices {
  return perSize(prices, ({ inputPerMillion, cacheWritePerMillion }, above) => {
    const known = packaged?.tiers?.findLast(({ aboveInputTokens }) => aboveInputTokens <= above)
    const usual = cacheWritePerMillion === undefined ? undefined : 2 * inputPerMillion
    const sameSize = known ?? (above === 0 ? packaged : undefined)
    const write = sameSize?.cacheWriteHourPerMillion ?? usual
    return write === undefined ? {} : { cacheWriteHourPerMillion: write }
  })
}

/** Changes prices for requests of every size; `above` is the number of input tokens from which they hold. */
function perSize(prices: ModelPrices, change: (of: PricesOfSize, above: number) => Partial<PricesOfSize>): ModelPrices {
  const { tiers } = prices
  return {
    ...prices,
    ...change(prices, 0),
    ...(tiers === undefined
      ? {}
      : { tiers: tiers.map((tier) => ({ ...tier, ...change(tier, tier.aboveInputTokens) })) }),
  }
}
