import { type Clock, HermesError } from '@hermes/contracts'
import type { NewSession, SessionInfo, SessionStore } from '@hermes/contracts/store'
import { distance } from 'fastest-levenshtein'
import { sql } from 'kysely'
import type { LatestSessionFilter, ListSessionsOptions, SessionResolution } from '../storage.js'
import type { Connection } from './connection.js'
import type { Leases } from './leases.js'
import { selectNewestSessions, selectSessions, toSessionInfo } from './session-queries.js'
import { unknownSession } from './store-error.js'
import { cleanTitle, numberedTitle, splitTitle } from './title.js'

const DEFAULT_LIMIT = 20
const MAX_CANDIDATES = 10
const MAX_NEAREST = 3
const NEAREST_AMONG = 500
const LAST_CHARACTER = '\u{10ffff}'

type SessionChange = Parameters<SessionStore['updateSession']>[1]

/** The sessions themselves: made, changed, listed, found, removed. */
export class Sessions {
  readonly #connection: Connection
  readonly #leases: Leases
  readonly #clock: Clock

  constructor(connection: Connection, options: { readonly leases: Leases; readonly clock: Clock }) {
    this.#connection = connection
    this.#leases = options.leases
    this.#clock = options.clock
  }

  create(session: NewSession): Promise<SessionInfo> {
    return this.#connection.write(() => {
      if (this.#find(session.id)) {
        throw new HermesError(`Session ${session.id} exists already.`, {
          code: 'store.session_exists',
          details: { sessionId: session.id },
        })
      }
      const parent = session.parentSessionId ?? null
      if (parent !== null && !this.#find(parent)) throw unknownSession(parent)
      this.#insert(session, session.title === undefined ? null : this.#freeTitle(session.title, session.id))
      return this.#find(session.id)!
    })
  }

  get(id: string): Promise<SessionInfo | null> {
    return this.#connection.read(() => this.#find(id))
  }

  update(id: string, change: SessionChange): Promise<void> {
    return this.#connection.write(() => {
      if (!this.#find(id)) throw unknownSession(id)
      const { title, endedAtMs, endReason, model, provider } = change
      const set = {
        ...(title === undefined ? {} : { title: title === null ? null : this.#freeTitle(title, id) }),
        ...(endedAtMs === undefined ? {} : { ended_at: endedAtMs === null ? null : endedAtMs / 1000 }),
        ...(endReason === undefined ? {} : { end_reason: endReason }),
        ...(model === undefined ? {} : { model }),
        ...(provider === undefined ? {} : { billing_provider: provider }),
      }
      if (Object.keys(set).length === 0) return
      this.#connection.rows(this.#connection.query.updateTable('sessions').set(set).where('id', '=', id))
    })
  }

  list(options: ListSessionsOptions = {}): Promise<readonly SessionInfo[]> {
    const { source, limit = DEFAULT_LIMIT, offset = 0, includeEmpty = false } = options
    return this.#connection.read(() => {
      let query = selectNewestSessions(this.#connection.query).limit(wholeNumber(limit)).offset(wholeNumber(offset))
      if (source !== undefined) query = query.where('source', '=', source)
      if (!includeEmpty) query = query.where('message_count', '>', 0)
      return this.#connection.rows(query).map(toSessionInfo)
    })
  }

  latest({ source, cwd }: LatestSessionFilter = {}): Promise<SessionInfo | null> {
    return this.#connection.read(() => {
      let query = selectNewestSessions(this.#connection.query).where('message_count', '>', 0).limit(1)
      if (source !== undefined) query = query.where('source', '=', source)
      if (cwd !== undefined) query = query.where('hermes_sessions.cwd', '=', cwd)
      return this.#connection.rows(query).map(toSessionInfo)[0] ?? null
    })
  }

  resolve(text: string): Promise<SessionResolution> {
    return this.#connection.read(() => {
      const exact = this.#find(text) ?? this.#newestOfLineage(text)
      if (exact) return { type: 'found', session: exact }
      const candidates = text === '' ? [] : this.#withPrefix(text)
      if (candidates.length === 1) return { type: 'found', session: candidates[0]! }
      if (candidates.length > 1) return { type: 'ambiguous', candidates }
      return { type: 'none', nearest: this.#nearest(text) }
    })
  }

  delete(id: string): Promise<boolean> {
    return this.#connection.write(() => {
      if (!this.#find(id)) return false
      this.#leases.requireFree(id)
      const { query } = this.#connection
      this.#connection.rows(
        query.updateTable('sessions').set({ parent_session_id: null }).where('parent_session_id', '=', id),
      )
      this.#connection.rows(query.deleteFrom('messages').where('session_id', '=', id))
      this.#connection.rows(query.deleteFrom('sessions').where('id', '=', id))
      return true
    })
  }

  nextTitle(base: string): Promise<string> {
    return this.#connection.read(() => {
      const root = splitTitle(cleanTitle(base) ?? '').base
      const numbers = this.#lineage(root).map(({ title }) => splitTitle(title!).number)
      if (numbers.length === 0) return root
      // A long base is cut to fit, and then other lineages may be in the way.
      let number = Math.max(...numbers) + 1
      while (this.#lineage(numberedTitle(root, number)).length > 0) number++
      return numberedTitle(root, number)
    })
  }

  #insert(session: NewSession, title: string | null): void {
    const nowMs = this.#clock.now()
    const { query } = this.#connection
    this.#connection.rows(
      query.insertInto('sessions').values({
        id: session.id,
        source: session.source,
        user_id: session.userId ?? null,
        model: session.model ?? null,
        billing_provider: session.provider ?? null,
        parent_session_id: session.parentSessionId ?? null,
        started_at: nowMs / 1000,
        title,
      }),
    )
    this.#connection.rows(
      query
        .insertInto('hermes_sessions')
        .values({ session_id: session.id, cwd: session.cwd ?? null, last_active_ms: nowMs }),
    )
  }

  #find(id: string): SessionInfo | null {
    const rows = this.#connection.rows(selectSessions(this.#connection.query).where('sessions.id', '=', id))
    return rows.map(toSessionInfo)[0] ?? null
  }

  #freeTitle(title: string, forId: string): string | null {
    const clean = cleanTitle(title)
    if (clean === null) return null
    const { query } = this.#connection
    const [taken] = this.#connection.rows(
      query.selectFrom('sessions').select('id').where('title', '=', clean).where('id', '<>', forId),
    )
    if (!taken) return clean
    throw new HermesError(`Session ${taken.id} has the title "${clean}" already; choose another one.`, {
      code: 'store.title_taken',
      details: { sessionId: taken.id, title: clean },
    })
  }

  /** `base` and `base #2`, `base #3` …, newest activity first. */
  #lineage(base: string): SessionInfo[] {
    if (base === '') return []
    const query = selectNewestSessions(this.#connection.query).where((where) =>
      where.or([
        where('title', '=', base),
        where.and([where('title', '>=', `${base} #`), where('title', '<', `${base} #:`)]),
      ]),
    )
    return this.#connection
      .rows(query)
      .map(toSessionInfo)
      .filter(({ title }) => title === base || splitTitle(title!).base === base)
  }

  #newestOfLineage(title: string): SessionInfo | null {
    return this.#lineage(title)[0] ?? null
  }

  #withPrefix(prefix: string): SessionInfo[] {
    const query = selectNewestSessions(this.#connection.query)
      .where('sessions.id', '>=', prefix)
      .where('sessions.id', '<', prefix + LAST_CHARACTER)
      .limit(MAX_CANDIDATES)
    return this.#connection.rows(query).map(toSessionInfo)
  }

  #nearest(text: string): SessionInfo[] {
    const wanted = text.toLowerCase()
    const far = (session: SessionInfo) => {
      const title = session.title?.toLowerCase() ?? ''
      if (wanted !== '' && title.includes(wanted)) return 0
      return Math.min(distance(wanted, session.id.toLowerCase()), title === '' ? Infinity : distance(wanted, title))
    }
    const query = selectNewestSessions(this.#connection.query).limit(sql.lit(NEAREST_AMONG))
    return this.#connection
      .rows(query)
      .map((row) => ({ session: toSessionInfo(row), far: far(toSessionInfo(row)) }))
      .sort((left, right) => left.far - right.far)
      .slice(0, MAX_NEAREST)
      .map(({ session }) => session)
  }
}

function wholeNumber(value: number): number {
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : 0
}
