import { resolve } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import type { Database } from '../shared/database.js'
import { processIdentity } from '../shared/process-identity.js'
import type { SearchHit, SearchOptions, SessionSearch, SqliteOptions, Storage } from '../storage.js'
import type { OutboxStore } from '../stores/outbox.js'
import type { UsageStore } from '../stores/usage.js'
import type { Connection } from './file/connection.js'
import { isCheckDue, openDatabase } from './file/open-database.js'
import { SqliteMaintenance } from './maintenance.js'
import { perform } from './schema/perform.js'
import type { SqliteDatabase } from './schema/sqlite-database.js'
import type { Search } from './search/search.js'
import { WordIndex } from './search/word-index.js'
import { StoredInbox } from './sessions/inbox.js'
import { SqliteLeases } from './sessions/leases.js'
import { SqliteLog } from './sessions/log.js'
import { SessionRows } from './sessions/session-rows.js'
import { SqliteSessions } from './sessions/sessions.js'

/** The store on SQLite. Loaded by `openStorage` when it is first called. */
export async function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const { clock = systemClock, logger = silentLogger, owner = processIdentity(), rescueDirs = [] } = options
  const onNotice = options.onNotice ?? (() => undefined)
  const isDue = isCheckDue(resolve(options.path))
  const connection = await openDatabase(options)
  let loading: Promise<SqliteDatabase> | undefined
  const database = () =>
    (loading ??= import('./schema/sqlite-database.js').then((module) => new module.SqliteDatabase(connection)))
  const maintenance = new SqliteMaintenance(connection, { database, clock, logger, isCheckDue: isDue, onNotice })
  if (connection.isAlone) onNotice((await import('./file/open-alone.js')).aloneNotice(connection.path))
  const mine = { clock, process: owner }
  const taken = (sessionId: string) => {
    rows.reopen(sessionId)
    log.settle(sessionId)
  }
  const leases = new SqliteLeases(connection, { ...mine, taken })
  const rows = new SessionRows(connection, mine)
  const words = new WordIndex(connection, { logger })
  const inbox = new StoredInbox(connection, mine)
  let outboxLoading: Promise<OutboxStore> | undefined
  const outbox = () =>
    (outboxLoading ??= Promise.all([database(), import('../stores/outbox.js')]).then(
      ([db, module]) => new module.OutboxStore(db, mine),
    ))
  const log = new SqliteLog(connection, { leases, inbox, outbox, clock, rescueDirs, appended: () => words.schedule() })
  const search = new SqliteSearch(connection, words)
  const later = <Store extends object>(load: (db: Database) => Promise<Store>) =>
    onFirstUse(async () => load(await database()))
  let usage: UsageStore | undefined
  return {
    sessions: new SqliteSessions(connection, { ...mine, database, rows, leases, log }),
    log,
    leases,
    inbox,
    outbox: onFirstUse(outbox),
    search,
    approvals: later(async (db) => (await import('../stores/approvals.js')).storedApprovals(db)),
    questions: later(async (db) => (await import('../stores/approvals.js')).storedQuestions(db)),
    audit: later(async (db) => new (await import('../stores/audit.js')).AuditTrail(db)),
    usage: onFirstUse(async () => {
      const [{ UsageStore }, { SqliteTables }] = await Promise.all([
        import('../stores/usage.js'),
        import('./schema/sqlite-tables.js'),
      ])
      return (usage = new UsageStore(new SqliteTables(connection), database, mine))
    }),
    learnings: later(async (db) => new (await import('../stores/learnings.js')).LearningStore(db, mine)),
    summaries: later(async (db) => {
      const { SqliteSummaryIndex } = await import('./search/summary-index.js')
      const index = new SqliteSummaryIndex(connection)
      return new (await import('../stores/summaries.js')).SummaryStore(db, { clock, index })
    }),
    jobs: later(async (db) => new (await import('../stores/jobs.js')).JobQueue(db, mine)),
    meta: later(async (db) => new (await import('../stores/meta.js')).MetaTable(db, outbox)),
    maintenance,
    close: async () => {
      await words.stop()
      await search.close()
      await connection.close(() => {
        rows.endOwn()
        leases.releaseAll()
        if (usage) perform(connection, usage.releaseAll())
        words.takeSome()
      })
    },
  }
}

/** An object whose methods all give promises, loaded by the first call of one of them. */
function onFirstUse<Loaded extends object>(load: () => Promise<Loaded>): Loaded {
  type Method = (...args: readonly unknown[]) => Promise<unknown>
  let loading: Promise<Loaded> | undefined
  const get = (_: Loaded, name: string | symbol): Method | undefined =>
    // Whoever awaits the object itself asks for this one.
    name === 'then'
      ? undefined
      : async (...args) => {
          const loaded = await (loading ??= load())
          return (loaded as Record<string | symbol, Method>)[name]!(...args)
        }
  return new Proxy({} as Loaded, { get })
}

/** Search on SQLite; what it takes is loaded by the first. */
class SqliteSearch implements SessionSearch {
  readonly #connection: Connection
  readonly #words: WordIndex
  #search: Promise<Search> | undefined

  constructor(connection: Connection, words: WordIndex) {
    this.#connection = connection
    this.#words = words
  }

  async find(query: string, options?: SearchOptions): Promise<readonly SearchHit[]> {
    this.#search ??= import('./search/search.js').then((module) => new module.Search(this.#connection, this.#words))
    return (await this.#search).find(query, options)
  }

  backlog(): Promise<number> {
    return this.#connection.read(() => this.#words.backlog())
  }

  async close(): Promise<void> {
    await (await this.#search)?.close()
  }
}
