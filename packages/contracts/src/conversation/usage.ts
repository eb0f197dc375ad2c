/** Tokens and money of one model call or of many added up. */
export interface Usage {
  /** All input tokens, cached ones included. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Part of `inputTokens` that was served from the provider's cache. */
  readonly cacheReadTokens: number
  /** Part of `inputTokens` that was written to the provider's cache. */
  readonly cacheWriteTokens: number
  /** Part of `outputTokens` spent on reasoning. */
  readonly reasoningTokens: number
  /** US dollars, or `unknown` when a price is missing: never a false 0. */
  readonly costUsd: number | 'unknown'
}

/** No tokens, no money. */
export const noUsage: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd: 0,
})

/** What `later` has more than `earlier`, its cost `unknown` as soon as one is. */
export function usageSince(earlier: Usage, later: Usage): Usage {
  const more = (key: Exclude<keyof Usage, 'costUsd'>) => later[key] - earlier[key]
  const [from, to] = [earlier.costUsd, later.costUsd]
  return {
    inputTokens: more('inputTokens'),
    outputTokens: more('outputTokens'),
    cacheReadTokens: more('cacheReadTokens'),
    cacheWriteTokens: more('cacheWriteTokens'),
    reasoningTokens: more('reasoningTokens'),
    costUsd: from === 'unknown' || to === 'unknown' ? 'unknown' : to - from,
  }
}

/** The sum of both; its cost is `unknown` as soon as one is. */
export function addUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
    reasoningTokens: left.reasoningTokens + right.reasoningTokens,
    costUsd: left.costUsd === 'unknown' || right.costUsd === 'unknown' ? 'unknown' : left.costUsd + right.costUsd,
  }
}
