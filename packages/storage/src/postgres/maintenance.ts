import type { Clock } from '@hermes/contracts'
import type { Maintenance, PruneOptions, StoreStats } from '../storage.js'
import type { Connection } from './server/connection.js'
import { checkTables } from './server/health.js'
import { pruneSessions } from './sessions/prune.js'
import { readStats } from './sessions/stats.js'

/** The state of the tables on a server. */
export class PostgresMaintenance implements Maintenance {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #serverClock: Pick<Clock, 'now'>

  constructor(connection: Connection, options: { readonly clock: Clock; readonly serverClock: Pick<Clock, 'now'> }) {
    this.#connection = connection
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
    return pruneSessions(this.#connection, { ...options, ...now })
  }

  stats(): Promise<StoreStats> {
    return this.#connection.read(readStats)
  }
}
