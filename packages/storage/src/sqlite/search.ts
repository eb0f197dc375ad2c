import { setImmediate as nextTick } from 'node:timers/promises'
import type { SearchHit, SearchOptions } from '../storage.js'
import type { Connection } from './connection.js'
import { type Facet, facetWord } from './index-text.js'
import { BLOCK_IDS } from './schema-sql.js'
import { parseSearchQuery, type SearchQuery, type SearchTerm } from './search-query.js'
import { makeSnippet } from './snippet.js'
import { TailIndex } from './tail-index.js'
import type { WordIndex } from './word-index.js'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100
const RANKED_HITS = 2_000
// Ranking counts all messages with a word, some 10 ms per word that a third of a million has.
const MAX_RANKED_TERMS = 4
// How far one step of a search goes before others have a turn.
const STEP_IDS = 250_000
const BACKLOG_WAIT_MS = 2_000
const CONTEXT_CHARS = 200
// More values than this are only checked in the tables.
const MAX_FACET_WORDS = 200

const HIT = `
  SELECT m.id, m.session_id, m.role, m.timestamp, m.content, m.tool_calls, m.tool_name, s.title, s.source, s.model, s.started_at
  FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ?`
const neighbour = (comparison: '<' | '>', order: 'DESC' | 'ASC') => `
  SELECT id AS seq, role, substr(coalesce(content, ''), 1, ${CONTEXT_CHARS}) AS text FROM messages
  WHERE session_id = :session_id AND (timestamp, id) ${comparison} (:timestamp, :id) ORDER BY timestamp ${order}, id ${order} LIMIT 1`
const BEFORE = neighbour('<', 'DESC')
const AFTER = neighbour('>', 'ASC')
const CHECKED = 'CROSS JOIN messages m ON m.id = f.rowid CROSS JOIN sessions s ON s.id = m.session_id'
// Apart, since together they would be looked for row by row.
const ALL_IDS =
  'SELECT coalesce((SELECT min(id) FROM messages), 0) AS low, coalesce((SELECT max(id) FROM messages), -1) AS high'
const BLOCKS = 'SELECT block FROM hermes_blocks WHERE max_ms > ? AND min_ms < ? ORDER BY block DESC'
const TAGGED = 'SELECT session_id FROM hermes_tags WHERE tag = ?'

interface HitRow {
  readonly id: number
  readonly session_id: string
  readonly role: string
  readonly timestamp: number
  readonly content: string | null
  readonly tool_calls: string | null
  readonly tool_name: string | null
  readonly title: string | null
  readonly source: string
  readonly model: string | null
  readonly started_at: number
}

/** A range of message ids, both ends included. */
interface Range {
  readonly low: number
  readonly high: number
}

/** A search made ready: what the index is asked, and what is then checked in the tables. */
interface Plan {
  expression: string
  size: number
  conditions: string
  readonly parameters: (string | number)[]
}

type Filter = readonly [facet: Facet, column: string, values: readonly string[] | undefined]

/** Finds messages. It goes through the log from its end in steps, so that no search holds up anything else for long. */
export class Search {
  readonly #connection: Connection
  readonly #words: WordIndex
  readonly #tailIndex: TailIndex

  constructor(connection: Connection, words: WordIndex) {
    this.#connection = connection
    this.#words = words
    this.#tailIndex = new TailIndex(connection)
  }

