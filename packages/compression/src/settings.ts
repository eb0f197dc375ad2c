/** How a session is kept within the window of its model. */
export interface CompressionSettings {
  /** Share of the window at which to compact; 0 to 1. Default: half of a window of 512,000 tokens or more, three quarters of a smaller one. */
  readonly threshold?: number
  /** Tokens at which to compact at the latest. Default: no further limit. */
  readonly thresholdTokens?: number
  /** The newest messages that stay, as a share of the threshold. Default 0.2. */
  readonly targetRatio?: number
  /** Messages at the beginning that stay. Default 3. */
  readonly protectFirst?: number
  /** Messages at the end that stay as long as they do not pass half again the share for them. Default 20, at least 3 in any case. */
  readonly protectLast?: number
  /** The most a model may answer with when it is asked for a summary, in tokens. Default: half again as much as the summary should take. */
  readonly maxOutputTokens?: number
}

/** What a window allows, all in tokens. */
export interface Budgets {
  readonly window: number
  readonly threshold: number
  /** The newest messages. */
  readonly tail: number
  /** The most a summary may take. */
  readonly summary: number
  /** What the user said, verbatim. */
  readonly words: number
}

const LARGE_WINDOW = 512_000
const SUMMARY_SHARE_OF_WINDOW = 0.05
const MOST_SUMMARY = 12_000
const LEAST_SUMMARY = 2_000
const SUMMARY_SHARE_OF_REGION = 0.2
const WORDS_SHARE_OF_TAIL = 0.3

/** The budgets of a window of so many tokens. A smaller model gets smaller ones at once. */
export function budgetsOf(window: number, settings: CompressionSettings = {}): Budgets {
  const share = settings.threshold ?? (window >= LARGE_WINDOW ? 0.5 : 0.75)
  const threshold = Math.floor(Math.min(window * share, settings.thresholdTokens ?? Number.POSITIVE_INFINITY))
  const tail = Math.floor(threshold * (settings.targetRatio ?? 0.2))
  const most = Math.min(MOST_SUMMARY, settings.maxOutputTokens ?? MOST_SUMMARY)
  const summary = Math.floor(Math.min(window * SUMMARY_SHARE_OF_WINDOW, most))
  return { window, threshold, tail, summary, words: Math.floor(tail * WORDS_SHARE_OF_TAIL) }
}

/** How long the summary of so many tokens may get. */
export function summaryLength(regionTokens: number, { summary }: Budgets): number {
  return Math.min(Math.max(Math.floor(regionTokens * SUMMARY_SHARE_OF_REGION), LEAST_SUMMARY), summary)
}
