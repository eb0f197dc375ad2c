import type { ReadMessage, TermHits } from '../../shared/any-words.js'
import { AnyWords, HITS_PER_WORD, MAX_CHARS_READ } from '../../shared/any-words.js'
import type { Facet, IndexedMessage } from '../../shared/index-text.js'
import { facetWord, hasWordWith } from '../../shared/index-text.js'
import { personIn, personKey } from '../../shared/person.js'
import type { AnyTerm, LooseQuery, SearchQuery, SearchTerm } from '../../shared/search-query.js'
import { parseSearchQuery } from '../../shared/search-query.js'
import { makeSnippet } from '../../shared/snippet.js'
import type { WordPart } from '../../shared/word-parts.js'
import type { SearchHit, SearchOptions } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import { DatabaseThread } from '../file/database-thread.js'
import { BLOCK_IDS } from '../schema/schema-sql.js'
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
const neighbour = (comparison: '<' | '>', order: 'DESC' | 'ASC') => `(
  SELECT json_object('seq', n.id, 'role', n.role, 'text', substr(coalesce(n.content, ''), 1, ${CONTEXT_CHARS})) FROM messages n
  WHERE n.session_id = m.session_id AND (n.timestamp, n.id) ${comparison} (m.timestamp, m.id)
  ORDER BY n.timestamp ${order}, n.id ${order} LIMIT 1)`
const HITS = `
  SELECT m.id, m.session_id, m.role, m.timestamp, m.content, m.tool_calls, m.tool_name, s.title, s.source, s.model, s.started_at,
    ${neighbour('<', 'DESC')} AS before, ${neighbour('>', 'ASC')} AS after
  FROM json_each(?) wanted CROSS JOIN messages m ON m.id = wanted.value CROSS JOIN sessions s ON s.id = m.session_id
  ORDER BY wanted.key`
const beginning = (column: string) => `substr(m.${column}, 1, ${MAX_CHARS_READ}) AS ${column}`
const READ = `
  SELECT m.id, ${beginning('content')}, m.tool_name, ${beginning('tool_calls')},
    coalesce(length(m.content), 0) + coalesce(length(m.tool_calls), 0) AS chars
  FROM json_each(?) wanted CROSS JOIN messages m ON m.id = wanted.value CROSS JOIN sessions s ON s.id = m.session_id
  WHERE 1`
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
  /** JSON; `null` for the first and the last of a session. */
  readonly before: string | null
  readonly after: string | null
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
    const words = new AnyWords(await this.#hitsOf(plan, query.any, range), range)
    const parameters = [JSON.stringify(words.candidates()), ...plan.parameters]
    const messages = await this.#rows<ReadMessage>(plan, `${READ} ${plan.conditions}`, parameters)
    return (await words.rank(messages)).slice(0, limit)
  }

  /**
   * The newest messages with each word. Facets are in half of all messages, and going through them takes ten times as long as the word itself:
   * for all rare words it is done once.
   */
  async #hitsOf(plan: SearchPlan, terms: readonly AnyTerm[], { low, high }: Range): Promise<readonly TermHits[]> {
    const newest = (expression: string, limit = HITS_PER_WORD) =>
      this.#answer(plan, NEWEST_WITH, [expression, low, high, limit])
    const hits = await Promise.all(
      terms.map(async (term): Promise<TermHits> => ({ term, ids: await newest(`(${term.expression})`) })),
    )
    if (plan.facets === '') return hits
    const rare = hits.filter(({ ids }) => ids.length > 0 && ids.length < HITS_PER_WORD)
    const anyRare = rare.map(({ term }) => `(${term.expression})`).join(' OR ')
    const passed = new Set(
      rare.length === 0 ? [] : await newest(`(${anyRare})${plan.facets}`, rare.length * HITS_PER_WORD),
    )
    return Promise.all(
      hits.map(async ({ term, ids }) => {
        const isCommon = ids.length === HITS_PER_WORD
        const left = isCommon ? await newest(`(${term.expression})${plan.facets}`) : ids.filter((id) => passed.has(id))
        return { term, ids: left }
      }),
    )
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

  /** Without those that were deleted since they were found. */
  async #hits(ids: readonly number[], { terms }: SearchQuery): Promise<SearchHit[]> {
    if (ids.length === 0) return []
    const isLong = await this.#connection.read(() => isLarge(this.#connection))
    const rows = await this.#rows<HitRow>({ isLong }, HITS, [JSON.stringify(ids)])
    return rows.map((row) => toHit(row, terms))
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

  /** As {@link #answer}, all columns: in a large store what is read is far apart on the disk. */
  #rows<Row extends object>(
    { isLong }: Pick<SearchPlan, 'isLong'>,
    sql: string,
    parameters: readonly (string | number)[],
  ): Promise<Row[]> {
    if (isLong) return this.#thread.rows<Row>(sql, parameters)
    return this.#connection.read(() => this.#connection.statement(sql).all(...parameters) as Row[])
  }
}

function toHit(row: HitRow, terms: readonly SearchTerm[]): SearchHit {
  const neighbour = (text: string | null) => (text === null ? null : (JSON.parse(text) as SearchHit['before']))
  return {
    sessionId: row.session_id,
    seq: row.id,
    role: row.role,
    atMs: Math.round(row.timestamp * 1000),
    snippet: makeSnippet([row.content, row.tool_calls, row.tool_name], terms),
    title: row.title,
    source: row.source,
    model: row.model,
    sessionStartedAtMs: Math.round(row.started_at * 1000),
    before: neighbour(row.before),
    after: neighbour(row.after),
  }
}

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}

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
interface Range {
  readonly low: number
  readonly high: number
}

/** A search made ready: what the index is asked, and what is then checked in the tables. */
interface SearchPlan {
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

/** Whether what is looked for may take long; where nothing else may open the file, it is done here all the same. */
function isLarge(connection: Connection): boolean {
  const { low, high } = connection.statement(ALL_IDS).get() as Range
  return high - low > MAX_IDS_AT_ONCE && !connection.isAlone
}

/** `null` when a filter lets nothing through. */
function planSearch(connection: Connection, query: SearchQuery, options: SearchOptions): SearchPlan | null {
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
  const plan: SearchPlan = {
    expression: `(${query.expression})`,
    loose,
    facets: '',
    size,
    conditions: '',
    parameters: [],
    isLong: isLarge(connection) || (size > MAX_WORDS_AT_ONCE && !connection.isAlone),
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
function rangesOf(connection: Connection, { afterMs, beforeMs }: SearchOptions): readonly Range[] {
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
