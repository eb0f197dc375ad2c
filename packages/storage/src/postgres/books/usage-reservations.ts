import type { Clock } from '@hermes/contracts'
import type { SpendingFilter, SpendingState, UsageLedger, UsageReservation } from '@hermes/contracts/store'
import { hasEnded } from '../../shared/process-identity.js'
import { type ReservedRow, TTL_MS, toReserved } from '../../shared/reservation-rules.js'
import type { Connection } from '../server/connection.js'
import type { Statements } from '../server/statements.js'

// Who asks for room waits here for others who do.
const LOCK = 'LOCK TABLE hermes_holds IN SHARE ROW EXCLUSIVE MODE'
const INSERT = `
  INSERT INTO hermes_holds (id, process, session_id, tokens, cost_usd, since_ms) VALUES ($1, $2, $3, $4, $5, $6)`
const RELEASE_ALL = 'DELETE FROM hermes_holds WHERE process = ANY ($1::text[])'
const FORGET_OLD = 'DELETE FROM hermes_holds WHERE abs($1 - since_ms) > $2'
const PROCESSES = 'SELECT DISTINCT process FROM hermes_holds WHERE process <> $1'
const RESERVED = `
  SELECT count(*) AS calls, coalesce(sum(tokens), 0) AS tokens, coalesce(sum(cost_usd), 0) AS "costUsd",
    count(*) - count(cost_usd) AS unpriced
  FROM hermes_holds WHERE $1::text IS NULL OR session_id = $1`
const SPENT = `
  SELECT coalesce(sum(input_tokens + output_tokens), 0) AS tokens, coalesce(sum(cost_usd), 0) AS "costUsd",
    count(*) - count(cost_usd) AS "unpricedCalls"
  FROM hermes_usage WHERE at_ms >= coalesce($1::float8, '-infinity') AND ($2::text IS NULL OR session_id = $2)`

/** Calls that are being made, so that processes on several machines keep one budget. Times are those of the server. */
export class UsageReservations {
  readonly #connection: Connection
  readonly #clock: Pick<Clock, 'now'>
  readonly #process: string

  constructor(connection: Connection, options: { readonly clock: Pick<Clock, 'now'>; readonly process: string }) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
  }

  reserve(
    call: UsageReservation,
    { filters, admits }: Parameters<NonNullable<UsageLedger['reserve']>>[1],
  ): Promise<boolean> {
    const { id, sessionId, tokens, costUsd } = call
    return this.#connection.write('holds', async (statements) => {
      await statements.run(LOCK)
      await this.#forgetEnded(statements)
      const states: SpendingState[] = []
      for (const filter of filters) states.push(await stateOf(statements, filter))
      if (!admits(states)) return false
      const cost = costUsd === 'unknown' ? null : costUsd
      await statements.run(INSERT, id, this.#process, sessionId, tokens, cost, this.#clock.now())
      return true
    })
  }

  /** Forgets all holds of this process. */
  async releaseAll(statements: Statements): Promise<void> {
    await statements.run(RELEASE_ALL, [this.#process])
  }

  async #forgetEnded(statements: Statements): Promise<void> {
    await statements.run(FORGET_OLD, this.#clock.now(), TTL_MS)
    const others = await statements.all<{ process: string }>(PROCESSES, this.#process)
    const ended = others.map(({ process }) => process).filter(hasEnded)
    if (ended.length > 0) await statements.run(RELEASE_ALL, ended)
  }
}

async function stateOf(statements: Statements, filter: SpendingFilter): Promise<SpendingState> {
  const { sinceMs = null, sessionId = null } = filter
  const spent = await statements.first<SpendingState['spent']>(SPENT, sinceMs, sessionId)
  const reserved = await statements.first<ReservedRow>(RESERVED, sessionId)
  return { spent: spent!, reserved: toReserved(reserved!) }
}
