import { AnyWords, HITS_PER_WORD, type ReadMessage, type TermHits } from '../../shared/any-words.js'
import { hasWordWith, type IndexedMessage } from '../../shared/index-text.js'
import { parseSearchQuery, type SearchQuery, type SearchTerm } from '../../shared/search-query.js'
import { makeSnippet } from '../../shared/snippet.js'
import type { WordPart } from '../../shared/word-parts.js'
import type { SearchHit, SearchOptions } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import { DatabaseThread } from '../file/database-thread.js'
import { planSearch, type Range, rangesOf, type SearchPlan } from './search-plan.js'
import { TailIndex } from './tail-index.js'
import { Vocabulary } from './vocabulary.js'
import type { WordIndex } from './word-index.js'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100
const RANKED_HITS = 2_000
// So many hits of a loose query are read for each one that is wanted.
const LOOSE_HITS = 8
const BACKLOG_WAIT_MS = 2_000
const CONTEXT_CHARS = 200

const TEXTS = 'SELECT content, tool_name, tool_calls FROM messages WHERE id = ?'
const RANKED = `
  SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rank, rowid DESC`
const NEWEST_WITH = `
  SELECT rowid FROM messages_fts WHERE messages_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?`
const HIT = `
  SELECT m.id, m.session_id, m.role, m.timestamp, m.content, m.tool_calls, m.tool_name, s.title, s.source, s.model, s.started_at
  FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ?`
const neighbour = (comparison: '<' | '>', order: 'DESC' | 'ASC') => `
  SELECT id AS seq, role, substr(coalesce(content, ''), 1, ${CONTEXT_CHARS}) AS text FROM messages
  WHERE session_id = :session_id AND (timestamp, id) ${comparison} (:timestamp, :id) ORDER BY timestamp ${order}, id ${order} LIMIT 1`
const BEFORE = neighbour('<', 'DESC')
const AFTER = neighbour('>', 'ASC')
const CHECKED = 'CROSS JOIN messages m ON m.id = f.rowid CROSS JOIN sessions s ON s.id = m.session_id'

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

/** Finds messages. The index answers newest first; in a large store a thread of its own asks it. */
export class Search {
  readonly #connection: Connection
  readonly #words: WordIndex
  readonly #tailIndex: TailIndex
  readonly #thread: DatabaseThread
  readonly #vocabulary: Vocabulary

  constructor(connection: Connection, words: WordIndex) {
    this.#connection = connection
    this.#words = words
    this.#tailIndex = new TailIndex(connection)
    this.#thread = new DatabaseThread(connection.path)
    this.#vocabulary = new Vocabulary(connection, words)
  }

  async find(text: string, options: SearchOptions = {}): Promise<SearchHit[]> {
    const limit = Math.min(wholeNumber(options.limit ?? DEFAULT_LIMIT), MAX_LIMIT)
    const typed = parseSearchQuery(text)
    if (typed === null || limit === 0) return []
    const { parts, guesses } = typed
    const query = parts.length === 0 ? typed : await this.#withWords(text, parts)
    const ids = await this.#foundIds(query, options, limit)
    if (ids === null) return []
    const unheard = ids.length === 0 ? await this.#unheard(guesses) : []
    if (unheard.length === 0) return this.#hits(ids, query)
    const wider = await this.#withWords(text, [...parts, ...unheard])
    return this.#hits((await this.#ids(wider, options, limit)) ?? [], wider)
  }

