import type { Clock, HermesError } from '@hermes/contracts'
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
import type { Connection } from '../file/connection.js'
import { perform } from '../schema/perform.js'

/** An append only looks at a lease of which no more than this part has gone by; to renew it every time costs a page each time. */
const FRESH_SHARE = 0.1

const LAST_HOLDER = `
  SELECT owner, process, ttl_ms, renewed_ms, ended_at AS ended
  FROM hermes_leases JOIN sessions ON sessions.id = session_id WHERE session_id = ?`
const HOLDER = 'SELECT owner, process, ttl_ms, renewed_ms FROM hermes_leases WHERE session_id = ?'
const TAKE = `INSERT OR REPLACE INTO hermes_leases (session_id, owner, process, ttl_ms, renewed_ms) VALUES (?, ?, ?, ?, ?)`
const IS_MINE = 'SELECT 1 FROM hermes_leases WHERE token = ? AND session_id = ?'
// The row stays without a token that anybody has: it tells who wrote the session last, for when that process is killed.
const RELEASE = 'UPDATE hermes_leases SET token = -token, ttl_ms = 0 WHERE token = ?'
const GIVE_BACK =
  'UPDATE hermes_leases SET token = -token, owner = ?, process = ?, ttl_ms = ?, renewed_ms = ? WHERE token = ?'
const FORGET = 'DELETE FROM hermes_leases WHERE token = ?'
const END = 'UPDATE hermes_leases SET token = -token, ttl_ms = 0 WHERE session_id = ? AND token > 0'

/** Who may write which session. Tokens grow over all sessions and are never used twice. */
export class SqliteLeases implements StoredLeases {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #process: string
  /** When this process renewed what it holds, by token. */
  readonly #renewals = new Map<number, { readonly atMs: number; readonly ttlMs: number }>()

  readonly #taken: (sessionId: string) => void

  /** `taken` runs in the transaction that took a lease. */
  constructor(
    connection: Connection,
    options: { readonly clock: Clock; readonly process: string; readonly taken: (sessionId: string) => void },
  ) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
    this.#taken = options.taken
  }

  async acquire(sessionId: string, options: Parameters<StoredLeases['acquire']>[1]): Promise<Lease> {
    const ttlMs = options.ttlMs ?? DEFAULT_TTL_MS
    const { token, former } = await this.#connection.write(() => {
      perform(this.#connection, this.requireFree(sessionId))
      const former = this.#connection.statement(HOLDER).get(sessionId) as Holder | undefined
      if (!this.#connection.statement(SESSION_EXISTS).get(sessionId)) {
        throw unknownSession(sessionId)
      }
      const taken = this.#connection
        .statement(TAKE)
        .run(sessionId, options.owner, this.#process, ttlMs, this.#clock.now())
      this.#taken(sessionId)
      return { token: Number(taken.lastInsertRowid), former }
    })
    this.#renewals.set(token, { atMs: this.#clock.now(), ttlMs })
    const release = () => {
      if (!options.isVisit) this.#connection.statement(RELEASE).run(token)
      else if (!former) this.#connection.statement(FORGET).run(token)
      else {
        const { owner, process, ttl_ms, renewed_ms } = former
        this.#connection.statement(GIVE_BACK).run(owner, process, ttl_ms, renewed_ms, token)
      }
    }
    return this.#lease(sessionId, { owner: options.owner, token, release })
  }

  otherUser(sessionId: string): Promise<string | null> {
    return this.#connection.read(() => {
      const last = this.#connection.statement(LAST_HOLDER).get(sessionId) as LastHolder | undefined
      return otherUser(last, this.#process, this.#clock.now())
    })
  }

  /** Inside a transaction. @throws HermesError `store.session_busy` while somebody alive holds the lease. */
  *requireFree(sessionId: string): Work<void> {
    const [holder] = (yield { sql: HOLDER, parameters: [sessionId] }).rows as readonly Holder[]
    const nowMs = this.#clock.now()
    if (holder && isHeld(holder, nowMs)) throw sessionBusy(sessionId, holder, nowMs)
  }

  /** Inside a transaction. */
  isFree(sessionId: string): boolean {
    const holder = this.#connection.statement(HOLDER).get(sessionId) as Holder | undefined
    return !holder || !isHeld(holder, this.#clock.now())
  }

  /** Inside a transaction, when the session is free: whoever held it and goes on learns with the next append that it is lost. */
  endExpired(sessionId: string): void {
    this.#connection.statement(END).run(sessionId)
  }

  /** Inside a transaction: checks the lease and, once it is no longer fresh, extends it. @throws HermesError `store.lease_lost`. */
  use(sessionId: string, { token }: Pick<Lease, 'token'>): void {
    if (!this.#isFresh(token)) this.#renew(sessionId, token)
    else if (!this.#connection.statement(IS_MINE).get(token, sessionId)) throw this.#lost(sessionId, token)
  }

  #isFresh(token: number): boolean {
    const renewal = this.#renewals.get(token)
    return renewal !== undefined && Math.abs(this.#clock.now() - renewal.atMs) < renewal.ttlMs * FRESH_SHARE
  }

  #renew(sessionId: string, token: number): void {
    const atMs = this.#clock.now()
    if (this.#connection.statement(RENEW).run(atMs, token, sessionId).changes === 0) throw this.#lost(sessionId, token)
    const renewal = this.#renewals.get(token)
    if (renewal) this.#renewals.set(token, { ...renewal, atMs })
  }

  #lost(sessionId: string, token: number): HermesError {
    this.#renewals.delete(token)
    return leaseLost(sessionId, token)
  }

  /** Inside a transaction: gives up everything this process holds through this store. */
  releaseAll(): void {
    this.#connection.statement(RELEASE_ALL).run(this.#process)
  }

  #lease(
    sessionId: string,
    { owner, token, release }: { readonly owner: string; readonly token: number; readonly release: () => void },
  ): Lease {
    return {
      sessionId,
      owner: ownerName({ owner, process: this.#process }),
      token,
      renew: () => this.#connection.write(() => this.#renew(sessionId, token)),
      release: () => {
        this.#renewals.delete(token)
        return this.#connection.write(release)
      },
    }
  }
}
