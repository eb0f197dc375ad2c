import type { Clock } from '@hermes/contracts'
import type { SpendingFilter, SpendingState, UsageLedger, UsageReservation } from '@hermes/contracts/store'
import { hasEnded } from '../../shared/process-identity.js'
import { type ReservedRow, TTL_MS, toReserved } from '../../shared/reservation-rules.js'
import type { Connection } from '../file/connection.js'

/** A home has limits for few sessions at a time, and a day and a month. */
const MAX_KNOWN_SUMS = 32

const CREATE = `
  CREATE TABLE IF NOT EXISTS hermes_holds (
    id TEXT PRIMARY KEY,
    process TEXT NOT NULL,
    session_id TEXT,
    tokens INTEGER NOT NULL,
    cost_usd REAL,
    since_ms INTEGER NOT NULL
  ) WITHOUT ROWID`
const INSERT = `
  INSERT INTO hermes_holds (id, process, session_id, tokens, cost_usd, since_ms)
  VALUES (:id, :process, :sessionId, :tokens, :costUsd, :nowMs)`
const RELEASE = 'DELETE FROM hermes_holds WHERE id = ?'
const RELEASE_ALL = 'DELETE FROM hermes_holds WHERE process = ?'
const FORGET_OLD = 'DELETE FROM hermes_holds WHERE abs(:nowMs - since_ms) > :ttlMs'
const PROCESSES = 'SELECT DISTINCT process FROM hermes_holds WHERE process <> ?'
const RESERVED = `
  SELECT count(*) AS calls, coalesce(sum(tokens), 0) AS tokens, total(cost_usd) AS costUsd, count(*) - count(cost_usd) AS unpriced
  FROM hermes_holds WHERE :sessionId IS NULL OR session_id = :sessionId`
const SPENT = `
  SELECT coalesce((SELECT max(id) FROM hermes_usage), 0) AS upToId, coalesce(sum(input_tokens + output_tokens), 0) AS tokens, total(cost_usd) AS costUsd,
    count(*) - count(cost_usd) AS unpricedCalls
  FROM hermes_usage
  WHERE id > :afterId AND at_ms >= coalesce(:sinceMs, at_ms) AND (:sessionId IS NULL OR session_id = :sessionId)`

type Sum = SpendingState['spent'] & { readonly upToId: number }

const NOTHING: Sum = { upToId: 0, tokens: 0, costUsd: 0, unpricedCalls: 0 }

/**
 * Calls that are being made, so that several processes keep one budget. What finished calls come to is added up from where the last sum
 * ended: rows are only ever added, in order of their ids.
 */
export class UsageReservations {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #process: string
  readonly #sums = new Map<string, Sum>()
  /** Before, there may be no table. */
  #hasReserved = false

  constructor(connection: Connection, options: { readonly clock: Clock; readonly process: string }) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
  }

  /** The table of finished calls has to be there. */
  async reserve(
    call: UsageReservation,
    { filters, admits }: Parameters<NonNullable<UsageLedger['reserve']>>[1],
  ): Promise<boolean> {
    // The long way through what is there already is gone before others are locked out.
    await this.#connection.read(() => filters.map((filter) => this.#spent(filter)))
    const isReserved = await this.#connection.write(() => {
      this.#connection.statement(CREATE).run()
      this.#forgetEnded()
      const states = filters.map((filter) => ({ spent: this.#spent(filter), reserved: this.#reserved(filter) }))
      if (!admits(states)) return false
      const costUsd = call.costUsd === 'unknown' ? null : call.costUsd
      this.#connection.statement(INSERT).run({ ...call, costUsd, process: this.#process, nowMs: this.#clock.now() })
      return true
    })
    this.#hasReserved ||= isReserved
    return isReserved
  }

  /** Inside a transaction. */
  release(id: string): void {
    if (this.#hasReserved) this.#connection.statement(RELEASE).run(id)
  }

  /** Inside a transaction: forgets all holds of this process. */
  releaseAll(): void {
    if (this.#hasReserved) this.#connection.statement(RELEASE_ALL).run(this.#process)
  }

  #forgetEnded(): void {
    this.#connection.statement(FORGET_OLD).run({ nowMs: this.#clock.now(), ttlMs: TTL_MS })
    const others = this.#connection.statement(PROCESSES).pluck().all(this.#process) as string[]
    for (const process of others) if (hasEnded(process)) this.#connection.statement(RELEASE_ALL).run(process)
  }

  #reserved(filter: SpendingFilter): SpendingState['reserved'] {
    const sessionId = filter.sessionId ?? null
    return toReserved(this.#connection.statement(RESERVED).get({ sessionId }) as ReservedRow)
  }

  #spent(filter: SpendingFilter): SpendingState['spent'] {
    const [sinceMs, sessionId] = [filter.sinceMs ?? null, filter.sessionId ?? null]
    const key = JSON.stringify([sinceMs, sessionId])
    const known = this.#sums.get(key) ?? NOTHING
    const more = this.#connection.statement(SPENT).get({ afterId: known.upToId, sinceMs, sessionId }) as Sum
    const sum = {
      upToId: more.upToId,
      tokens: known.tokens + more.tokens,
      costUsd: known.costUsd + more.costUsd,
      unpricedCalls: known.unpricedCalls + more.unpricedCalls,
    }
    this.#sums.delete(key)
    this.#sums.set(key, sum)
    const [oldest] = this.#sums.keys()
    if (this.#sums.size > MAX_KNOWN_SUMS && oldest !== undefined) this.#sums.delete(oldest)
    const { upToId: _, ...spent } = sum
    return spent
  }
}
