import type { Clock } from '@hermes/contracts'
import type { SessionInfo } from '@hermes/contracts/store'
import { distance } from 'fastest-levenshtein'
import type { Compilable, SelectQueryBuilder } from 'kysely'
import type { PersonFilter } from '../learnings.js'
import { MARKS } from '../marks.js'
import type { EndSession, LatestSessionFilter, ListSessionsOptions, SessionResolution } from '../storage.js'
import type { Database, Outcome, Runner, Statement, Work } from './database.js'
import { all, first, run } from './database.js'
import type { LastWriter } from './lease-rules.js'
import { isAbandoned, PROCESS_GONE } from './lease-rules.js'
import { personIn, personKey } from './person.js'
import { unknownSession } from './session-errors.js'
import { relatedSessions } from './session-row.js'
import type { Tables } from './tables.js'
import { cleanTitle, isOfLineage, numberedTitle, splitTitle } from './title.js'

/** Sessions of agents that others started: nobody goes on with them, so they are listed by name of source only. */
const CHILDREN = 'subagent'

const DEFAULT_LIST_LIMIT = 20
const LAST_CHARACTER = '\u{10ffff}'

/** What sessions are chosen and sorted by, in the dialect's own statement for the rows. */
interface SessionColumns {
  readonly id: string
  readonly source: string
  readonly title: string | null
  readonly cwd: string | null
  readonly message_count: number | null
  readonly last_active_ms: number
}

/** What a dialect has of its own. */
interface DialectOptions<Row> {
  readonly runner: Runner
  /** Who this process is in leases. */
  readonly process: string
  readonly clock: Pick<Clock, 'now'>
  /** The clock that leases are dated by. */
  readonly leaseClock: Pick<Clock, 'now'>
  /** The column with the time of the end, and how many milliseconds its unit has. */
  readonly ended: { readonly column: string; readonly unitMs: number }
  /** Loads the builder, once. */
  readonly database: () => Promise<Database>
  /** The statement that gives all sessions. */
  readonly rows: string
  /** The column with the time of the start. */
  readonly started: string
  readonly toInfo: (row: Row) => SessionInfo
  /** Within a write. @throws HermesError `store.session_busy` while somebody alive holds the lease. */
  readonly requireFree: (id: string) => Work<void>
}

/** Sessions as they are found, sorted and removed, the same in every dialect; the newest activity comes first. */
export abstract class FoundSessions<Row> implements SessionLookup {
  readonly #options: DialectOptions<Row>

  constructor(options: DialectOptions<Row>) {
    this.#options = options
  }

  abstract get(id: string): Promise<SessionInfo | null>

