import type { Clock } from '@hermes/contracts'
import { errorLine } from '@hermes/contracts'
import type { Database } from '../shared/database.js'
import type { ArchiveOptions, Maintenance, PruneOptions, StoreStats } from '../storage.js'
import { archiveSessions } from '../stores/archive.js'
import { pruneSessions } from '../stores/prune.js'
import { readStats } from '../stores/stats.js'
import type { Connection } from './server/connection.js'
import { nativeCode } from './server/postgres-error.js'

const BYTES = `
  SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`

/** The state of the tables on a server. */
export class PostgresMaintenance implements Maintenance {
  readonly #connection: Connection
  readonly #database: Database
  readonly #clock: Clock
  readonly #serverClock: Pick<Clock, 'now'>

  constructor(
    connection: Connection,
    options: { readonly database: Database; readonly clock: Clock; readonly serverClock: Pick<Clock, 'now'> },
  ) {
    this.#connection = connection
    this.#database = options.database
    this.#clock = options.clock
    this.#serverClock = options.serverClock
  }

  check(): Promise<readonly string[]> {
    return checkTables(this.#connection)
  }

  /** A server looks after its files by itself. */
  async damage(): Promise<readonly string[]> {
    return []
  }

  prune(options: PruneOptions): Promise<number> {
    const now = { nowMs: this.#clock.now(), leaseNowMs: this.#serverClock.now() }
    return pruneSessions(this.#database, { ...options, ...now })
  }

  archive(options: ArchiveOptions): Promise<number> {
    return archiveSessions(this.#database, { ...options, nowMs: this.#clock.now() })
  }

  /** What deleted rows leave is the server's to use again and is not told apart. */
  stats(): Promise<StoreStats> {
    return this.#connection.read(async (statements) => {
      const size = await statements.first<{ bytes: number }>(BYTES)
      return { ...(await statements.perform(readStats(this.#database))), bytes: size!.bytes, freeBytes: 0 }
    })
  }
}

/** What the server says of pages and indexes that are damaged. */
const DAMAGED = /^XX00[12]$/
/** Read by one statement: enough to be quick, little enough to be done long before a statement takes too long. */
const PAGES = 4_000
const TABLES = `
  SELECT relname AS name, pg_relation_size(oid) / current_setting('block_size')::int AS pages FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' ORDER BY relname`
const INVALID = `
  SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE c.relnamespace = current_schema()::regnamespace AND NOT (i.indisvalid AND i.indisready) ORDER BY c.relname`
const MISCOUNTED = `
  SELECT s.id FROM sessions s WHERE s.message_count <> (SELECT count(*) FROM messages m WHERE m.session_id = s.id) LIMIT 20`

/** What is wrong with the tables, one line each; empty when they are sound. Reads every value in them. */
async function checkTables(connection: Connection): Promise<readonly string[]> {
  const named = (sql: string) =>
    connection.read((statements) => statements.all<{ readonly name: string; readonly pages: number }>(sql))
  const problems: string[] = []
  for (const { name, pages } of await named(TABLES)) {
    try {
      for (let page = 0; page <= pages; page += PAGES) await readPages(connection, name, page)
    } catch (error) {
      const cause = (error as Error).cause
      if (!DAMAGED.test(nativeCode(cause))) throw error
      problems.push(`table ${name}: ${errorLine(cause)}`)
    }
  }
  for (const { name } of await named(INVALID)) problems.push(`index ${name} is not valid; run: REINDEX INDEX ${name}`)
  const miscounted = await connection.read((statements) => statements.all<{ id: string }>(MISCOUNTED))
  for (const { id } of miscounted) problems.push(`session ${id} does not have the messages it counts`)
  return problems
}

function readPages(connection: Connection, table: string, from: number): Promise<unknown> {
  const range = `ctid >= '(${from},0)' AND ctid < '(${from + PAGES},0)'`
  return connection.read((statements) => statements.all(`SELECT sum(length(t::text)) FROM "${table}" t WHERE ${range}`))
}
