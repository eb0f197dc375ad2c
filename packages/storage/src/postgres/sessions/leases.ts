import type { Clock } from '@hermes/contracts'
import type { Lease } from '@hermes/contracts/store'
import type { Work } from '../../shared/database.js'
import {
  DEFAULT_TTL_MS,
  type Holder,
  isHeld,
  type LastHolder,
  leaseLost,
  otherUser,
  ownerName,
  RELEASE_ALL,
  RENEW,
  sessionBusy,
} from '../../shared/lease-rules.js'
import { unknownSession } from '../../shared/session-errors.js'
import { SESSION_EXISTS } from '../../shared/session-row.js'
import type { StoredLeases } from '../../storage.js'
import type { Connection } from '../server/connection.js'
import { numbered, type Statements } from '../server/statements.js'

// Two who want the same session at once wait for each other here; whoever writes it already is waited for at its row.
const QUEUE = "SELECT pg_advisory_xact_lock(hashtextextended('hermes lease ' || $1, 0))"
const LAST_HOLDER = `
  SELECT owner, process, ttl_ms, renewed_ms, ended_ms AS ended
  FROM hermes_leases JOIN sessions ON sessions.id = session_id WHERE session_id = $1`
const HOLDER = 'SELECT owner, process, ttl_ms, renewed_ms FROM hermes_leases WHERE session_id = $1 FOR UPDATE'
// The number of the row that gave way is the next one, so tokens grow over all sessions and are never used twice.
const TAKE = `
  INSERT INTO hermes_leases (session_id, owner, process, ttl_ms, renewed_ms) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (session_id) DO UPDATE SET token = excluded.token, owner = excluded.owner, process = excluded.process,
    ttl_ms = excluded.ttl_ms, renewed_ms = excluded.renewed_ms
  RETURNING token`
// The row stays without a token that anybody has: it tells who wrote the session last, for when that process is killed.
const RELEASE = 'UPDATE hermes_leases SET token = -token, ttl_ms = 0 WHERE token = $1 AND session_id = $2'
const GIVE_BACK = `
  UPDATE hermes_leases SET token = -token, owner = $3, process = $4, ttl_ms = $5, renewed_ms = $6
  WHERE token = $1 AND session_id = $2`
const FORGET = 'DELETE FROM hermes_leases WHERE token = $1 AND session_id = $2'

/** What is done in the transaction that takes a lease. */
type Taken = (statements: Statements, lease: Pick<Lease, 'sessionId' | 'token'>) => Promise<void>

/** Who may write which session. Times are those of the server: machines that share it need not agree on the hour. */
export class PostgresLeases implements StoredLeases {
  readonly #connection: Connection
  readonly #clock: Pick<Clock, 'now'>
  readonly #process: string

  readonly #taken: Taken

  /** `taken` runs in the transaction that took a lease, when the lease was asked for from outside. */
  constructor(
    connection: Connection,
    options: {
      readonly clock: Pick<Clock, 'now'>
      readonly process: string
      readonly taken: Taken
    },
  ) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
    this.#taken = options.taken
  }

  acquire(sessionId: string, options: Parameters<StoredLeases['acquire']>[1]): Promise<Lease> {
    return this.take(sessionId, { ...options, taken: this.#taken })
  }

  /** Like {@link acquire}, with work of its own for the transaction that takes the lease. */
  async take(
    sessionId: string,
    options: Parameters<StoredLeases['acquire']>[1] & { readonly taken: Taken },
  ): Promise<Lease> {
    const { owner, ttlMs = DEFAULT_TTL_MS } = options
    const { token, former } = await this.#connection.write(`session ${sessionId}`, async (statements) => {
      await statements.perform(this.requireFree(sessionId))
      const former = await statements.first<Holder>(HOLDER, sessionId)
      const exists = await statements.first(numbered(SESSION_EXISTS), sessionId)
      if (!exists) throw unknownSession(sessionId)
      const parameters = [sessionId, owner, this.#process, ttlMs, this.#clock.now()]
      const taken = (await statements.first<{ token: number }>(TAKE, ...parameters))!.token
      await options.taken(statements, { sessionId, token: taken })
      return { token: taken, former }
    })
    const release = async (statements: Statements): Promise<void> => {
      if (!options.isVisit) await statements.run(RELEASE, token, sessionId)
      else if (!former) await statements.run(FORGET, token, sessionId)
      else {
        const { owner, process, ttl_ms, renewed_ms } = former
        await statements.run(GIVE_BACK, token, sessionId, owner, process, ttl_ms, renewed_ms)
      }
    }
    return this.#lease(sessionId, { owner, token, release })
  }

  otherUser(sessionId: string): Promise<string | null> {
    return this.#connection.read(async (statements) => {
      const last = await statements.first<LastHolder>(LAST_HOLDER, sessionId)
      return otherUser(last, this.#process, this.#clock.now())
    })
  }

  /** Inside a transaction, which nobody else may take the lease in. @throws HermesError `store.session_busy`. */
  *requireFree(sessionId: string): Work<void> {
    yield { sql: QUEUE, parameters: [sessionId] }
    const [holder] = (yield { sql: HOLDER, parameters: [sessionId] }).rows as readonly Holder[]
    const nowMs = this.#clock.now()
    if (holder && isHeld(holder, nowMs)) throw sessionBusy(sessionId, holder, nowMs)
  }

  /** Whether nobody alive holds it. */
  async isFree(statements: Statements, sessionId: string): Promise<boolean> {
    const holder = await statements.first<Holder>(HOLDER, sessionId)
    return !holder || !isHeld(holder, this.#clock.now())
  }

  /** Gives up everything this process holds through this store. */
  async releaseAll(statements: Statements): Promise<void> {
    await statements.run(numbered(RELEASE_ALL), this.#process)
  }

  now(): number {
    return this.#clock.now()
  }

  #lease(
    sessionId: string,
    {
      owner,
      token,
      release,
    }: { readonly owner: string; readonly token: number; readonly release: (statements: Statements) => Promise<void> },
  ): Lease {
    const key = `session ${sessionId}`
    return {
      sessionId,
      owner: ownerName({ owner, process: this.#process }),
      token,
      renew: () =>
        this.#connection.writeOne(key, async (statements) => {
          if ((await statements.run(numbered(RENEW), this.#clock.now(), token, sessionId)) !== 1)
            throw leaseLost(sessionId, token)
        }),
      release: () => this.#connection.writeOne(key, release),
    }
  }
}
