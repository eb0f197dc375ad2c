import { chmodSync, rmSync } from 'node:fs'
import { setImmediate as nextTick } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { migrate } from '../schema/migrate.js'
import { BACKLOG_KEY, INDEXED_KEY, OWN_VERSION_KEY } from '../schema/schema-sql.js'
import { toStoreError } from './store-error.js'

const BATCH_ROWS = 500
// Rows that cannot be read come in groups, a page or a run of pages: up to here the next readable one is looked for id by id.
const PATIENCE = 10_000

/** What was found and what was not. */
interface Recovered {
  readonly sessions: number
  readonly messages: number
  readonly lost: number
}

/** The target has its own, or they say something that is over. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'schema_version',
  'hermes_leases',
  'hermes_holds',
  'hermes_blocks',
  'hermes_reindex',
])
const OWN_KEYS = [OWN_VERSION_KEY, INDEXED_KEY, BACKLOG_KEY]

interface Copied {
  readonly rows: number
  readonly lost: number
}

/** The tables that hold something which is nowhere else, parents first. */
const TABLES = ['sessions', 'messages', 'hermes_sessions', 'hermes_entries', 'hermes_tags', 'state_meta'] as const

/**
 * Copies every row that can be read into a new store at `to`. Sessions that only messages know of are made up, so that those have a
 * place. Indexes are not copied; the new store makes its own.
 * @throws HermesError `store.corrupt` when not even the list of tables can be read.
 */
export async function recoverFile(from: string, to: string): Promise<Recovered> {
  const { source, target } = openBoth(from, to)
  try {
    chmodSync(to, 0o600)
    target.transaction(() => migrate(target, to))()
    target.pragma('foreign_keys = OFF')
    const counts = new Map<string, number>()
    let lost = 0
    for (const table of [...TABLES, ...otherTables(source, target)]) {
      if (!hasTable(source, table)) continue
      const copied = hasRowIds(source, table)
        ? await copyByRows(source, target, table)
        : copyAtOnce(source, target, table)
      counts.set(table, copied.rows)
      lost += copied.lost
    }
    target.exec(MAKE_UP_SESSIONS)
    return { sessions: counts.get('sessions') ?? 0, messages: counts.get('messages') ?? 0, lost }
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(to + suffix, { force: true })
    throw toStoreError(error, from)
  } finally {
    source.close()
    target.close()
  }
}

const MAKE_UP_SESSIONS = `
  INSERT OR IGNORE INTO sessions (id, source, started_at, message_count)
    SELECT session_id, 'recovered', min(timestamp), count(*) FROM messages
    WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id;
  DELETE FROM hermes_entries WHERE session_id NOT IN (SELECT id FROM sessions);
  DELETE FROM hermes_sessions WHERE session_id NOT IN (SELECT id FROM sessions);
  INSERT OR IGNORE INTO hermes_sessions (session_id, last_active_ms) SELECT id, started_at * 1000 FROM sessions;
  UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id NOT IN (SELECT id FROM sessions);
  UPDATE state_meta SET value = (SELECT coalesce(max(id), 0) FROM messages) WHERE key IN ('${INDEXED_KEY}', '${BACKLOG_KEY}');`

function openBoth(from: string, to: string) {
  try {
    const source = new Database(from, { readonly: true, timeout: 2_000 })
    // Otherwise nothing at all is read of a file that is shorter than it says.
    source.unsafeMode()
    source.pragma('writable_schema = ON')
    return { source, target: new Database(to) }
  } catch (error) {
    throw toStoreError(error, from)
  }
}

async function copyByRows(source: Database.Database, target: Database.Database, table: string): Promise<Copied> {
  const names = sharedColumns(source, target, table)
  const select = source.prepare(
    `SELECT rowid AS "#", ${names.map(quoted).join(', ')} FROM ${quoted(table)} WHERE rowid > ? ORDER BY rowid LIMIT ?`,
  )
  const insert = inserter(target, table, names)
  const highest = highestRow(source, table)
  let [at, limit, rows, lost, failures] = [Number.MIN_SAFE_INTEGER, BATCH_ROWS, 0, 0, 0]
  while (at < highest) {
    const found = attempt(() => select.all(at, limit) as Record<string, unknown>[])
    if (found === null && limit > 1) limit = 1
    else if (found === null) {
      const step = failures++ < PATIENCE ? 1 : PATIENCE
      at = Math.max(at, 0) + step
      lost += step
    } else if (found.length === 0) break
    else {
      rows += insert(found)
      at = found.at(-1)!['#'] as number
      limit = BATCH_ROWS
      await nextTick()
    }
  }
  return { rows, lost: Math.min(lost, Math.max(0, highest - rows)) }
}

/** Without row ids there is no way past a row that cannot be read. */
function copyAtOnce(source: Database.Database, target: Database.Database, table: string): Copied {
  const names = sharedColumns(source, target, table)
  const rows: Record<string, unknown>[] = []
  const isWhole = attempt(() => {
    for (const row of source.prepare(`SELECT * FROM ${quoted(table)}`).iterate())
      rows.push(row as Record<string, unknown>)
    return true
  })
  return { rows: inserter(target, table, names)(rows), lost: isWhole ? 0 : 1 }
}

function hasRowIds(database: Database.Database, table: string): boolean {
  return attempt(() => database.prepare(`SELECT rowid FROM ${quoted(table)} LIMIT 0`)) !== null
}

function inserter(target: Database.Database, table: string, names: readonly string[]) {
  const places = names.map(() => '?').join(', ')
  const insert = target.prepare(
    `INSERT OR IGNORE INTO ${quoted(table)} (${names.map(quoted).join(', ')}) VALUES (${places})`,
  )
  return target.transaction((rows: readonly Record<string, unknown>[]) => {
    let inserted = 0
    for (const row of rows) {
      if (table === 'state_meta' && OWN_KEYS.includes(String(row['key']))) continue
      inserted += insert.run(names.map((name) => row[name])).changes
    }
    return inserted
  })
}

function sharedColumns(source: Database.Database, target: Database.Database, table: string): string[] {
  const names = (database: Database.Database) =>
    (database.pragma(`table_info(${quoted(table)})`) as { name: string }[]).map(({ name }) => name)
  const known = new Set(names(target))
  return names(source).filter((name) => known.has(name))
}

/** Tables we know nothing of here, ours for other purposes among them; they are made in the target as they are in the source. */
function otherTables(source: Database.Database, target: Database.Database): string[] {
  const tables = source
    .prepare(
      `SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'
       AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'messages\\_fts%' ESCAPE '\\'
       AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')`,
    )
    .all() as { name: string; sql: string }[]
  const others = tables.filter(({ name }) => !NOT_COPIED.has(name) && !TABLES.some((table) => table === name))
  for (const { name, sql } of others) if (!hasTable(target, name)) target.exec(sql)
  return others.map(({ name }) => name)
}

function hasTable(database: Database.Database, table: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined
}

/** What the counter of ids says, where the table itself cannot be asked. */
function highestRow(database: Database.Database, table: string): number {
  const ask = (sql: string) => attempt(() => database.prepare(sql).pluck().get() as number | null) ?? 0
  return Math.max(
    ask(`SELECT max(rowid) FROM ${quoted(table)}`),
    ask(`SELECT seq FROM sqlite_sequence WHERE name = '${table.replaceAll("'", "''")}'`),
  )
}

/** `null` for what the damage keeps from being read. */
function attempt<Result>(work: () => Result): Result | null {
  try {
    return work()
  } catch {
    return null
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
