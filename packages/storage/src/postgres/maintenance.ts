import type { Clock } from '@hermes/contracts'
import type { Database } from '../shared/database.js'
import type { Maintenance, PruneOptions, StoreStats } from '../storage.js'
import { pruneSessions } from '../stores/prune.js'
import { readStats } from '../stores/stats.js'
import type { Connection } from './server/connection.js'
import { checkTables } from './server/health.js'

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

  /** What deleted rows leave is the server's to use again and is not told apart. */
  stats(): Promise<StoreStats> {
    return this.#connection.read(async (statements) => {
      const size = await statements.first<{ bytes: number }>(BYTES)
      return { ...(await statements.perform(readStats(this.#database))), bytes: size!.bytes, freeBytes: 0 }
    })
  }
}
