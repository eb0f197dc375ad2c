import { resolve } from 'node:path'
import { errorLine, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import { processIdentity } from '../shared/process-identity.js'
import { orRescue } from '../shared/rescue.js'
import { nextTitle, resolveSession, type SessionLookup } from '../shared/resolve.js'
import type { SqliteOptions, Storage } from '../storage.js'
import { StoredApprovals } from './books/approvals.js'
import { AuditTrail } from './books/audit.js'
import { lazyStores } from './books/lazy-stores.js'
import { getMeta, setMeta } from './books/meta.js'
import { UsageStore } from './books/usage.js'
import type { Connection } from './file/connection.js'
import { isCheckDue, openDatabase } from './file/open-database.js'
import { damaged } from './file/store-error.js'
import type { Queries } from './schema/queries.js'
import type { Search } from './search/search.js'
import { WordIndex } from './search/word-index.js'
import { forkSession } from './sessions/fork.js'
import { StoredInbox } from './sessions/inbox.js'
import { Leases } from './sessions/leases.js'
import { Log } from './sessions/log.js'
import { Sessions } from './sessions/sessions.js'

/** The store on SQLite. Loaded by `openStorage` when it is first called. */
export async function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  const isDue = isCheckDue(resolve(options.path))
  const connection = await openDatabase(options)
  const { path } = connection
  const clock = options.clock ?? systemClock
  const logger = options.logger ?? silentLogger
  const check = async (options: { readonly quick: boolean; readonly isBackground?: boolean }) => {
    const { checkFile, checkOpenFile } = await import('./file/health.js')
    return connection.isAlone ? checkOpenFile(connection, options) : checkFile(path, options)
  }
  const onNotice = options.onNotice ?? (() => undefined)
  const damage = isDue ? lookForDamage(connection, { check, logger, onNotice }) : Promise.resolve([])
  if (connection.isAlone) onNotice((await import('./file/open-alone.js')).aloneNotice(path))
  const owner = options.owner ?? processIdentity()
  const leases = new Leases(connection, { clock, process: owner })
  const ledger = new UsageStore(connection, { clock, process: owner })
  const inbox = new StoredInbox(connection, { clock, process: owner })
  const sessions = new Sessions(connection, { leases, clock, process: owner })
  const words = new WordIndex(connection, { logger })
  const log = new Log(connection, { leases, inbox, clock, appended: () => words.schedule() })
  let searching: Promise<Search> | undefined
  const search = () =>
    (searching ??= import('./search/search.js').then((module) => new module.Search(connection, words)))
  const ask = queryRunner(connection)
  const lookup: SessionLookup = {
    find: (id) => connection.read(() => sessions.find(id)),
    list: (filter) => ask((queries) => queries.list(filter)),
    lineage: (base) => ask((queries) => queries.lineage(base)),
    withPrefix: (prefix, limit) => ask((queries) => queries.withPrefix(prefix, limit)),
  }
  return {
    createSession: (session) => sessions.create(session),
    getSession: (id) => connection.read(() => sessions.find(id)),
    updateSession: (id, change) => sessions.update(id, change),
    endSession: (id, end) => sessions.end(id, end),
    endAbandonedSessions: () => sessions.endAbandoned(),
    deleteSession: (id) => sessions.delete(id),
    clearSession: (id) => sessions.clear(id),
    listSessions: (filter) => lookup.list(filter ?? {}),
    latestSession: (filter) => ask((queries) => queries.latest(filter)),
    folders: () => ask((queries) => queries.folders()),
    forkSession: (fork) => forkSession({ connection, sessions, log }, fork).finally(() => words.schedule()),
    ancestors: (id) => connection.read(() => sessions.related(id, 'ancestors')),
    descendants: (id) => connection.read(() => sessions.related(id, 'descendants')),
    tags: (sessionId) => connection.read(() => sessions.tags(sessionId)),
    setTags: (sessionId, tags) => sessions.setTags(sessionId, tags),
    resolveSession: (text) => resolveSession(lookup, text),
    nextTitle: (base) => nextTitle(lookup, base),
    search: async (text, filter) => (await search()).find(text, filter),
    searchBacklog: () => connection.read(() => words.backlog()),
    entries: (sessionId, { afterSeq } = {}) => log.entries(sessionId, afterSeq),
    append: (sessionId, entries, { lease, atMs, take, rescue = true }) =>
      orRescue(() => log.append(sessionId, entries, { lease, atMs, take }), {
        directories: rescue ? (options.rescueDirs ?? []) : [],
        sessionId,
        entries,
        atMs: atMs ?? clock.now(),
      }),
    keepPartial: (sessionId, entry, options) => log.keepPartial(sessionId, entry, options),
    acquireLease: (sessionId, { owner, ttlMs, isVisit }) =>
      leases.acquire(sessionId, {
        owner,
        ttlMs,
        isVisit,
        taken: () => {
          sessions.reopen(sessionId)
          log.settle(sessionId)
        },
      }),
    usage: (sessionId) => connection.read(() => sessions.find(sessionId)?.usage ?? null),
    ledger,
    audit: new AuditTrail(connection),
    approvals: new StoredApprovals(connection),
    inbox,
    ...lazyStores(connection, { clock, process: owner }),
    meta: {
      get: (key) => connection.read(() => getMeta(connection, key)),
      set: (key, value) => connection.write(() => setMeta(connection, key, value)),
    },
    integrityCheck: () => check({ quick: false }),
    damage: () => damage,
    stats: async () => {
      const { readStats } = await import('./sessions/stats.js')
      return connection.read(() => readStats(connection))
    },
    pruneSessions: async (filter) =>
      (await import('./sessions/prune.js')).pruneSessions(connection, { ...filter, nowMs: clock.now() }),
    close: async () => {
      await words.stop()
      await (await searching)?.close()
      await connection.close(() => {
        sessions.endOwn()
        leases.releaseAll()
        ledger.releaseAll()
        words.takeSome()
      })
    },
  }
}

/** Reads with built queries; the query builder is loaded by the first of them. */
function queryRunner(connection: Connection) {
  let loading: Promise<Queries> | undefined
  return async <Result>(work: (queries: Queries) => Result): Promise<Result> => {
    loading ??= import('./schema/queries.js').then((module) => new module.Queries(connection))
    const queries = await loading
    return connection.read(() => work(queries))
  }
}

/** After an unclean end the file is looked at beside the work; what is found stops further writes. */
async function lookForDamage(
  connection: Connection,
  options: {
    readonly check: (options: { readonly quick: boolean; readonly isBackground: boolean }) => Promise<readonly string[]>
    readonly logger: Logger
    readonly onNotice: (line: string) => void
  },
): Promise<readonly string[]> {
  const { path } = connection
  const { check, logger, onNotice } = options
  const problems = await check({ quick: true, isBackground: true }).catch((error: unknown) => {
    logger.warn('the store could not be checked', { path, error: errorLine(error) })
    return []
  })
  if (problems.length > 0) {
    const damage = damaged(path, problems[0]!)
    connection.forbidWrites(damage)
    onNotice(damage.message)
    logger.error('the store is damaged', { path, problems: problems.join('; ') })
  }
  return problems
}