  async close(): Promise<void> {
    await Promise.all([this.#thread.close(), this.#vocabulary.close()])
  }

  /** All words; where the best is wanted, any of them, since a question has words that its answer has not. `null` as in {@link #ids}. */
  async #foundIds(query: SearchQuery, options: SearchOptions, limit: number): Promise<readonly number[] | null> {
    const { any, isPlain } = query
    if (options.order !== 'relevance' || any.length === 0) return this.#ids(query, options, limit)
    if (isPlain && any.length > 1) return this.#anyIds(query, options, limit)
    const ids = await this.#ids(query, options, limit)
    return ids?.length === 0 ? this.#anyIds(query, options, limit) : ids
  }

  async #anyIds(query: SearchQuery, options: SearchOptions, limit: number): Promise<readonly number[] | null> {
    const plan = await this.#connection.read(() => planSearch(this.#connection, query, options))
    if (plan === null) return null
    await this.#catchUp()
    const ranges = await this.#connection.read(() => rangesOf(this.#connection, options))
    const range = { low: ranges.at(-1)?.low ?? 0, high: ranges[0]?.high ?? -1 }
    const hits: TermHits[] = []
    for (const term of query.any) {
      const parameters = [`(${term.expression})${plan.facets}`, range.low, range.high, HITS_PER_WORD]
      hits.push({ term, ids: await this.#answer(plan, NEWEST_WITH, parameters) })
    }
    const words = new AnyWords(hits, range)
    const read = `SELECT m.id, m.content, m.tool_name, m.tool_calls FROM messages m CROSS JOIN sessions s ON s.id = m.session_id
      WHERE m.id IN (SELECT value FROM json_each(?)) ${plan.conditions}`
    const parameters = [JSON.stringify(words.candidates()), ...plan.parameters]
    const messages = await this.#connection.read(
      () => this.#connection.statement(read).all(...parameters) as ReadMessage[],
    )
    return words.rank(messages).slice(0, limit)
  }

  /** Those that no message has as they are, whatever the filters. */
  async #unheard(guesses: readonly WordPart[]): Promise<readonly WordPart[]> {
    const found = await Promise.all(guesses.map(({ typed }) => this.#ids(parseSearchQuery(`"${typed}"`)!, {}, 1)))
    return guesses.filter((_, at) => found[at]?.length === 0)
  }

  async #withWords(text: string, parts: readonly WordPart[]): Promise<SearchQuery> {
    return parseSearchQuery(text, await this.#vocabulary.wordsOf(parts))!
  }

  /** `null` when a filter lets nothing through. */
  async #ids(query: SearchQuery, options: SearchOptions, limit: number): Promise<readonly number[] | null> {
    const plan = await this.#connection.read(() => planSearch(this.#connection, query, options))
    if (plan === null) return null
    const isRanked = options.order === 'relevance'
    const tail = isRanked ? await this.#catchUp() : await this.#tail(plan, limit)
    const newest = await this.#newest(plan, options, { wanted: isRanked ? RANKED_HITS : limit, first: tail })
    return (isRanked ? await this.#rank(plan, newest) : newest).slice(0, limit)
  }

  #hits(ids: readonly number[], { terms }: SearchQuery): Promise<SearchHit[]> {
    return this.#connection.read(() => ids.flatMap((id) => this.#hit(id, terms) ?? []))
  }

  /** Hits among messages that are not in the index yet. Where there is much of that, or it is old, it is taken in first. */
  async #tail(plan: SearchPlan, wanted: number): Promise<number[]> {
    if (await this.#connection.read(() => this.#words.isOutdated())) await this.#catchUp()
    if (!(await this.#connection.read(() => this.#tailIndex.refresh()))) return this.#catchUp()
    this.#words.schedule()
    const statement = `
      SELECT f.rowid FROM temp.hermes_tail f ${CHECKED}
      WHERE hermes_tail MATCH ? ${plan.conditions} ORDER BY f.rowid DESC LIMIT ?`
    const parameters = [plan.expression + plan.facets, ...plan.parameters, wanted]
    return this.#connection.read(() => this.#numbers(statement, parameters))
  }

  async #catchUp(): Promise<number[]> {
    await this.#words.catchUp({ backlogMs: BACKLOG_WAIT_MS })
    return []
  }

  /** From the end of the log on, after those found `first`. */
  async #newest(
    plan: SearchPlan,
    options: SearchOptions,
    { wanted, first }: { readonly wanted: number; readonly first: readonly number[] },
  ): Promise<number[]> {
    const ids = new Set(first)
    for (const range of await this.#connection.read(() => rangesOf(this.#connection, options))) {
      if (ids.size >= wanted) break
      const found = (await this.#inRangeLoosely(plan, range, wanted)) ?? (await this.#inRange(plan, range, wanted))
      for (const id of found) ids.add(id)
    }
    return [...ids]
  }

  #inRange(plan: SearchPlan, range: Range, wanted: number, expression = plan.expression): Promise<number[]> {
    const tables = plan.conditions === '' ? '' : CHECKED
    const statement = `
      SELECT f.rowid FROM messages_fts f ${tables}
      WHERE messages_fts MATCH ? AND f.rowid BETWEEN ? AND ? ${plan.conditions} ORDER BY f.rowid DESC LIMIT ?`
    const parameters = [expression + plan.facets, range.low, range.high, ...plan.parameters, wanted]
    return this.#answer(plan, statement, parameters)
  }

  /**
   * The index gathers all that begins with a long prefix before it gives the first hit. Where there is much of that, the newest hits
   * of a shorter prefix have enough of it. `null` when they have not.
   */
  async #inRangeLoosely(plan: SearchPlan, range: Range, wanted: number): Promise<number[] | null> {
    const { loose } = plan
    if (loose === null || wanted > MAX_LIMIT) return null
    const limit = wanted * LOOSE_HITS
    const candidates = await this.#inRange(plan, range, limit, `(${loose.expression})`)
    const found = await this.#connection.read(() => {
      const passed: number[] = []
      for (const id of candidates) {
        if (passed.length === wanted) break
        const row = this.#connection.statement(TEXTS).get(id) as IndexedMessage | undefined
        if (row && loose.prefixes.every((prefix) => hasWordWith(row, prefix))) passed.push(id)
      }
      return passed
    })
    return found.length === wanted || candidates.length < limit ? found : null
  }

  /** The best match first. */
  async #rank(plan: SearchPlan, ids: readonly number[]): Promise<number[]> {
    if (ids.length < 2) return [...ids]
    const ranked = await this.#answer(plan, RANKED, [plan.expression + plan.facets, ids.at(-1)!, ids[0]!])
    const known = new Set(ids)
    return ranked.filter((id) => known.has(id))
  }

  /** Where there is much to go through, the thread does. */
  #answer({ isLong }: SearchPlan, sql: string, parameters: readonly (string | number)[]): Promise<number[]> {
    if (isLong) return this.#thread.column(sql, parameters)
    return this.#connection.read(() => this.#numbers(sql, parameters))
  }

  #numbers(sql: string, parameters: readonly (string | number)[]): number[] {
    return this.#connection
      .statement(sql)
      .pluck()
      .all(...parameters) as number[]
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

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}
