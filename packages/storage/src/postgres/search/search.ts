import type { ReadMessage, TermHits } from '../../shared/any-words.js'
import { AnyWords, HITS_PER_WORD, MAX_CHARS_READ } from '../../shared/any-words.js'
import { personIn, personKey } from '../../shared/person.js'
import type { SearchQuery, SearchTerm } from '../../shared/search-query.js'
import { parseSearchQuery } from '../../shared/search-query.js'
import { makeSnippet } from '../../shared/snippet.js'
import type { WordPart, WordsOfParts } from '../../shared/word-parts.js'
import { likePattern, MAX_WORDS_OF_PART } from '../../shared/word-parts.js'
import type { SearchHit, SearchOptions, SessionSearch } from '../../storage.js'
import type { Connection } from '../server/connection.js'
import { CommonWords } from './common-words.js'
import { phrasesOf, toTsQuery } from './words.js'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100
const RANKED_HITS = 2_000
const CONTEXT_CHARS = 200
/** The messages with a word are fetched whatever their ids where there are so many at most; else the newest are, until there are enough. */
const FETCHED_AT_MOST = 20_000
const NEWEST_OF_COMMON = 300

const neighbour = (name: string, comparison: '<' | '>', order: 'DESC' | 'ASC') => `
  LEFT JOIN LATERAL (
    SELECT json_build_object('seq', n.id, 'role', n.role, 'text', left(coalesce(n.content, ''), ${CONTEXT_CHARS})) AS message
    FROM messages n WHERE n.session_id = m.session_id AND n.id ${comparison} m.id ORDER BY n.id ${order} LIMIT 1
  ) ${name} ON true`
/** Of found ids, in their order. */
const HITS = `
  SELECT m.id, m.session_id, m.role, m.at_ms, m.content, m.tool_calls, m.tool_name, s.title, s.source, s.model, s.started_ms,
    before.message AS before, after.message AS after
  FROM unnest($1::bigint[]) WITH ORDINALITY AS found(id, place)
  JOIN messages m ON m.id = found.id JOIN sessions s ON s.id = m.session_id
  ${neighbour('before', '<', 'DESC')} ${neighbour('after', '>', 'ASC')}
  ORDER BY found.place`

const ALL_IDS = 'SELECT coalesce(min(id), 0) AS low, coalesce(max(id), -1) AS high FROM messages'
// By the index of words before anything else: the server takes a filter by person for a strict one, and would go through all messages of all sessions.
const RARE = `
  WITH rare AS MATERIALIZED (SELECT id, session_id, role, at_ms FROM messages WHERE words @@ $1::tsquery)`
const READ = `
  SELECT id, left(content, ${MAX_CHARS_READ}) AS content, tool_name, left(tool_calls, ${MAX_CHARS_READ}) AS tool_calls,
    coalesce(length(content), 0) + coalesce(length(tool_calls), 0) AS chars
  FROM messages WHERE id = ANY ($1::bigint[])`

interface Newest {
  readonly limit: number
  /** With their words. Default `false`. */
  readonly isRanked?: boolean
  /** So few messages have the words that all are fetched by the index of words, and none by going through all ids. Default `false`. */
  readonly isRare?: boolean
}

interface HitRow {
  readonly id: number
  readonly session_id: string
  readonly role: string
  readonly at_ms: number
  readonly content: string | null
  readonly tool_calls: string | null
  readonly tool_name: string | null
  readonly title: string | null
  readonly source: string
  readonly model: string | null
  readonly started_ms: number
  readonly before: SearchHit['before']
  readonly after: SearchHit['after']
}

/** Finds messages by the word index, and inside words where no message has the word itself. */
export class PostgresSearch implements SessionSearch {
  readonly #connection: Connection
  readonly #common: CommonWords

  constructor(connection: Connection) {
    this.#connection = connection
    this.#common = new CommonWords(connection)
  }

  /** The words of a message are stored with it. */
  async backlog(): Promise<number> {
    return 0
  }

