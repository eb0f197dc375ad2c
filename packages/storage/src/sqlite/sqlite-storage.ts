import { HermesError, systemClock } from '@hermes/contracts'
import type { Storage, StorageOptions } from '../storage.js'
import type { Connection } from './connection.js'
import { usageOf } from './counts.js'
import { Leases } from './leases.js'
import { Log } from './log.js'
import { openDatabase } from './open-database.js'
import { processIdentity } from './process-identity.js'
import { OWN_VERSION_KEY } from './schema-sql.js'
import { searchMessages } from './search.js'
import { Sessions } from './sessions.js'

/** The store on SQLite. Loaded by `openStorage` when it is first called. */
export async function openSqliteStorage(options: StorageOptions): Promise<Storage> {
  const connection = await openDatabase(options)
  const clock = options.clock ?? systemClock
  const leases = new Leases(connection, { clock, process: options.owner ?? processIdentity() })
  const sessions = new Sessions(connection, { leases, clock })
  const log = new Log(connection, { leases, clock })
  return {
    createSession: (session) => sessions.create(session),
    getSession: (id) => sessions.get(id),
    updateSession: (id, change) => sessions.update(id, change),
    deleteSession: (id) => sessions.delete(id),
    listSessions: (filter) => sessions.list(filter),
    latestSession: (filter) => sessions.latest(filter),
    resolveSession: (text) => sessions.resolve(text),
    nextTitle: (base) => sessions.nextTitle(base),
    entries: (sessionId, { afterSeq } = {}) => log.entries(sessionId, afterSeq),
    append: (sessionId, entries, { lease, atMs }) => log.append(sessionId, entries, { lease, atMs }),
    acquireLease: (sessionId, { owner, ttlMs }) => leases.acquire(sessionId, { owner, ttlMs }),
    search: (query, filter) => connection.read(() => searchMessages(connection, query, filter)),
    usage: (sessionId) => connection.read(() => usage(connection, sessionId)),
    meta: {
      get: (key) => connection.read(() => getMeta(connection, key)),
      set: (key, value) => connection.write(() => setMeta(connection, key, value)),
    },
    integrityCheck: () => connection.read(() => integrityProblems(connection)),
    close: () => connection.close(() => leases.releaseAll()),
  }
}

function usage(connection: Connection, sessionId: string) {
  const [row] = connection.rows(connection.query.selectFrom('sessions').selectAll().where('id', '=', sessionId))
  return row ? usageOf(row) : null
}

function getMeta(connection: Connection, key: string): string | null {
  const query = connection.query.selectFrom('state_meta').select('value').where('key', '=', key)
  return connection.rows(query)[0]?.value ?? null
}

function setMeta(connection: Connection, key: string, value: string | null): void {
  if (key === OWN_VERSION_KEY) {
    throw new HermesError(`The key "${key}" belongs to the store itself; choose another one.`, {
      code: 'store.reserved_key',
      details: { key },
    })
  }
  const { query } = connection
  connection.rows(query.deleteFrom('state_meta').where('key', '=', key))
  if (value !== null) connection.rows(query.insertInto('state_meta').values({ key, value }))
}

function integrityProblems(connection: Connection): string[] {
  const problems = connection.statement('PRAGMA integrity_check').pluck().all() as string[]
  return problems.filter((line) => line !== 'ok')
}
