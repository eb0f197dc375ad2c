import { statSync } from 'node:fs'
import type { StoreStats } from '../../storage.js'
import type { Connection } from '../file/connection.js'

const TOTALS = `
  SELECT count(*) AS sessions, coalesce(sum(message_count), 0) AS messages, min(started_at) * 1000 AS oldestMs,
    (SELECT max(last_active_ms) FROM hermes_sessions) AS newestMs
  FROM sessions`
const BY_SOURCE = `
  SELECT source, count(*) AS sessions, coalesce(sum(message_count), 0) AS messages
  FROM sessions GROUP BY source ORDER BY sessions DESC, source`
const BY_MODEL = `
  SELECT model, count(*) AS sessions, coalesce(sum(input_tokens), 0) AS inputTokens,
    coalesce(sum(output_tokens), 0) AS outputTokens, coalesce(sum(estimated_cost_usd), 0) AS costUsd
  FROM sessions WHERE model IS NOT NULL GROUP BY model ORDER BY costUsd DESC, sessions DESC, model`

interface Totals {
  readonly sessions: number
  readonly messages: number
  readonly oldestMs: number | null
  readonly newestMs: number | null
}

/** Inside a transaction. */
export function readStats(connection: Connection): StoreStats {
  const { sessions, messages, oldestMs, newestMs } = connection.statement(TOTALS).get() as Totals
  const size = (suffix: string) => statSync(connection.path + suffix, { throwIfNoEntry: false })?.size ?? 0
  const free = connection.statement('PRAGMA freelist_count').pluck().get() as number
  const page = connection.statement('PRAGMA page_size').pluck().get() as number
  return {
    sessions,
    messages,
    oldestMs: oldestMs === null ? null : Math.round(oldestMs),
    newestMs,
    bytes: size('') + size('-wal'),
    freeBytes: free * page,
    bySource: connection.statement(BY_SOURCE).all() as StoreStats['bySource'],
    byModel: connection.statement(BY_MODEL).all() as StoreStats['byModel'],
  }
}
