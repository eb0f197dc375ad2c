import { HermesError } from '@hermes/contracts'
import type { SessionInfo } from '@hermes/contracts/store'
import Database from 'better-sqlite3'
import { inspectSchema, isCurrent } from '../sqlite/migrate.js'
import { openSqliteStorage } from '../sqlite/sqlite-storage.js'
import type { Storage } from '../storage.js'
import type { Transcript } from './transcript.js'

/** Whether a SQLite file is a store of ours. Only looks. */
export function isOwnDatabase(file: string): boolean {
  const database = new Database(file, { readonly: true })
  try {
    return database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'hermes_sessions'").get() !== undefined
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
  requireCurrent(file)
  const storage = await openSqliteStorage({ path: file })
  try {
    const sessions = [...(await all(storage)), ...(await all(storage, 'subagent'))]
    for (const session of sessions.sort((left, right) => left.startedAtMs - right.startedAtMs)) {
      yield await toTranscript(storage, session)
    }
  } finally {
    await storage.close()
  }
}

function requireCurrent(file: string): void {
  const database = new Database(file, { readonly: true })
  try {
    if (isCurrent(inspectSchema(database, file))) return
  } finally {
    database.close()
  }
  throw new HermesError(`${file} is of an older Hermes; open it as the store of a home once, which upgrades it.`, {
    code: 'import.old_store',
    details: { path: file },
  })
}

function all(storage: Storage, source?: string): Promise<readonly SessionInfo[]> {
  return storage.listSessions({ limit: Number.MAX_SAFE_INTEGER, ...(source === undefined ? {} : { source }) })
}

async function toTranscript(storage: Storage, session: SessionInfo): Promise<Transcript> {
  const { id, source, startedAtMs, title, cwd, model, provider, parentSessionId } = session
  const entries = await storage.entries(id)
  return {
    id,
    source,
    startedAtMs,
    title: title ?? undefined,
    cwd: cwd ?? undefined,
    model: model ?? undefined,
    provider: provider ?? undefined,
    parentId: parentSessionId ?? undefined,
    entries: entries.map(({ seq, atMs, ...entry }) => ({ seq, atMs, entry })),
  }
}