  async find(text: string, options: SearchOptions = {}): Promise<readonly SearchHit[]> {
    const limit = Math.min(wholeNumber(options.limit ?? DEFAULT_LIMIT), MAX_LIMIT)
    const typed = parseSearchQuery(text)
    if (typed === null || limit === 0) return []
    const { parts, guesses } = typed
    const query = parts.length === 0 ? typed : await this.#withWords(text, parts)
    const ids = await this.#foundIds(query, options, limit)
    const unheard = ids.length === 0 ? await this.#unheard(guesses) : []
    if (unheard.length === 0) return this.#hits(ids, query)
    const wider = await this.#withWords(text, [...parts, ...unheard])
    return this.#hits(await this.#found(wider, options, limit), wider)
  }

  /** All words; where the best is wanted, any of them, since a question has words that its answer has not. */
  async #foundIds(query: SearchQuery, options: SearchOptions, limit: number): Promise<readonly number[]> {
    const { any, isPlain } = query
    if (options.order !== 'relevance' || any.length === 0) return this.#found(query, options, limit)
    if (isPlain && any.length > 1) return this.#any(query, options, limit)
    const ids = await this.#found(query, options, limit)
    return ids.length === 0 ? this.#any(query, options, limit) : ids
  }

  /**
   * Words that many messages have take seconds to look up at a million messages. The rare ones find, or the rarest where there is none, and the
   * others count in what is read.
   */
  async #any(query: SearchQuery, options: SearchOptions, limit: number): Promise<readonly number[]> {
    const [shares, found] = await Promise.all([
      this.#common.shares(),
      this.#connection.read((statements) => statements.first<{ low: number; high: number }>(ALL_IDS)),
    ])
    const range = found!
    const counted = query.any.map((term) => {
      const share = term.forms.reduce((sum, form) => sum + (shares.get(form) ?? 0), 0)
      return { term, count: share * (range.high - range.low + 1) }
    })
    const most = Math.max(HITS_PER_WORD, Math.min(...counted.map(({ count }) => count)))
    const hits = counted.map(async ({ term, count }): Promise<TermHits> => {
      const known = count > HITS_PER_WORD ? { count } : {}
      if (count > most) return { term, ids: [], ...known }
      const isRare = count <= FETCHED_AT_MOST
      const wanted = { limit: isRare ? HITS_PER_WORD : NEWEST_OF_COMMON, isRare }
      const { sql, parameters } = newest(toTsQuery(term.expression), options, wanted)
      return { term, ids: await this.#ids(sql, parameters), ...known }
    })
    const words = new AnyWords(await Promise.all(hits), range)
    const candidates = words.candidates()
    const messages = await this.#connection.read((statements) => statements.all<ReadMessage>(READ, candidates))
    return (await words.rank(messages)).slice(0, limit)
  }

  /** Those that no message has as they are, whatever the filters. */
  async #unheard(guesses: readonly WordPart[]): Promise<readonly WordPart[]> {
    const found = await Promise.all(guesses.map(({ typed }) => this.#found(parseSearchQuery(`"${typed}"`)!, {}, 1)))
    return guesses.filter((_, at) => found[at]?.length === 0)
  }

  async #withWords(text: string, parts: readonly WordPart[]): Promise<SearchQuery> {
    return parseSearchQuery(text, await wordsOfParts(this.#connection, parts))!
  }

  async #found({ expression }: SearchQuery, options: SearchOptions, limit: number): Promise<readonly number[]> {
    const words = toTsQuery(expression)
    const phrases = phrasesOf(expression)
    if (options.order === 'relevance') return this.#best(words, phrases, options, limit)
    const { sql, parameters } = newest(words, options, { limit })
    return this.#ids(sql, parameters)
  }

  async #hits(ids: readonly number[], { terms }: SearchQuery): Promise<readonly SearchHit[]> {
    if (ids.length === 0) return []
    const rows = await this.#connection.read((statements) => statements.all<HitRow>(HITS, ids))
    return rows.map((row) => toHit(row, terms))
  }

  /**
   * The best match first among the newest: a message ranks by how often it has each word, and the more the fewer of them have that
   * word.
   */
  async #best(
    words: string,
    phrases: readonly string[],
    options: SearchOptions,
    limit: number,
  ): Promise<readonly number[]> {
    const { sql, parameters } = newest(words, options, { limit: RANKED_HITS, isRanked: true })
    const first = parameters.length + 1
    const rank = phrases.map((_, at) => {
      const term = `$${first + at}::tsquery`
      const rarity = `ln(1 + (1.0 + count(*) OVER ()) / (1 + count(*) FILTER (WHERE words @@ ${term}) OVER ()))`
      return `${rarity} * ts_rank(words, ${term}, 1)`
    })
    const ranked = `SELECT id FROM (${sql}) newest ORDER BY ${rank.join(' + ')} DESC, id DESC LIMIT ${limit}`
    return this.#ids(ranked, [...parameters, ...phrases])
  }

  #ids(sql: string, parameters: readonly unknown[]): Promise<readonly number[]> {
    return this.#connection.read(async (statements) =>
      (await statements.all<{ id: number }>(sql, ...parameters)).map(({ id }) => id),
    )
  }
}

