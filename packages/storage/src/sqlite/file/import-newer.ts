import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, rmSync } from 'node:fs'
import { HermesError, type Logger } from '@hermes/contracts'
import Database from 'better-sqlite3'
import { migrate } from '../schema/migrate.js'
import { SCHEMA_VERSION } from '../schema/schema-sql.js'
import { toStoreError } from './store-error.js'

const NEEDED = {
  sessions: ['id', 'source', 'started_at'],
  messages: ['id', 'session_id', 'role', 'content', 'timestamp'],
} as const
const TAKE_FOLDERS =
  'UPDATE hermes_sessions SET cwd = (SELECT s.cwd FROM sessions s WHERE s.id = hermes_sessions.session_id) WHERE cwd IS NULL'
const LOGS = ['', '-wal', '-shm', '-journal']

/** Where the sessions of a database that a newer program made are kept by us: `state.db` → `state.hermes.db`. */
export function importedPath(path: string): string {
  return path.replace(/(\.db)?$/, '.hermes.db')
}

/**
 * Copies a database of a newer schema to {@link importedPath}, once, and makes it one of ours there; every row, column and table
 * comes along, the original stays as it is. Several processes may do this at once.
 * @throws HermesError `store.newer_schema` when its tables have not the columns we know.
 */
export async function importNewer(
  path: string,
  version: number,
  { logger, onNotice }: { readonly logger: Logger; readonly onNotice?: ((line: string) => void) | undefined },
): Promise<string> {
  const target = importedPath(path)
  if (existsSync(target)) {
    if (onNotice) sayWrittenSince(path, target, onNotice)
    return target
  }
  const partial = `${target}.${randomBytes(4).toString('hex')}`
  try {
    await copyAsOurs(path, partial, version)
    linkSync(partial, target)
    logger.info('imported the store of a newer program', { path, version, to: target })
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw toStoreError(error, path)
  } finally {
    for (const suffix of LOGS) rmSync(partial + suffix, { force: true })
  }
  return target
}

/** Copies a database of a newer schema to `to`, and makes it one of ours there. @throws HermesError `store.newer_schema`. */
export async function copyAsOurs(path: string, to: string, version: number): Promise<void> {
  await copyWhole(path, to, version)
  const database = new Database(to)
  try {
    database.unsafeMode(true)
    const newest = newestMessage(database)
    database.transaction(() => {
      makeOurs(database, to)
      database.prepare('INSERT OR REPLACE INTO state_meta VALUES (?, ?)').run(copiedKey(path), String(newest))
    })()
  } finally {
    database.close()
  }
  chmodSync(to, 0o600)
}

/** Where a store notes up to which message it has what is in the database of a newer program at `path`. */
export function copiedKey(path: string): string {
  return `copied:${path}`
}

/** The number of the newest message of a database; 0 without one. */
export function newestMessage(database: Database.Database): number {
  return Number(database.prepare('SELECT COALESCE(MAX(id), 0) FROM messages').pluck().get())
}

/** Says what the newer program wrote since its sessions were copied; nothing where that is not known. */
function sayWrittenSince(path: string, target: string, onNotice: (line: string) => void): void {
  const opened: Database.Database[] = []
  const open = (file: string) => {
    const database = new Database(file, { readonly: true })
    opened.push(database)
    return database
  }
  try {
    const [source, copy] = [open(path), open(target)]
    const copied = copy.prepare('SELECT value FROM state_meta WHERE key = ?').pluck().get(copiedKey(path))
    if (copied === undefined || newestMessage(source) <= Number(copied)) return
    const [messages, sessions] = source
      .prepare('SELECT COUNT(*), COUNT(DISTINCT session_id) FROM messages WHERE id > ?')
      .raw()
      .get(Number(copied)) as [number, number]
    onNotice(
      `${path} is of a newer Hermes and was copied once, to ${target}. Written there since: ${messages} messages in ${sessions} sessions. To bring them in: hermes sessions import ${path}`,
    )
  } catch {
    // What is there is opened all the same; a file that is written right now is looked at another time.
  } finally {
    for (const database of opened) database.close()
  }
}

async function copyWhole(path: string, to: string, version: number): Promise<void> {
  const source = new Database(path, { readonly: true, timeout: 2_000 })
  try {
    for (const [table, columns] of Object.entries(NEEDED)) {
      const present = (source.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name)
      const missing = columns.filter((name) => !present.includes(name))
      if (missing.length > 0) throw notUnderstood(path, version, `${table}.${missing[0]}`)
    }
    await source.backup(to)
  } finally {
    source.close()
  }
}

/** Word indexes go by their names alone: their tokenizers may not be here. What they are made of is then ordinary tables. */
function makeOurs(database: Database.Database, path: string): void {
  const virtual = database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%' AND name LIKE 'messages_fts%'",
    )
    .pluck()
    .all() as string[]
  database.exec('DELETE FROM schema_version; INSERT INTO schema_version VALUES (0);')
  const triggers = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%messages_fts%'")
    .pluck()
    .all() as string[]
  for (const name of triggers) database.exec(`DROP TRIGGER ${quoted(name)}`)
  database.pragma('writable_schema = ON')
  for (const name of virtual) database.prepare('DELETE FROM sqlite_master WHERE name = ?').run(name)
  database.pragma('writable_schema = RESET')
  for (const name of virtual) {
    for (const part of ['data', 'idx', 'content', 'docsize', 'config'])
      database.exec(`DROP TABLE IF EXISTS ${quoted(`${name}_${part}`)}`)
  }
  migrate(database, path)
  const columns = (database.pragma('table_info(sessions)') as { name: string }[]).map(({ name }) => name)
  if (columns.includes('cwd')) database.exec(TAKE_FOLDERS)
}

function notUnderstood(path: string, version: number, column: string): HermesError {
  return new HermesError(
    `${path} has schema version ${version} without the column ${column}, this program knows up to ${SCHEMA_VERSION}; update Hermes to open it.`,
    { code: 'store.newer_schema', details: { path, found: version, known: SCHEMA_VERSION } },
  )
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
