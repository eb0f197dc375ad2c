import { chmodSync, existsSync, renameSync } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import Database from 'better-sqlite3'
import type { OpenFile } from '../file/connection.js'
import {
  OWN_TABLES,
  OWN_VERSION,
  OWN_VERSION_KEY,
  SCHEMA_VERSION,
  SHARED_INDEXES,
  SHARED_TABLES,
  WORD_INDEX,
} from './schema-sql.js'

/** Which versions a file has: `null` where it has none of it yet. */
export interface FoundSchema {
  readonly shared: number | null
  readonly own: number | null
}

/**
 * Looks without touching.
 * @throws HermesError `store.foreign` for another program's database, `store.newer_schema` for one of a newer Hermes.
 */
export function inspectSchema(database: OpenFile, path: string): FoundSchema {
  const tables = new Set(database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all())
  if (tables.size > 0 && !(tables.has('sessions') && tables.has('messages'))) {
    throw new HermesError(`${path} is a database of another program; choose another path.`, {
      code: 'store.foreign',
      details: { path },
    })
  }
  const number = (table: string, sql: string): number | null => {
    const value = tables.has(table) ? database.prepare(sql).pluck().get() : undefined
    return value === undefined ? null : Number(value)
  }
  const own = number('state_meta', `SELECT value FROM state_meta WHERE key = '${OWN_VERSION_KEY}'`)
  const shared = tables.size === 0 ? null : (number('schema_version', 'SELECT version FROM schema_version') ?? 1)
  refuseNewer(path, own, OWN_VERSION)
  return { shared, own }
}

function refuseNewer(path: string, found: number | null, known: number): void {
  if (found === null || found <= known) return
  throw new HermesError(
    `${path} has schema version ${found}, this program knows up to ${known}; update Hermes to open it.`,
    { code: 'store.newer_schema', details: { path, found, known } },
  )
}

/** Whether a newer version of the program that shares our tables made the file. */
export function isNewer({ shared }: FoundSchema): boolean {
  return shared !== null && shared > SCHEMA_VERSION
}

/** Whether {@link migrate} has nothing to do. */
export function isCurrent({ shared, own }: FoundSchema): boolean {
  return shared === SCHEMA_VERSION && own === OWN_VERSION
}

/** Brings the file to the newest schema. Runs inside a write transaction, and again harmlessly when another process was first. */
export function migrate(database: OpenFile, path: string): void {
  const found = inspectSchema(database, path)
  if (isCurrent(found)) return
  database.exec(SHARED_TABLES)
  if (found.shared !== null) addMissingColumns(database)
  if (found.shared !== SCHEMA_VERSION) {
    keepTitlesApart(database)
    database.exec('DELETE FROM schema_version')
    database.prepare('INSERT INTO schema_version (version) VALUES (?)').run(SCHEMA_VERSION)
  }
  dropWordIndexes(database)
  database.exec(SHARED_INDEXES + OWN_TABLES + WORD_INDEX)
  database
    .prepare('INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, ?)')
    .run(OWN_VERSION_KEY, String(OWN_VERSION))
}

interface Column {
  readonly name: string
  readonly type: string
  readonly dflt_value: string | null
}

/** The columns that should be there are read from a scratch database, so that they are written down once. */
function addMissingColumns(database: OpenFile): void {
  const wanted = new Database(':memory:')
  wanted.exec(SHARED_TABLES)
  for (const table of ['sessions', 'messages']) {
    const present = new Set((database.pragma(`table_info(${table})`) as Column[]).map((column) => column.name))
    for (const { name, type, dflt_value } of wanted.pragma(`table_info(${table})`) as Column[]) {
      if (present.has(name)) continue
      database.exec(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}${dflt_value ? ` DEFAULT ${dflt_value}` : ''}`)
    }
  }
  wanted.close()
}

/** Indexes of other shapes, and the triggers that fill them, go: they hold nothing that is not in `messages`. */
function dropWordIndexes(database: OpenFile): void {
  const names = database
    .prepare(
      `SELECT type, name FROM sqlite_master
       WHERE (type = 'trigger' AND tbl_name = 'messages' AND sql LIKE '%messages_fts%')
       OR (type = 'table' AND name IN ('messages_fts', 'messages_fts_trigram')) ORDER BY type DESC`,
    )
    .all() as { type: string; name: string }[]
  for (const { type, name } of names) database.exec(`DROP ${type} "${name.replaceAll('"', '""')}"`)
}

/** Version 3 allowed a title twice; the newest session keeps it, the others get their id behind it. */
function keepTitlesApart(database: OpenFile): void {
  database.exec(`
    UPDATE sessions SET title = title || ' (' || id || ')'
    WHERE title IS NOT NULL AND EXISTS (
      SELECT 1 FROM sessions newer WHERE newer.title = sessions.title
      AND (newer.started_at, newer.id) > (sessions.started_at, sessions.id))`)
}

/** Copies a file of an older schema to `PATH.vN.bak` (`vN-M` when we had it before), once, before it is changed. Returns where to. */
export function backUp(database: OpenFile, path: string, { shared, own }: FoundSchema): string {
  const target = `${path}.v${shared}${own === null ? '' : `-${own}`}.bak`
  if (existsSync(target)) return target
  const partial = `${target}.${process.pid}`
  database.prepare('VACUUM INTO ?').run(partial)
  chmodSync(partial, 0o600)
  renameSync(partial, target)
  return target
}