  list(options: ListSessionsOptions = {}): Promise<readonly SessionInfo[]> {
    const { source, tag, limit = DEFAULT_LIST_LIMIT, offset = 0, includeEmpty = false } = options
    const hidden = options.includeArchived || tag === MARKS.archived ? [] : [MARKS.archived]
    const unwanted = options.withoutTag === undefined ? hidden : [...hidden, options.withoutTag]
    return this.#infos(options, (sessions, database) => {
      let query = ofSource(sessions, source).limit(wholeNumber(limit)).offset(wholeNumber(offset))
      if (!includeEmpty) query = query.where('message_count', '>', 0)
      if (tag !== undefined) query = query.where('id', 'in', tagged(database, [tag]))
      return unwanted.length === 0 ? query : query.where('id', 'not in', tagged(database, unwanted))
    })
  }

  async latest({
    source,
    cwd,
    includeArchived = false,
    ...filter
  }: LatestSessionFilter = {}): Promise<SessionInfo | null> {
    const newest = await this.#infos(filter, (sessions, database) => {
      const query = ofSource(sessions, source)
        .where('message_count', '>', 0)
        .where('id', 'not in', tagged(database, includeArchived ? [] : [MARKS.archived]))
        .limit(1)
      return cwd === undefined ? query : query.where('cwd', '=', cwd)
    })
    return newest[0] ?? null
  }

  async folders({ includeArchived = false } = {}): Promise<readonly string[]> {
    const database = await this.#options.database()
    const query = this.#sessions(database)
      .select('cwd')
      .where('source', '<>', CHILDREN)
      .where('message_count', '>', 0)
      .where('cwd', 'is not', null)
      .where('id', 'not in', tagged(database, includeArchived ? [] : [MARKS.archived]))
      .groupBy('cwd')
      .orderBy(database.sql`max(last_active_ms)`, 'desc')
    return (await database.read(() => all(query))).map(({ cwd }) => cwd!)
  }

  resolve(text: string, filter?: PersonFilter): Promise<SessionResolution> {
    return resolveSession(this, text, filter)
  }

  nextTitle(base: string): Promise<string> {
    return nextTitle(this, base)
  }

  async lineage(base: string, filter: PersonFilter = {}): Promise<readonly SessionInfo[]> {
    const named = await this.#infos(filter, (sessions) =>
      sessions.where((where) =>
        where.or([
          where('title', '=', base),
          where.and([where('title', '>=', `${base} #`), where('title', '<', `${base} #:`)]),
        ]),
      ),
    )
    return named.filter(({ title }) => isOfLineage(title, base))
  }

  withPrefix(prefix: string, limit: number, filter: PersonFilter = {}): Promise<readonly SessionInfo[]> {
    return this.#infos(filter, (sessions) =>
      sessions
        .where('id', '>=', prefix)
        .where('id', '<', prefix + LAST_CHARACTER)
        .limit(limit),
    )
  }

  ancestors(id: string): Promise<readonly SessionInfo[]> {
    return this.#related(id, 'ancestors')
  }

  descendants(id: string): Promise<readonly SessionInfo[]> {
    return this.#related(id, 'descendants')
  }

  async tags(id: string): Promise<readonly string[]> {
    const database = await this.#options.database()
    const query = database.builder.selectFrom('hermes_tags').select('tag').where('session_id', '=', id).orderBy('tag')
    return (await database.read(() => all(query))).map(({ tag }) => tag)
  }

  async setTags(id: string, tags: readonly string[]): Promise<void> {
    const database = await this.#options.database()
    const { builder } = database
    const rows = [...new Set(tags)].map((tag) => ({ tag, session_id: id }))
    await database.write(`session ${id}`, function* () {
      if (!(yield* exists(database, id))) throw unknownSession(id)
      yield* run(builder.deleteFrom('hermes_tags').where('session_id', '=', id))
      if (rows.length > 0) yield* run(builder.insertInto('hermes_tags').values(rows))
    })
  }

  async delete(id: string): Promise<boolean> {
    const { database: load, requireFree } = this.#options
    const database = await load()
    return database.write(`session ${id}`, function* () {
      if (!(yield* exists(database, id))) return false
      yield* requireFree(id)
      yield* deleteSessions(database, [id])
      return true
    })
  }

  /** The counter that numbers come from stays where it is, so none is used twice. What the session cost stays with it. */
  async clear(id: string): Promise<void> {
    const { database: load, requireFree } = this.#options
    const database = await load()
    const { builder } = database
    await database.write(`session ${id}`, function* () {
      if (!(yield* exists(database, id))) throw unknownSession(id)
      yield* requireFree(id)
      yield* run(builder.deleteFrom('messages').where('session_id', '=', id))
      yield* run(builder.deleteFrom('hermes_entries').where('session_id', '=', id))
      const empty = { message_count: 0, tool_call_count: 0, system_prompt: null }
      yield* run(builder.updateTable('sessions').set(empty).where('id', '=', id))
      if (yield* database.has('hermes_summaries'))
        yield* run(builder.deleteFrom('hermes_summaries').where('session_id', '=', id))
    })
  }

  async end(id: string, { reason, atMs = this.#options.clock.now() }: EndSession): Promise<void> {
    const { runner, process, ended } = this.#options
    // One that another process wrote since is not over.
    const sql = `${endOf(ended)} AND NOT EXISTS (SELECT 1 FROM hermes_leases WHERE session_id = sessions.id AND process <> ?)`
    await runner.write(`session ${id}`, () => work({ sql, parameters: [atMs / ended.unitMs, reason, id, process] }))
  }

  async endAbandoned(): Promise<readonly string[]> {
    const { runner, clock, leaseClock, process, ended } = this.#options
    const sql = `${LAST_WRITERS} WHERE s.${ended.column} IS NULL AND l.process <> ?`
    const { rows } = await runner.read(() => work({ sql, parameters: [process] }))
    const nowMs = leaseClock.now()
    const aheadMs = nowMs - clock.now()
    const done: string[] = []
    for (const writer of (rows as readonly Writer[]).filter((one) => isAbandoned(one, nowMs))) {
      const { session_id: id, renewed_ms } = writer
      const at = (renewed_ms - aheadMs) / ended.unitMs
      // Whoever wrote it meanwhile has a row of another time.
      const isSame =
        'EXISTS (SELECT 1 FROM hermes_leases WHERE session_id = sessions.id AND process = ? AND renewed_ms = ?)'
      const end = `${endOf(ended)} AND ${isSame}`
      const parameters = [at, PROCESS_GONE, id, writer.process, renewed_ms]
      const changed = await runner.write(`session ${id}`, () => work({ sql: end, parameters }))
      if (changed.changes === 1) done.push(id)
    }
    return done
  }

  async #related(id: string, direction: 'ancestors' | 'descendants'): Promise<readonly SessionInfo[]> {
    const { rows, started } = this.#options
    const sql = relatedSessions({ rows, started: `sessions.${started}` })[direction]
    const found = await this.#options.runner.read(() => work({ sql, parameters: [id] }))
    return found.rows.map((row) => this.#options.toInfo(row as Row))
  }

  async #infos(
    { person }: PersonFilter,
    build: (sessions: Sorted, database: Database) => Compilable,
  ): Promise<readonly SessionInfo[]> {
    const database = await this.#options.database()
    const { sql } = database
    const newestFirst = this.#sessions(database)
      .selectAll()
      .orderBy('last_active_ms', 'desc')
      .orderBy(sql.ref(this.#options.started), 'desc')
      .orderBy('id', 'desc')
    const theirs =
      person === undefined ? newestFirst : newestFirst.where(sql.raw(personIn('user_id')), '=', personKey(person))
    const rows = await database.read(() => all(build(theirs, database)))
    return rows.map((row) => this.#options.toInfo(row as Row))
  }

  #sessions({ builder, sql }: Database) {
    return builder.selectFrom(sql<SessionColumns>`(${sql.raw(this.#options.rows)})`.as('session'))
  }
}

type Writer = LastWriter & { readonly session_id: string }

const LAST_WRITERS = `
  SELECT l.session_id, l.process, l.ttl_ms, l.renewed_ms FROM hermes_leases l JOIN sessions s ON s.id = l.session_id`

const endOf = ({ column }: { readonly column: string }) =>
  `UPDATE sessions SET ${column} = ?, end_reason = ? WHERE id = ? AND ${column} IS NULL`

/** One statement. */
function* work(statement: Statement): Work<Outcome> {
  return yield statement
}

/** Ids of the sessions with any of some tags. */
function tagged({ builder }: Database, tags: readonly string[]) {
  return builder.selectFrom('hermes_tags').select('session_id').where('tag', 'in', tags)
}

type Sorted = SelectQueryBuilder<Tables & { session: SessionColumns }, 'session', SessionColumns>

function ofSource(sessions: Sorted, source: string | undefined): Sorted {
  return source === undefined ? sessions.where('source', '<>', CHILDREN) : sessions.where('source', '=', source)
}

function* exists({ builder }: Database, id: string): Work<boolean> {
  return (yield* first(builder.selectFrom('sessions').select('id').where('id', '=', id))) !== undefined
}

/** Within a write. What descends from them stays. */
export function* deleteSessions({ builder }: Database, ids: readonly string[]): Work<void> {
  yield* run(builder.updateTable('sessions').set({ parent_session_id: null }).where('parent_session_id', 'in', ids))
  yield* run(builder.deleteFrom('messages').where('session_id', 'in', ids))
  yield* run(builder.deleteFrom('sessions').where('id', 'in', ids))
}

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}

