import { silentLogger, systemClock } from '@hermes/contracts'
import type { Storage, StorageOptions } from '../storage.js'
import type { Connection } from './connection.js'
import { forkSession } from './fork.js'
import { Leases } from './leases.js'
import { Log } from './log.js'
import { getMeta, setMeta } from './meta.js'
import { openDatabase } from './open-database.js'
import { processIdentity } from './process-identity.js'
import type { Queries } from './queries.js'
import { nextTitle, resolveSession } from './resolve.js'
import { Search } from './search.js'
import { Sessions } from './sessions.js'
import { UsageBook } from './usage.js'
import { WordIndex } from './word-index.js'

/** The store on SQLite. Loaded by `openStorage` when it is first called. */
export async function openSqliteStorage(options: StorageOptions): Promise<Storage> {
  const connection = await openDatabase(options)
  const clock = options.clock ?? systemClock
  const leases = new Leases(connection, { clock, process: options.owner ?? processIdentity() })
  const sessions = new Sessions(connection, { leases, clock })
  const words = new WordIndex(connection, { logger: options.logger ?? silentLogger })
  const log = new Log(connection, { leases, clock, appended: () => words.schedule() })
  const search = new Search(connection, words)
  const ask = queryRunner(connection)
  return {
    createSession: (session) => sessions.create(session),
    getSession: (id) => connection.read(() => sessions.find(id)),
    updateSession: (id, change) => sessions.update(id, change),
    deleteSession: (id) => sessions.delete(id),
    listSessions: async (filter) => {
      await words.catchUp()
      return ask((queries) => queries.list(filter))
    },
    latestSession: async (filter) => {
      await words.catchUp()
      return ask((queries) => queries.latest(filter))
    },
    forkSession: (fork) => forkSession({ connection, sessions, log }, fork).finally(() => words.schedule()),
    ancestors: (id) => connection.read(() => sessions.related(id, 'ancestors')),
    descendants: (id) => connection.read(() => sessions.related(id, 'descendants')),
    tags: (sessionId) => connection.read(() => sessions.tags(sessionId)),
    setTags: (sessionId, tags) => sessions.setTags(sessionId, tags),
    resolveSession: (text) => ask((queries) => resolveSession(sessions, queries, text)),
    nextTitle: (base) => ask((queries) => nextTitle(queries, base)),
    search: (text, filter) => search.find(text, filter),
    searchBacklog: () => connection.read(() => words.backlog()),
    entries: (sessionId, { afterSeq } = {}) => log.entries(sessionId, afterSeq),
    append: (sessionId, entries, { lease, atMs }) => log.append(sessionId, entries, { lease, atMs }),
    acquireLease: (sessionId, { owner, ttlMs }) => leases.acquire(sessionId, { owner, ttlMs }),
    usage: (sessionId) => connection.read(() => sessions.find(sessionId)?.usage ?? null),
    ledger: new UsageBook(connection),
    meta: {
      get: (key) => connection.read(() => getMeta(connection, key)),
      set: (key, value) => connection.write(() => setMeta(connection, key, value)),
    },
    integrityCheck: () => connection.read(() => integrityProblems(connection)),
    close: () => {
      words.stop()
      return connection.close(() => {
        leases.releaseAll()
        words.takeSome()
      })
    },
  }
}

/** Reads with built queries; the query builder is loaded by the first of them. */
function queryRunner(connection: Connection) {
  let loading: Promise<Queries> | undefined
  return async <Result>(work: (queries: Queries) => Result): Promise<Result> => {
    loading ??= import('./queries.js').then((module) => new module.Queries(connection))
    const queries = await loading
    return connection.read(() => work(queries))
  }
}

function integrityProblems(connection: Connection): string[] {
  const lines = connection.statement('PRAGMA integrity_check').pluck().all() as string[]
  return lines.filter((line) => line !== 'ok')
}
