import type { Clock } from '@hermes/contracts'
import type { UsageFilter, UsageGroup, UsageLedger, UsageRecord, UsageTotal } from '@hermes/contracts/store'
import { addUp, QUARTER_HOUR_MS, type TotalRow } from '../../shared/usage-totals.js'
import type { Connection } from '../file/connection.js'
import type { UsageReservations } from './usage-reservations.js'

// The ledger's table is made by the first call that is recorded, so that opening a store costs no more for it. Rows belong to no
// session by a foreign key: what was spent stays spent when a session is deleted.
const CREATE = [
  `CREATE TABLE IF NOT EXISTS hermes_usage (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    session_id TEXT,
    purpose TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    reasoning_tokens INTEGER NOT NULL,
    cost_usd REAL,
    price_source TEXT,
    duration_ms INTEGER NOT NULL,
    estimated INTEGER NOT NULL DEFAULT 0
  )`,
  'CREATE INDEX IF NOT EXISTS hermes_usage_at ON hermes_usage(at_ms)',
  'CREATE INDEX IF NOT EXISTS hermes_usage_session ON hermes_usage(session_id)',
]
/** None where there is no table; those of older versions have no mark for estimates. */
const COLUMNS = "SELECT name FROM pragma_table_info('hermes_usage')"
const ADD_MARK = 'ALTER TABLE hermes_usage ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0'
const INSERT = `
  INSERT INTO hermes_usage (at_ms, session_id, purpose, provider, model, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, cost_usd, price_source, duration_ms, estimated)
  VALUES (:atMs, :sessionId, :purpose, :provider, :model, :inputTokens, :outputTokens, :cacheReadTokens,
    :cacheWriteTokens, :reasoningTokens, :costUsd, :priceSource, :durationMs, :estimated)`

const KEYS: Readonly<Record<UsageGroup | 'all', string>> = {
  all: "''",
  day: `CAST(at_ms / ${QUARTER_HOUR_MS} AS INTEGER)`,
  provider: 'provider',
  model: 'model',
  session: "coalesce(session_id, '')",
  purpose: 'purpose',
}

const totalsOf = (group: UsageGroup | 'all', estimated: string) => `
  SELECT ${KEYS[group]} AS key, count(*) AS calls, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
    sum(cache_read_tokens) AS cacheReadTokens, sum(cache_write_tokens) AS cacheWriteTokens,
    sum(reasoning_tokens) AS reasoningTokens, total(cost_usd) AS costUsd, count(*) - count(cost_usd) AS unpriced,
    json_group_array(DISTINCT price_source) AS sources, sum(${estimated}) AS estimated
  FROM hermes_usage
  WHERE at_ms >= coalesce(:sinceMs, at_ms) AND at_ms < coalesce(:untilMs, at_ms + 1)
    AND (:sessionId IS NULL OR session_id = :sessionId)
  GROUP BY 1 ORDER BY 1`

/** The usage ledger on SQLite. */
export class UsageStore implements UsageLedger {
  readonly #connection: Connection
  readonly #options: { readonly clock: Clock; readonly process: string }
  /** Loaded by the first call under a budget. */
  #reservations: UsageReservations | null = null
  #isMade = false

  constructor(connection: Connection, options: { readonly clock: Clock; readonly process: string }) {
    this.#connection = connection
    this.#options = options
  }

  async reserve(...requested: Parameters<NonNullable<UsageLedger['reserve']>>): Promise<boolean> {
    if (!this.#reservations) {
      const { UsageReservations: Loaded } = await import('./usage-reservations.js')
      await this.record([])
      this.#reservations ??= new Loaded(this.#connection, this.#options)
    }
    return this.#reservations.reserve(...requested)
  }

  /** Inside a transaction: forgets the holds of this process. */
  releaseAll(): void {
    this.#reservations?.releaseAll()
  }

  record(
    records: readonly UsageRecord[],
    { releases = [] }: { readonly releases?: readonly string[] } = {},
  ): Promise<void> {
    return this.#connection.write(() => {
      if (!this.#isMade) this.#make()
      for (const id of releases) this.#reservations?.release(id)
      const insert = this.#connection.statement(INSERT)
      for (const { usage, isEstimate = false, ...record } of records) {
        const costUsd = usage.costUsd === 'unknown' ? null : usage.costUsd
        insert.run({ ...record, ...usage, costUsd, estimated: Number(isEstimate) })
      }
      this.#isMade = true
    })
  }

  totals(
    options: UsageFilter & { readonly by?: UsageGroup; readonly timeZone?: string } = {},
  ): Promise<readonly UsageTotal[]> {
    const { by, timeZone = 'UTC', sinceMs = null, untilMs = null, sessionId = null } = options
    return this.#connection.read(() => {
      const columns = this.#columns()
      if (columns.length === 0) return addUp([], { by, timeZone })
      const sql = totalsOf(by ?? 'all', columns.includes('estimated') ? 'estimated' : '0')
      const rows = this.#connection.statement(sql).all({ sinceMs, untilMs, sessionId }) as TotalRow[]
      return addUp(rows, { by, timeZone })
    })
  }

  #make(): void {
    for (const sql of CREATE) this.#connection.statement(sql).run()
    if (!this.#columns().includes('estimated')) this.#connection.statement(ADD_MARK).run()
  }

  #columns(): readonly string[] {
    return this.#connection.statement(COLUMNS).pluck().all() as string[]
  }
}
