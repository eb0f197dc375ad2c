import { type Facet, facetWord } from '../../shared/index-text.js'
import { personIn, personKey } from '../../shared/person.js'
import type { LooseQuery, SearchQuery } from '../../shared/search-query.js'
import type { SearchOptions } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import { BLOCK_IDS } from '../schema/schema-sql.js'

// A query over more messages than this may hold up everything else for some 10 ms.
const MAX_IDS_AT_ONCE = 100_000
// As may one with more words than this, such as those with a part in common.
const MAX_WORDS_AT_ONCE = 40
// More values than this are only checked in the tables.
const MAX_FACET_WORDS = 200

// Apart, since together they would be looked for row by row.
const ALL_IDS =
  'SELECT coalesce((SELECT min(id) FROM messages), 0) AS low, coalesce((SELECT max(id) FROM messages), -1) AS high'
const BLOCKS = 'SELECT block FROM hermes_blocks WHERE max_ms > ? AND min_ms < ? ORDER BY block DESC'
const THEIRS = `SELECT id FROM sessions WHERE ${personIn('user_id')} = ?`
const TAGGED = 'SELECT session_id FROM hermes_tags WHERE tag = ?'

/** A range of message ids, both ends included. */
export interface Range {
  readonly low: number
  readonly high: number
}

/** A search made ready: what the index is asked, and what is then checked in the tables. */
export interface SearchPlan {
  /** FTS5, the words of the query. */
  readonly expression: string
  /** An easier one; `null` when there is none. */
  readonly loose: LooseQuery | null
  /** FTS5, what goes behind either of them. */
  facets: string
  /** Words and phrases in all of them. */
  size: number
  /** SQL. */
  conditions: string
  readonly parameters: (string | number)[]
  /** A query without a hit goes through the whole log, whatever range it is asked for, and each word takes its time. */
  readonly isLong: boolean
}

type Filter = readonly [facet: Facet, column: string, values: readonly string[] | undefined]

/** `null` when a filter lets nothing through. */
export function planSearch(connection: Connection, query: SearchQuery, options: SearchOptions): SearchPlan | null {
  const { tag, person, afterMs, beforeMs } = options
  const tagged = tag === undefined ? undefined : (connection.statement(TAGGED).pluck().all(tag) as string[])
  // Of others there are few sessions, so they are looked for by the index; the owner's are told apart in the tables.
  const theirs =
    typeof person === 'string' ? (connection.statement(THEIRS).pluck().all(personKey(person)) as string[]) : undefined
  const wanted: readonly Filter[] = [
    ['role', 'm.role', list(options.role)],
    ['source', 's.source', list(options.source)],
    ['session', 'm.session_id', list(options.sessionId)],
    ['session', 'm.session_id', tagged],
    ['session', 'm.session_id', theirs],
  ]
  if (wanted.some(([, , values]) => values?.length === 0)) return null
  const { size, loose } = query
  const { low, high } = connection.statement(ALL_IDS).get() as Range
  const plan: SearchPlan = {
    expression: `(${query.expression})`,
    loose,
    facets: '',
    size,
    conditions: '',
    parameters: [],
    isLong: (high - low > MAX_IDS_AT_ONCE || size > MAX_WORDS_AT_ONCE) && !connection.isAlone,
  }
  for (const [facet, column, values] of wanted) {
    if (values === undefined) continue
    addCondition(plan, `${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(values))
    if (values.length > MAX_FACET_WORDS) continue
    plan.facets += ` AND (${values.map((value) => `"${facetWord(facet, value)}"`).join(' OR ')})`
    plan.size += values.length
  }
  // Two values may share a facet's word, so what is left out is known to the tables alone.
  const { excludeSources, excludeSessions } = options
  if (excludeSources)
    addCondition(plan, 's.source NOT IN (SELECT value FROM json_each(?))', JSON.stringify(excludeSources))
  if (excludeSessions)
    addCondition(plan, 's.id NOT IN (SELECT value FROM json_each(?))', JSON.stringify(excludeSessions))
  if (person === null) addCondition(plan, `${personIn('s.user_id')} = ?`, personKey(null))
  if (afterMs !== undefined) addCondition(plan, 'm.timestamp > ?', afterMs / 1000)
  if (beforeMs !== undefined) addCondition(plan, 'm.timestamp < ?', beforeMs / 1000)
  return plan
}

/** Where messages of the time asked for are, newest first. */
export function rangesOf(connection: Connection, { afterMs, beforeMs }: SearchOptions): readonly Range[] {
  const all = connection.statement(ALL_IDS).get() as Range
  if (afterMs === undefined && beforeMs === undefined) return [all]
  const blocks = connection
    .statement(BLOCKS)
    .pluck()
    .all(afterMs ?? Number.MIN_SAFE_INTEGER, beforeMs ?? Number.MAX_SAFE_INTEGER) as number[]
  const ranges: { low: number; high: number }[] = []
  for (const block of blocks) {
    const low = block * BLOCK_IDS
    const last = ranges.at(-1)
    if (last?.low === low + BLOCK_IDS) last.low = low
    else ranges.push({ low, high: low + BLOCK_IDS - 1 })
  }
  return ranges
}

function addCondition(plan: SearchPlan, sql: string, parameter: string | number): void {
  plan.conditions += ` AND ${sql}`
  plan.parameters.push(parameter)
}

function list(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}
