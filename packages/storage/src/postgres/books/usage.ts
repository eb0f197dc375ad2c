import type { UsageFilter, UsageGroup, UsageLedger, UsageRecord, UsageTotal } from '@hermes/contracts/store'
import { addUp, QUARTER_HOUR_MS, type TotalRow } from '../../shared/usage-totals.js'
import type { Connection } from '../server/connection.js'
import type { UsageReservations } from './usage-reservations.js'

const COLUMNS = `at_ms, session_id, purpose, provider, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
  reasoning_tokens, cost_usd, price_source, duration_ms, estimated`
const INSERT = `
  WITH released AS (DELETE FROM hermes_holds WHERE id = ANY ($15::text[]))
  INSERT INTO hermes_usage (${COLUMNS})
  SELECT * FROM unnest($1::float8[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::bigint[], $11::float8[], $12::text[], $13::float8[], $14::boolean[])`

const KEYS: Readonly<Record<UsageGroup | 'all', string>> = {
  all: "''::text",
  day: `floor(at_ms / ${QUARTER_HOUR_MS})`,
  provider: 'provider',
  model: 'model',
  session: "coalesce(session_id, '')",
  purpose: 'purpose',
}

const totalsOf = (group: UsageGroup | 'all') => `
  SELECT ${KEYS[group]} AS key, count(*) AS calls, sum(input_tokens) AS "inputTokens", sum(output_tokens) AS "outputTokens",
    sum(cache_read_tokens) AS "cacheReadTokens", sum(cache_write_tokens) AS "cacheWriteTokens",
    sum(reasoning_tokens) AS "reasoningTokens", coalesce(sum(cost_usd), 0) AS "costUsd",
    count(*) - count(cost_usd) AS unpriced, json_agg(DISTINCT price_source)::text AS sources,
    count(*) FILTER (WHERE estimated) AS estimated
  FROM hermes_usage
  WHERE at_ms >= coalesce($1, at_ms) AND at_ms < coalesce($2, at_ms + 1) AND ($3::text IS NULL OR session_id = $3)
  GROUP BY 1 ORDER BY 1`

/** The usage ledger on PostgreSQL. */
export class UsageStore implements UsageLedger {
  readonly #connection: Connection
  readonly #reservations: UsageReservations

  constructor(connection: Connection, options: { readonly reservations: UsageReservations }) {
    this.#connection = connection
    this.#reservations = options.reservations
  }

  reserve(...requested: Parameters<UsageReservations['reserve']>): Promise<boolean> {
    return this.#reservations.reserve(...requested)
  }

  async record(
    records: readonly UsageRecord[],
    { releases = [] }: { readonly releases?: readonly string[] } = {},
  ): Promise<void> {
    const rows = records.map(({ atMs, sessionId, purpose, provider, model, usage, priceSource, ...rest }) => [
      ...[atMs, sessionId, purpose, provider, model, usage.inputTokens, usage.outputTokens, usage.cacheReadTokens],
      ...[usage.cacheWriteTokens, usage.reasoningTokens, usage.costUsd === 'unknown' ? null : usage.costUsd],
      ...[priceSource, rest.durationMs, rest.isEstimate === true],
    ])
    const columns = Array.from({ length: 14 }, (_, column) => rows.map((row) => row[column]))
    await this.#connection.writeOne('usage', (statements) => statements.run(INSERT, ...columns, releases))
  }

  totals(
    options: UsageFilter & { readonly by?: UsageGroup; readonly timeZone?: string } = {},
  ): Promise<readonly UsageTotal[]> {
    const { by, timeZone = 'UTC', sinceMs = null, untilMs = null, sessionId = null } = options
    return this.#connection.read(async (statements) => {
      const rows = await statements.all<TotalRow>(totalsOf(by ?? 'all'), sinceMs, untilMs, sessionId)
      return addUp(rows, { by, timeZone })
    })
  }
}
