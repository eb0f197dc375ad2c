import { silentLogger, systemClock } from '@hermes/contracts'
import { processIdentity } from '../shared/process-identity.js'
import { orRescue } from '../shared/rescue.js'
import { nextTitle, resolveSession } from '../shared/resolve.js'
import type { PostgresOptions, Storage } from '../storage.js'
import { StoredApprovals } from './books/approvals.js'
import { AuditTrail } from './books/audit.js'
import { JobQueue } from './books/job-queue.js'
import { LearningStore } from './books/learning-store.js'
import { getMeta, setMeta } from './books/meta.js'
import { SummaryStore } from './books/summary-store.js'
import { UsageStore } from './books/usage.js'
import { UsageReservations } from './books/usage-reservations.js'
import { migrate } from './schema/migrate.js'
import { Search } from './search/search.js'
import { Connection } from './server/connection.js'
import { checkTables } from './server/health.js'
import { readServerAddress } from './server/server-address.js'
import { forkSession } from './sessions/fork.js'
import { StoredInbox } from './sessions/inbox.js'
import { Leases } from './sessions/leases.js'
import { Log } from './sessions/log.js'
import { pruneSessions } from './sessions/prune.js'
import { Sessions } from './sessions/sessions.js'
import { readStats } from './sessions/stats.js'

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
  const leases = new Leases(connection, { clock: serverClock, process: owner })
  const inbox = new StoredInbox(connection, { clock: serverClock, process: owner })
  const reservations = new UsageReservations(connection, { clock: serverClock, process: owner })
  const sessions = new Sessions(connection, { leases, clock, process: owner })
  const log = new Log(connection, { leases, inbox })
  const search = new Search(connection)
  return {
    createSession: (session) => sessions.create(session),
    getSession: (id) => sessions.find(id),
    updateSession: (id, change) => sessions.update(id, change),
    endSession: (id, end) => sessions.end(id, end),
    endAbandonedSessions: () => sessions.endAbandoned(),
    deleteSession: (id) => sessions.delete(id),
    clearSession: (id) => sessions.clear(id),
    listSessions: (filter) => sessions.list(filter),
    latestSession: (filter) => sessions.latest(filter),
    folders: () => sessions.folders(),
    forkSession: (fork) => forkSession({ connection, sessions, log }, fork),
    ancestors: (id) => sessions.related(id, 'ancestors'),
    descendants: (id) => sessions.related(id, 'descendants'),
    tags: (sessionId) => sessions.tags(sessionId),
    setTags: (sessionId, tags) => sessions.setTags(sessionId, tags),
    resolveSession: (text) => resolveSession(sessions, text),
    nextTitle: (base) => nextTitle(sessions, base),
    search: (text, filter) => search.find(text, filter),
    searchBacklog: async () => 0,
    entries: (sessionId, { afterSeq } = {}) => log.entries(sessionId, afterSeq),
    append: (sessionId, entries, { lease, atMs = clock.now(), take, rescue = true }) =>
      orRescue(() => log.append(sessionId, entries, { lease, atMs, take }), {
        directories: rescue ? (options.rescueDirs ?? []) : [],
        sessionId,
        entries,
        atMs,
      }),
    keepPartial: (sessionId, entry, { lease, atMs = clock.now() }) =>
      log.keepPartial(sessionId, entry, { lease, atMs }),
    acquireLease: (sessionId, { owner, ttlMs, isVisit }) =>
      leases.acquire(sessionId, {
        owner,
        ttlMs,
        isVisit,
        taken: async (statements, token) => {
          await sessions.reopen(statements, sessionId)
          await log.settle(statements, sessionId, token)
        },
      }),
    usage: async (sessionId) => (await sessions.find(sessionId))?.usage ?? null,
    ledger: new UsageStore(connection, { reservations }),
    audit: new AuditTrail(connection),
    approvals: new StoredApprovals(connection),
    inbox,
    learnings: new LearningStore(connection, { clock }),
    jobs: new JobQueue(connection, { clock, serverClock, process: owner }),
    summaries: new SummaryStore(connection, { clock }),
    meta: {
      get: (key) => connection.read((statements) => getMeta(statements, key)),
      set: (key, value) => connection.writeOne(`meta ${key}`, (statements) => setMeta(statements, key, value)),
    },
    integrityCheck: () => checkTables(connection),
    damage: async () => [],
    stats: () => connection.read(readStats),
    pruneSessions: (filter) =>
      pruneSessions(connection, { ...filter, nowMs: clock.now(), leaseNowMs: serverClock.now() }),
    close: () =>
      connection.close(async (statements) => {
        await sessions.endOwn(statements)
        await leases.releaseAll(statements)
        await reservations.releaseAll(statements)
      }),
  }
}
