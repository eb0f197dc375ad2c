import type { Database } from '../shared/database.js'

interface Activity {
  readonly id: string
  readonly source: string
  readonly messages: number
  readonly started_ms: number
  readonly last_active_ms: number
}

/** All sessions with their times, as `active`. A file keeps those of other programs in seconds, and ours next to them. */
export function activity({ dialect, sql }: Database) {
  return dialect === 'sqlite'
    ? sql<Activity>`(
        SELECT id, source, coalesce(message_count, 0) AS messages, started_at * 1000 AS started_ms, last_active_ms
        FROM sessions JOIN hermes_sessions ON session_id = id
      )`.as('active')
    : sql<Activity>`(SELECT id, source, message_count AS messages, started_ms, last_active_ms FROM sessions)`.as(
        'active',
      )
}
