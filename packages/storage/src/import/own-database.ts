import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { SessionInfo } from '@hermes/contracts/store'
import Database from 'better-sqlite3'
import { copiedKey, copyAsOurs, newestMessage } from '../sqlite/file/import-newer.js'
import { type FoundSchema, inspectSchema, isCurrent, isNewer } from '../sqlite/schema/migrate.js'
import { openSqliteStorage } from '../sqlite/sqlite-storage.js'
import type { Storage } from '../storage.js'
import type { Transcript } from './transcript.js'

/** Whose sessions a SQLite file holds: `own` for ours of any version, and for the program that our tables come from. Only looks. */
export function kindOfDatabase(file: string): 'own' | 'opencode' | 'unknown' {
  const database = new Database(file, { readonly: true })
  try {
    const tables = new Set(database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all())
    if (tables.has('sessions') && tables.has('messages')) return 'own'
    return ['session', 'message', 'part'].every((name) => tables.has(name)) ? 'opencode' : 'unknown'
  } finally {
    database.close()
  }
}

/**
 * All sessions of a store that have a message, parents before their children: how sessions move from a file to a server, or from one
 * home to another. What a session cost comes along with its messages; the ledger, the audit trail and learnings do not. A file of
 * another version is read from a copy. Of one that a newer program made, sessions that are here already get what was written since.
 * @throws HermesError `store.newer_schema` for one that is not understood.
 */
export async function* readOwnDatabase(file: string): AsyncGenerator<Transcript> {
  const { found, journal } = look(file)
  // Under its own kind of journal, so that a copy which stands alone keeps its bytes.
  if (isCurrent(found)) return yield* readStore(file, journal)
  const folder = mkdtempSync(join(tmpdir(), 'hermes-import-'))
  const copy = join(folder, 'state.db')
  try {
    if (!isNewer(found)) {
      await copyPlain(file, copy)
      return yield* readStore(copy, 'delete')
    }
    await copyAsOurs(file, copy, found.shared!)
    for await (const transcript of readStore(copy, 'delete')) yield { ...transcript, isRest: true }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function* readStore(path: string, journal: 'wal' | 'delete'): AsyncGenerator<Transcript> {
  const storage = await openSqliteStorage({ path, journal })
  try {
    const sessions = [...(await all(storage)), ...(await all(storage, 'subagent'))]
    for (const session of sessions.sort((left, right) => left.startedAtMs - right.startedAtMs)) {
      yield await toTranscript(storage, session)
    }
  } finally {
    await storage.close()
  }
}

function look(file: string): { found: FoundSchema; journal: 'wal' | 'delete' } {
  const database = new Database(file, { readonly: true })
  try {
    const journal = database.pragma('journal_mode', { simple: true }) === 'wal' ? 'wal' : 'delete'
    return { found: inspectSchema(database, file), journal }
  } finally {
    database.close()
  }
}

async function copyPlain(file: string, to: string): Promise<void> {
  const database = new Database(file, { readonly: true })
  try {
    await database.backup(to)
  } finally {
    database.close()
  }
}

/** What a store notes once it has all of a file that a newer program made; `null` for other files. */
export function noteOfNewer(file: string): { readonly key: string; readonly value: string } | null {
  const database = new Database(file, { readonly: true })
  try {
    if (!isNewer(inspectSchema(database, file))) return null
    return { key: copiedKey(resolve(file)), value: String(newestMessage(database)) }
  } finally {
    database.close()
  }
}

function all(storage: Storage, source?: string): Promise<readonly SessionInfo[]> {
  return storage.sessions.list({
    limit: Number.MAX_SAFE_INTEGER,
    includeArchived: true,
    ...(source === undefined ? {} : { source }),
  })
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