/** The words of many messages are more than the wire carries in a while, so they are selected where they are ranked alone. */
function newest(words: string, options: SearchOptions, { limit, isRanked = false, isRare = false }: Newest) {
  const conditions = [isRare ? 'true' : 'm.words @@ $1::tsquery']
  const parameters: unknown[] = [words]
  const add = (sql: (place: string) => string, value: unknown) => {
    if (value === undefined) return
    parameters.push(value)
    conditions.push(sql(`$${parameters.length}`))
  }
  add((place) => `m.role = ANY (${place}::text[])`, list(options.role))
  add((place) => `s.source = ANY (${place}::text[])`, list(options.source))
  add((place) => `m.session_id = ANY (${place}::text[])`, list(options.sessionId))
  add((place) => `m.session_id IN (SELECT session_id FROM hermes_tags WHERE tag = ${place})`, options.tag)
  const key = options.person === undefined ? undefined : personKey(options.person)
  add((place) => `${personIn('s.user_id')} = ${place}`, key)
  add((place) => `s.source <> ALL (${place}::text[])`, options.excludeSources)
  add((place) => `m.session_id <> ALL (${place}::text[])`, options.excludeSessions)
  add((place) => `m.at_ms > ${place}`, options.afterMs)
  add((place) => `m.at_ms < ${place}`, options.beforeMs)
  const sql = `
    ${isRare ? RARE : ''} SELECT m.id${isRanked ? ', m.words' : ''} FROM ${isRare ? 'rare' : 'messages'} m JOIN sessions s ON s.id = m.session_id
    WHERE ${conditions.join(' AND ')} ORDER BY m.id DESC LIMIT ${limit}`
  return { sql, parameters }
}

function toHit(row: HitRow, terms: readonly SearchTerm[]): SearchHit {
  return {
    sessionId: row.session_id,
    seq: row.id,
    role: row.role,
    atMs: row.at_ms,
    snippet: makeSnippet([row.content, row.tool_calls, row.tool_name], terms),
    title: row.title,
    source: row.source,
    model: row.model,
    sessionStartedAtMs: row.started_ms,
    before: row.before,
    after: row.after,
  }
}

function list(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}

/** Words are gathered from so many of the newest messages that have the part. */
const MESSAGES = 2_000
/** The index of trigrams says which messages have the part. It covers the beginning of each, see the schema. */
const WORDS = `
  SELECT word FROM (
    SELECT words FROM messages WHERE left(content, 10000) ILIKE $1 ORDER BY id DESC LIMIT ${MESSAGES}
  ) newest, unnest(tsvector_to_array(newest.words)) word
  WHERE word LIKE $2 GROUP BY word ORDER BY count(*) DESC, word LIMIT ${MAX_WORDS_OF_PART}`

/** The words that have each of the parts, the most common ones of many. */
async function wordsOfParts(connection: Connection, parts: readonly WordPart[]): Promise<WordsOfParts> {
  const found = new Map<string, readonly string[]>()
  for (const part of parts) {
    const typed = `%${part.typed.replaceAll(/[\\%_]/g, '\\$&')}%`
    const words = await connection.read((statements) =>
      statements.all<{ word: string }>(WORDS, typed, likePattern(part)),
    )
    found.set(
      part.key,
      words.map(({ word }) => word),
    )
  }
  return found
}
