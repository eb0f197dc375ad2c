import { silentLogger, systemClock } from '@hermes/contracts'
import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Database, Work } from '../shared/database.js'
import { processIdentity } from '../shared/process-identity.js'
import type { LaterTable, Tables } from '../shared/tables.js'
import type { PostgresOptions, Storage } from '../storage.js'
import { storedApprovals, storedQuestions } from '../stores/approvals.js'
import { AuditTrail } from '../stores/audit.js'
import { JobQueue } from '../stores/jobs.js'
import { LearningStore } from '../stores/learnings.js'
import { MetaTable } from '../stores/meta.js'
import { OutboxStore } from '../stores/outbox.js'
import { SummaryStore } from '../stores/summaries.js'
import { UsageStore } from '../stores/usage.js'
import { PostgresMaintenance } from './maintenance.js'
import { migrate } from './schema/migrate.js'
import { PostgresSearch } from './search/search.js'
import { PostgresSummaryIndex } from './search/summary-index.js'
import { Connection } from './server/connection.js'
import { readServerAddress } from './server/server-address.js'
import { StoredInbox } from './sessions/inbox.js'
import { PostgresLeases } from './sessions/leases.js'
import { PostgresLog } from './sessions/log.js'
import { SessionRows } from './sessions/session-rows.js'
import { PostgresSessions } from './sessions/sessions.js'

/** The store on PostgreSQL. Loaded by `openStorage` when it is first called with a url. */
export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const { clock = systemClock, logger = silentLogger, owner = processIdentity() } = options
  const connection = new Connection({ address: readServerAddress(options.url), clock, logger })
  const serverMs = await migrate(connection).catch(async (error: unknown) => {
    await connection.close(async () => undefined)
    throw error
  })
  const aheadMs = Math.round(serverMs - clock.now())
  const serverClock = { now: () => clock.now() + aheadMs }
  const shared = { clock: serverClock, process: owner }
  const leases = new PostgresLeases(connection, {
    ...shared,
    taken: async (statements, lease) => {
      await rows.reopen(statements, lease.sessionId)
      await log.settle(statements, lease)
    },
  })
  const rows = new SessionRows({ clock, process: owner })
  const inbox = new StoredInbox(connection, shared)
  const database = new PostgresDatabase(connection)
  const usage = new UsageStore(database, async () => database, shared)
  const outbox = new OutboxStore(database, { clock, leaseClock: serverClock, process: owner })
  const log = new PostgresLog(connection, { leases, inbox, outbox, clock, rescueDirs: options.rescueDirs ?? [] })
  return {
    sessions: new PostgresSessions(connection, { database, rows, leases, log, clock, process: owner }),
    log,
    leases,
    inbox,
    outbox,
    search: new PostgresSearch(connection),
    approvals: storedApprovals(database),
    questions: storedQuestions(database),
    audit: new AuditTrail(database),
    usage,
    learnings: new LearningStore(database, { clock }),
    summaries: new SummaryStore(database, { clock, index: new PostgresSummaryIndex(connection) }),
    jobs: new JobQueue(database, { clock, leaseClock: serverClock, process: owner }),
    meta: new MetaTable(database, async () => outbox),
    maintenance: new PostgresMaintenance(connection, { database, clock, serverClock }),
    close: () =>
      connection.close(async (statements) => {
        await rows.endOwn(statements)
        await leases.releaseAll(statements)
        await statements.perform(usage.releaseAll())
      }),
  }
}

/** Built statements on a server. */
class PostgresDatabase implements Database {
  readonly dialect = 'postgres'
  readonly builder: Kysely<Tables>
  readonly sql = sql
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
    this.builder = connection.builder as unknown as Kysely<Tables>
  }

  read<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#connection.read((statements) => statements.perform(work()))
  }

  write<Result>(key: string, work: () => Work<Result>): Promise<Result> {
    return this.#connection.write(key, (statements) => statements.perform(work()))
  }

  *has(): Work<boolean> {
    yield* this.make()
    return true
  }

  /** All tables are made when the store is opened. */
  *make(): Work<void> {}

  *claim(table: LaterTable): Work<void> {
    yield { sql: `LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`, parameters: [] }
  }
}
