import { HermesError } from '@hermes/contracts'
import type { Learning, NewLearning } from '../learnings.js'
import { covered, similarity, wordsOf } from './likeness.js'

/** More than this are not kept. */
export const MAX_LEARNINGS = 1_000

const DEFAULT_LIMIT = 10
/** Words of an error beyond this are not looked at: the telling ones are at its ends. */
const MAX_ERROR_CHARS = 4_000
/** From here on two patterns are about the same failure. */
const SAME = 0.6
/** So much of a pattern must be in an error. */
const MATCHES = 0.75
const MIN_WORDS = 2

/** A learning as its table has it. */
interface LearningRow {
  readonly id: number
  readonly pattern: string
  readonly error_type: string
  readonly fix: string
  readonly context: string
  readonly tags: string
  readonly created_ms: number
  readonly times_used: number
}

/** What is saved of a learning. @throws HermesError `store.bad_learning` when a text is missing. */
export function cleanLearning({ pattern, errorType = '', fix, context = '', tags = [] }: NewLearning) {
  const learning = {
    pattern: cut(pattern, 500),
    errorType: cut(errorType, 100),
    fix: cut(fix, 2_000),
    context: cut(context, 1_000),
    tags: tags.map((tag) => cut(tag, 50)).filter(Boolean),
  }
  for (const key of ['pattern', 'fix'] as const) {
    if (learning[key] === '')
      throw new HermesError(`A learning needs a ${key}.`, { code: 'store.bad_learning', details: { key } })
  }
  return learning
}

/** The one of `all` that is about the same failure. */
export function sameLearning(
  all: readonly Learning[],
  { pattern, errorType }: { readonly pattern: string; readonly errorType: string },
): Learning | undefined {
  const words = wordsOf(pattern)
  return all.find((one) => one.errorType === errorType && similarity(wordsOf(one.pattern), words) >= SAME)
}

/** The tags of a learning that is saved, with those of the one it merges with, as its column has them. */
export function mergedTags(tags: readonly string[], same: Learning | undefined): string {
  return JSON.stringify([...new Set([...(same?.tags ?? []), ...tags])])
}

/** Those that share words with `query`, the nearest first. */
export function findLearnings(
  all: readonly Learning[],
  { query = '', tag, limit = DEFAULT_LIMIT }: { query?: string; tag?: string; limit?: number } = {},
): readonly Learning[] {
  const tagged = tag === undefined ? all : all.filter(({ tags }) => tags.includes(tag))
  const wanted = wordsOf(query)
  if (wanted.size === 0) return tagged.slice(0, limit)
  return tagged
    .map((learning) => ({ learning, nearness: covered(wanted, wordsOf(textOf(learning))) }))
    .filter(({ nearness }) => nearness > 0)
    .sort((left, right) => right.nearness - left.nearness)
    .slice(0, limit)
    .map(({ learning }) => learning)
}

/** The id of the one whose pattern is in an error of this tool; `null` when none is near enough. */
export function matchLearning(
  all: readonly Learning[],
  { text, tool }: { readonly text: string; readonly tool: string },
): number | null {
  const words = wordsOf(ends(text))
  const near = all
    .filter(({ errorType }) => errorType === '' || errorType === tool || words.has(errorType.toLowerCase()))
    .map((learning) => ({ learning, pattern: wordsOf(learning.pattern) }))
    .filter(({ pattern }) => pattern.size >= MIN_WORDS)
    .map(({ learning, pattern }) => ({ id: learning.id, size: pattern.size, share: covered(pattern, words) }))
    .filter(({ share }) => share >= MATCHES)
    .sort((left, right) => right.share - left.share || right.size - left.size)
  return near[0]?.id ?? null
}

function cut(text: string, maxChars: number): string {
  return text.trim().slice(0, maxChars).toWellFormed()
}

function ends(text: string): string {
  if (text.length <= MAX_ERROR_CHARS) return text
  return `${text.slice(0, MAX_ERROR_CHARS / 2)} ${text.slice(-MAX_ERROR_CHARS / 2)}`
}

function textOf({ pattern, errorType, fix, context, tags }: Learning): string {
  return [pattern, errorType, fix, context, ...tags].join(' ')
}

/** What a row stands for. */
export function toLearning(row: LearningRow): Learning {
  return {
    id: row.id,
    pattern: row.pattern,
    errorType: row.error_type,
    fix: row.fix,
    context: row.context,
    tags: JSON.parse(row.tags) as string[],
    createdAtMs: row.created_ms,
    timesUsed: row.times_used,
  }
}