const MAX_CANDIDATES = 10
const MAX_NEAREST = 3
const NEAREST_AMONG = 500

/** What is asked of a store to find a session by what a person calls it. */
interface SessionLookup {
  get(id: string): Promise<SessionInfo | null>
  /** Newest activity first. */
  list(options: ListSessionsOptions): Promise<readonly SessionInfo[]>
  /** `base` and `base #2`, `base #3` …, newest activity first. */
  lineage(base: string, filter?: PersonFilter): Promise<readonly SessionInfo[]>
  /** Sessions whose id begins with `prefix`, newest activity first. */
  withPrefix(prefix: string, limit: number, filter?: PersonFilter): Promise<readonly SessionInfo[]>
}

/** What a person means by `text`. */
async function resolveSession(
  lookup: SessionLookup,
  text: string,
  filter: PersonFilter = {},
): Promise<SessionResolution> {
  const sameId = await lookup.get(text)
  if (sameId && (filter.person === undefined || sameId.person === filter.person))
    return { type: 'found', session: sameId }
  const lineage = await lookup.lineage(text, filter)
  const exact = lineage.find(({ title }) => title === text) ?? (lineage.length === 1 ? lineage[0] : undefined)
  if (exact) return { type: 'found', session: exact }
  if (lineage.length > 1) return { type: 'ambiguous', candidates: lineage.slice(0, MAX_CANDIDATES) }
  const candidates = text === '' ? [] : await lookup.withPrefix(text, MAX_CANDIDATES, filter)
  if (candidates.length === 1) return { type: 'found', session: candidates[0]! }
  if (candidates.length > 1) return { type: 'ambiguous', candidates }
  return { type: 'none', nearest: await nearest(lookup, text.toLowerCase(), filter) }
}

/** The first title of the lineage of `base` that no session has. */
async function nextTitle(lookup: Pick<SessionLookup, 'lineage'>, base: string): Promise<string> {
  const root = splitTitle(cleanTitle(base) ?? '').base
  const numbers = (await lookup.lineage(root)).map(({ title }) => splitTitle(title ?? '').number)
  if (numbers.length === 0) return root
  let number = Math.max(...numbers) + 1
  // A long base is cut to fit its number, and then another lineage may be in the way.
  while ((await lookup.lineage(numberedTitle(root, number))).length > 0) number++
  return numberedTitle(root, number)
}

async function nearest(lookup: SessionLookup, wanted: string, filter: PersonFilter): Promise<readonly SessionInfo[]> {
  const sessions = await lookup.list({ ...filter, limit: NEAREST_AMONG, includeEmpty: true, includeArchived: true })
  return sessions
    .map((session) => ({ session, far: howFar(wanted, session) }))
    .sort((left, right) => left.far - right.far)
    .slice(0, MAX_NEAREST)
    .map(({ session }) => session)
}

function howFar(wanted: string, { id, title }: SessionInfo): number {
  const names = title === null ? [id.toLowerCase()] : [id.toLowerCase(), title.toLowerCase()]
  if (wanted !== '' && names.some((name) => name.includes(wanted))) return 0
  return Math.min(...names.map((name) => distance(wanted, name)))
}
