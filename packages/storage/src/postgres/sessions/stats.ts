import type { StoreStats } from '../../storage.js'
import type { Statements } from '../server/statements.js'

const TOTALS = `
  SELECT count(*) AS sessions, coalesce(sum(message_count), 0) AS messages, min(started_ms) AS "oldestMs",
    max(last_active_ms) AS "newestMs"
  FROM sessions`
const BYTES = `
  SELECT coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`
const BY_SOURCE = `
  SELECT source, count(*) AS sessions, coalesce(sum(message_count), 0) AS messages
  FROM sessions GROUP BY source ORDER BY sessions DESC, source COLLATE "C"`
const BY_MODEL = `
  SELECT model, count(*) AS sessions, coalesce(sum(input_tokens), 0) AS "inputTokens",
    coalesce(sum(output_tokens), 0) AS "outputTokens", coalesce(sum(estimated_cost_usd), 0) AS "costUsd"
  FROM sessions WHERE model IS NOT NULL GROUP BY model ORDER BY "costUsd" DESC, sessions DESC, model COLLATE "C"`

/** Counts and sizes. What deleted rows leave is the server's to use again and is not told apart. */
export async function readStats(statements: Statements): Promise<StoreStats> {
  const totals = await statements.first<Pick<StoreStats, 'sessions' | 'messages' | 'oldestMs' | 'newestMs'>>(TOTALS)
  const size = await statements.first<{ bytes: number }>(BYTES)
  return {
    ...totals!,
    bytes: size!.bytes,
    freeBytes: 0,
    bySource: await statements.all(BY_SOURCE),
    byModel: await statements.all(BY_MODEL),
  }
}
