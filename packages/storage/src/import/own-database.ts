import { HermesError } from '@hermes/contracts'
import type { SessionInfo } from '@hermes/contracts/store'
import Database from 'better-sqlite3'
import { inspectSchema, isCurrent } from '../sqlite/schema/migrate.js'
import { openSqliteStorage } from '../sqlite/sqlite-storage.js'
import type { Storage } from '../storage.js'
import type { Transcript } from './transcript.js'

/** Whose sessions a SQLite file holds: `old` for ours of another version, or of the program that our tables come from. Only looks. */
export function kindOfDatabase(file: string): 'own' | 'old' | 'opencode' | 'unknown' {
  const database = new Database(file, { readonly: true })
  try {
    const tables = new Set(database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all())
    if (tables.has('hermes_sessions')) return 'own'
    if (tables.has('sessions') && tables.has('messages')) return 'old'
    return ['session', 'message', 'part'].every((name) => tables.has(name)) ? 'opencode' : 'unknown'
  } finally {
    database.close()
  }
}

/**
 * All sessions of a store that have a message, parents before their children: how sessions move from a file to a server, or from one
 * home to another. What a session cost comes along with its messages; the ledger, the audit trail and learnings do not.
 * @throws HermesError `import.old_store` for one that would have to be upgraded first.
 */
export async function* readOwnDatabase(file: string): AsyncGenerator<Transcript> {
  // Under its own kind of journal, so that a copy which stands alone keeps its bytes.
  const journal = requireCurrent(file)
  const storage = await openSqliteStorage({ path: file, journal })
  try {
    const sessions = [...(await all(storage)), ...(await all(storage, 'subagent'))]
    for (const session of sessions.sort((left, right) => left.startedAtMs - right.startedAtMs)) {
      yield await toTranscript(storage, session)
    }
  } finally {
    await storage.close()
  }
}

function requireCurrent(file: string): 'wal' | 'delete' {
  const database = new Database(file, { readonly: true })
  try {
    if (isCurrent(inspectSchema(database, file)))
      return database.pragma('journal_mode', { simple: true }) === 'wal' ? 'wal' : 'delete'
  } finally {
    database.close()
  }
  throw oldStore(file)
}

/** What has to be upgraded before it can be imported. */
export function oldStore(file: string): HermesError {
  return new HermesError(`${file} is of an older Hermes; open it as the store of a home once, which upgrades it.`, {
    code: 'import.old_store',
    details: { path: file },
  })
}

function all(storage: Storage, source?: string): Promise<readonly SessionInfo[]> {
  return storage.sessions.list({ limit: Number.MAX_SAFE_INTEGER, ...(source === undefined ? {} : { source }) })
}

async function toTranscript(storage: Storage, session: SessionInfo): Promise<Transcript> {
  const { id, source, person, startedAtMs, title, cwd, model, provider, parentSessionId } = session
  const entries = await storage.log.entries(id)
  return {
    id,
    source,
    person,
    startedAtMs,
    title: title ?? undefined,
    cwd: cwd ?? undefined,
    model: model ?? undefined,
    provider: provider ?? undefined,
    parentId: parentSessionId ?? undefined,
    tags: await storage.sessions.tags(id),
    entries: entries.map(({ seq, atMs, ...entry }) => ({ seq, atMs, entry })),
  }
}
