import { estimateTokens, type ToolMessage } from '@hermes/contracts/conversation'
import { resultText } from './prune-result.js'
import type { TranscriptEntry } from './region.js'
import { sum } from './region.js'
import { cutToTokens } from './shrink.js'

const LEAST_TOKENS = 200

/** A result of a tool that is shown shorter. */
export interface Shortened {
  readonly seq: number
  readonly text: string
  /** Tokens it takes less. */
  readonly saved: number
}

/**
 * Which results among the newest messages to show shorter, so that all of them fit `maxTokens`: the longest ones first, each to no
 * less than a few lines. Nothing when they fit.
 */
export function shortenTail(tail: readonly TranscriptEntry[], maxTokens: number): readonly Shortened[] {
  const excess = sum(tail) - maxTokens
  if (excess <= 0) return []
  const results = tail
    .filter((entry): entry is TranscriptEntry & { readonly message: ToolMessage } => entry.message.role === 'tool')
    .toSorted((left, right) => right.tokens - left.tokens)
  const shortened: Shortened[] = []
  let left = excess
  for (const { seq, message, tokens } of results) {
    if (left <= 0) break
    const whole = resultText(message)
    const text = cutToTokens(whole, Math.max(LEAST_TOKENS, tokens - left))
    const saved = tokens - estimateTokens(text)
    if (text === whole || saved <= 0) continue
    shortened.push({ seq, text, saved })
    left -= saved
  }
  return shortened
}
