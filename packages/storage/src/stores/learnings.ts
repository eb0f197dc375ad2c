import type { Clock } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import { sql } from 'kysely'
import {
  type Learning,
  type Learnings,
  type NewLearning,
  OUTSIDE_TAG,
  type PersonFilter,
  SEEN_TAG,
} from '../learnings.js'
import type { Database, Work } from '../shared/database.js'
import { all, first, run } from '../shared/database.js'

const OWNER = ''

/** The table of learnings. There are few, so all are read and compared here. */
export class LearningStore implements Learnings {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, { clock }: { readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  async save(input: NewLearning): Promise<{ readonly learning: Learning; readonly isMerged: boolean }> {
    const [database, learning, nowMs] = [this.#database, cleanLearning(input), this.#clock.now()]
    const { person = null } = input
    return database.write('learnings', function* () {
      // Two who save the same thing at once wait for each other: it is one learning.
      yield* database.claim('hermes_learnings')
      const known = yield* readAll(database, { person })
      const same = sameLearning(known, learning)
      if (same && learning.tags.includes(SEEN_TAG) && !same.tags.includes(SEEN_TAG))
        return { learning: same, isMerged: true }
      const { pattern, errorType, fix, context } = learning
      const words = { pattern, error_type: errorType, fix, context }
      const tags = mergedTags(learning.tags, same)
      const row = same
        ? yield* first(
            use(database, same.id)
              .set({ fix, tags, ...(context === '' ? {} : { context }) })
              .returningAll(),
          )
        : yield* first(
            database.builder
              .insertInto('hermes_learnings')
              .values({ ...words, tags, created_ms: nowMs, times_used: 0, person: person ?? OWNER })
              .returningAll(),
          )
      if (!same) yield* forget(database, person, known.length + 1 - MAX_LEARNINGS)
      return { learning: toLearning(row!), isMerged: same !== undefined }
    })
  }