  async find(text: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    const query = parseSearchQuery(text)
    const limit = Math.min(wholeNumber(options.limit ?? DEFAULT_LIMIT), MAX_LIMIT)
    if (query === null || limit === 0) return []
    const plan = await this.#connection.read(() => this.#plan(query, options))
    if (plan === null) return []
    const isRanked = options.order === 'relevance' && plan.size <= MAX_RANKED_TERMS
    const tail = isRanked ? await this.#catchUp() : await this.#tail(plan, limit)
    const newest = await this.#newest(plan, options, { wanted: isRanked ? RANKED_HITS : limit, first: tail })
    return this.#connection.read(() => {
      const ids = isRanked ? this.#rank(plan, newest) : newest
      return ids.slice(0, limit).flatMap((id) => this.#hit(id, query.terms) ?? [])
    })
  }

  /** Hits among messages that are not in the index yet. Where there is much of that, or it is old, it is taken in first. */
  async #tail(plan: Plan, wanted: number): Promise<number[]> {
    if (await this.#connection.read(() => this.#words.isOutdated())) await this.#catchUp()
    if (!(await this.#connection.read(() => this.#tailIndex.refresh()))) return this.#catchUp()
    this.#words.schedule()
    const statement = `
      SELECT f.rowid FROM temp.hermes_tail f ${CHECKED}
      WHERE hermes_tail MATCH ? ${plan.conditions} ORDER BY f.rowid DESC LIMIT ?`
    const parameters = [plan.expression, ...plan.parameters, wanted]
    return this.#connection.read(() => this.#ids(statement, parameters))
  }

  async #catchUp(): Promise<number[]> {
    await this.#words.catchUp({ backlogMs: BACKLOG_WAIT_MS })
    return []
  }

  /** From the end of the log on, after those found `first`. */
  async #newest(
    plan: Plan,
    options: SearchOptions,
    { wanted, first }: { readonly wanted: number; readonly first: readonly number[] },
  ): Promise<number[]> {
    const ids = new Set(first)
    const tables = plan.conditions === '' ? '' : CHECKED
    const statement = `
      SELECT f.rowid FROM messages_fts f ${tables}
      WHERE messages_fts MATCH ? AND f.rowid BETWEEN ? AND ? ${plan.conditions} ORDER BY f.rowid DESC LIMIT ?`
    const ranges = await this.#connection.read(() => this.#ranges(options))
    for (const { low, high } of inSteps(ranges)) {
      if (ids.size >= wanted) break
      const parameters = [plan.expression, low, high, ...plan.parameters, wanted]
      for (const id of await this.#connection.read(() => this.#ids(statement, parameters))) ids.add(id)
      await nextTick()
    }
    return [...ids]
  }

  #ids(statement: string, parameters: readonly (string | number)[]): number[] {
    return this.#connection
      .statement(statement)
      .pluck()
      .all(...parameters) as number[]
  }

  /** The best match first. */
  #rank(plan: Plan, ids: readonly number[]): number[] {
    if (ids.length < 2) return [...ids]
    const known = new Set(ids)
    const ranked = this.#connection
      .statement(
        'SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rank, rowid DESC',
      )
      .pluck()
      .all(plan.expression, ids.at(-1), ids[0]) as number[]
    return ranked.filter((id) => known.has(id))
  }

  /** `null` when a filter lets nothing through. */
  #plan(query: SearchQuery, options: SearchOptions): Plan | null {
    const { tag, afterMs, beforeMs } = options
    const tagged = tag === undefined ? undefined : (this.#connection.statement(TAGGED).pluck().all(tag) as string[])
    const wanted: readonly Filter[] = [
      ['role', 'm.role', list(options.role)],
      ['source', 's.source', list(options.source)],
      ['session', 'm.session_id', list(options.sessionId)],
      ['session', 'm.session_id', tagged],
    ]
    if (wanted.some(([, , values]) => values?.length === 0)) return null
    const plan: Plan = { expression: `(${query.expression})`, size: query.size, conditions: '', parameters: [] }
    for (const [facet, column, values] of wanted) {
      if (values === undefined) continue
      addCondition(plan, `${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(values))
      if (values.length > MAX_FACET_WORDS) continue
      plan.expression += ` AND (${values.map((value) => `"${facetWord(facet, value)}"`).join(' OR ')})`
      plan.size += values.length
    }
    // Two values may share a facet's word, so what is left out is known to the tables alone.
    const { excludeSources, excludeSessions } = options
    if (excludeSources)
      addCondition(plan, 's.source NOT IN (SELECT value FROM json_each(?))', JSON.stringify(excludeSources))
    if (excludeSessions)
      addCondition(plan, 's.id NOT IN (SELECT value FROM json_each(?))', JSON.stringify(excludeSessions))
    if (afterMs !== undefined) addCondition(plan, 'm.timestamp > ?', afterMs / 1000)
    if (beforeMs !== undefined) addCondition(plan, 'm.timestamp < ?', beforeMs / 1000)
    return plan
  }

  /** Where messages of the time asked for are, newest first. */
  #ranges({ afterMs, beforeMs }: SearchOptions): readonly Range[] {
    const all = this.#connection.statement(ALL_IDS).get() as Range
    if (afterMs === undefined && beforeMs === undefined) return [all]
    const blocks = this.#connection
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

  /** `null` when it was deleted since it was found. */
  #hit(id: number, terms: readonly SearchTerm[]): SearchHit | null {
    const row = this.#connection.statement(HIT).get(id) as HitRow | undefined
    if (!row) return null
    const { session_id, timestamp } = row
    const place = { id, session_id, timestamp }
    const context = (sql: string) => (this.#connection.statement(sql).get(place) ?? null) as SearchHit['before']
    return {
      sessionId: row.session_id,
      seq: id,
      role: row.role,
      atMs: Math.round(row.timestamp * 1000),
      snippet: makeSnippet([row.content, row.tool_calls, row.tool_name], terms),
      title: row.title,
      source: row.source,
      model: row.model,
      sessionStartedAtMs: Math.round(row.started_at * 1000),
      before: context(BEFORE),
      after: context(AFTER),
    }
  }
}

function addCondition(plan: Plan, sql: string, parameter: string | number): void {
  plan.conditions += ` AND ${sql}`
  plan.parameters.push(parameter)
}

/** The ranges in pieces that take a few milliseconds each. */
function* inSteps(ranges: readonly Range[]): Generator<Range> {
  for (const { low, high } of ranges) {
    for (let to = high; to >= low; to -= STEP_IDS) yield { low: Math.max(low, to - STEP_IDS + 1), high: to }
  }
}

function list(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}
