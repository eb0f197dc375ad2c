import { resolve } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import { onFirstUse } from '../shared/on-first-use.js'
import { processIdentity } from '../shared/process-identity.js'
import type { SqliteOptions, Storage } from '../storage.js'
import { StoredApprovals } from './books/approvals.js'
import { AuditTrail } from './books/audit.js'
import { MetaTable } from './books/meta.js'
import { UsageStore } from './books/usage.js'
import { isCheckDue, openDatabase } from './file/open-database.js'
import { SqliteMaintenance } from './maintenance.js'
import { SqliteSearch } from './search/stored-search.js'
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
  const maintenance = new SqliteMaintenance(connection, { clock, logger, isCheckDue: isDue, onNotice })
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
  const log = new SqliteLog(connection, { leases, inbox, clock, rescueDirs, appended: () => words.schedule() })
  const search = new SqliteSearch(connection, words)
  const usage = new UsageStore(connection, mine)
  return {
    sessions: new SqliteSessions(connection, { ...mine, rows, leases, log }),
    log,
    leases,
    inbox,
    search,
    approvals: new StoredApprovals(connection),
    audit: new AuditTrail(connection),
    usage,
    learnings: onFirstUse(async () => new (await import('./books/learning-store.js')).LearningStore(connection, mine)),
    summaries: onFirstUse(async () => new (await import('./books/summary-store.js')).SummaryStore(connection, mine)),
    jobs: onFirstUse(async () => new (await import('./books/job-queue.js')).JobQueue(connection, mine)),
    meta: new MetaTable(connection),
    maintenance,
    close: async () => {
      await words.stop()
      await search.close()
      await connection.close(() => {
        rows.endOwn()
        leases.releaseAll()
        usage.releaseAll()
        words.takeSome()
      })
    },
  }
}