  async find(options: Parameters<Learnings['find']>[0] = {}): Promise<readonly Learning[]> {
    return findLearnings(await this.#read(options), options)
  }

  async match(error: Parameters<Learnings['match']>[0]): Promise<Learning | null> {
    const id = matchLearning(await this.#read(error), error)
    if (id === null) return null
    const row = await this.#database.write('learnings', () => first(use(this.#database, id).returningAll()))
    return row ? toLearning(row) : null
  }

  async edit(id: number, change: Parameters<Learnings['edit']>[1]): Promise<Learning | null> {
    const database = this.#database
    const fix = cut(change.fix, MAX_FIX_CHARS)
    if (fix === '') throw missing('fix')
    return database.write('learnings', function* () {
      const known = (yield* readAll(database, change)).find((one) => one.id === id)
      if (!known) return null
      const tags = JSON.stringify(known.tags.filter((tag) => tag !== SEEN_TAG && tag !== OUTSIDE_TAG))
      const changed = database.builder.updateTable('hermes_learnings').set({ fix, tags }).where('id', '=', id)
      return toLearning((yield* first(changed.returningAll()))!)
    })
  }

  async remove(id: number, filter: Required<PersonFilter>): Promise<boolean> {
    const database = this.#database
    return database.write('learnings', function* () {
      const isKnown = (yield* readAll(database, filter)).some((one) => one.id === id)
      if (isKnown) yield* run(database.builder.deleteFrom('hermes_learnings').where('id', '=', id))
      return isKnown
    })
  }

  #read(filter: PersonFilter): Promise<readonly Learning[]> {
    const database = this.#database
    return database.read(function* () {
      return (yield* database.has('hermes_learnings')) ? yield* readAll(database, filter) : []
    })
  }
}

function* readAll(database: Database, { person }: PersonFilter): Work<readonly Learning[]> {
  const rows = database.builder
    .selectFrom('hermes_learnings')
    .selectAll()
    .orderBy('times_used', 'desc')
    .orderBy('id', 'desc')
  // A table of an older version has those of the owner alone.
  const isMarked = person !== undefined && (yield* database.has('hermes_learnings', 'person'))
  if (!isMarked) return typeof person === 'string' ? [] : (yield* all(rows)).map(toLearning)
  return (yield* all(rows.where('person', '=', person ?? OWNER))).map(toLearning)
}

function use({ builder }: Database, id: number) {
  return builder.updateTable('hermes_learnings').set({ times_used: sql`times_used + 1` }).where('id', '=', id)
}

/** The least used of the oldest. */
function* forget({ builder }: Database, person: string | null, count: number): Work<void> {
  if (count <= 0) return
  const going = builder
    .selectFrom('hermes_learnings')
    .select('id')
    .where('person', '=', person ?? OWNER)
    .orderBy('times_used')
    .orderBy('id')
    .limit(count)
  yield* run(builder.deleteFrom('hermes_learnings').where('id', 'in', going))
}

/** More than this are not kept. */
const MAX_LEARNINGS = 1_000

const DEFAULT_LIMIT = 10
const MAX_FIX_CHARS = 2_000
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
function cleanLearning({ pattern, errorType = '', fix, context = '', tags = [] }: NewLearning) {
  const learning = {
    pattern: cut(pattern, 500),
    errorType: cut(errorType, 100),
    fix: cut(fix, MAX_FIX_CHARS),
    context: cut(context, 1_000),
    tags: tags.map((tag) => cut(tag, 50)).filter(Boolean),
  }
  for (const key of ['pattern', 'fix'] as const) {
    if (learning[key] === '') throw missing(key)
  }
  return learning
}

function missing(key: string): HermesError {
  return new HermesError(`A learning needs a ${key}.`, { code: 'store.bad_learning', details: { key } })
}

/** The one of `all` that is about the same failure. */
function sameLearning(
  all: readonly Learning[],
  { pattern, errorType }: { readonly pattern: string; readonly errorType: string },
): Learning | undefined {
  const words = wordsOf(pattern)
  return all.find((one) => one.errorType === errorType && similarity(wordsOf(one.pattern), words) >= SAME)
}

/** The tags of a learning that is saved, with those of the one it merges with, as its column has them. Where the words come from is said anew. */
function mergedTags(tags: readonly string[], same: Learning | undefined): string {
  const kept = (same?.tags ?? []).filter((tag) => tag !== SEEN_TAG && tag !== OUTSIDE_TAG)
  return JSON.stringify([...new Set([...kept, ...tags])])
}

/** Those that share words with `query`, the nearest first. */
function findLearnings(
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
function matchLearning(
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
function toLearning(row: LearningRow): Learning {
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

/** An error that is longer is told from others by its beginning. */
const MAX_WORDS_CHARS = 100_000

/** The words of an error message that tell it from others: numbers, addresses and hashes differ each time, so they count as one. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .slice(0, MAX_WORDS_CHARS)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  return new Set(words.filter((word) => word.length > 1).map((word) => (isNumberLike(word) ? '#' : word)))
}

/** Digits, `0x…`, or a hash: hexadecimal with a digit before its last five characters. */
function isNumberLike(word: string): boolean {
  return /^\d+$/.test(word) || word.startsWith('0x') || (/^[\da-f]+$/.test(word) && /\d/.test(word.slice(0, -5)))
}

/** Shared words among all words of both; from 0 to 1. */
function similarity(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const shared = countShared(left, right)
  return shared === 0 ? 0 : shared / (left.size + right.size - shared)
}

/** How much of `part` is in `whole`; from 0 to 1. */
function covered(part: ReadonlySet<string>, whole: ReadonlySet<string>): number {
  return part.size === 0 ? 0 : countShared(part, whole) / part.size
}

function countShared(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let count = 0
  for (const word of left) if (right.has(word)) count++
  return count
}
