import type { Database } from '../shared/database.js'

interface Activity {
  readonly id: string
  readonly source: string
  readonly messages: number
  readonly started_ms: number
  readonly last_active_ms: number
}

/**
 * All sessions with their times, as `active`. A file keeps those of other programs in seconds, and ours next to them, which lack what another
 * program has just added.
 */
export function activity({ dialect, sql }: Database) {
  return dialect === 'sqlite'
    ? sql<Activity>`(
        SELECT id, source, coalesce(message_count, 0) AS messages, started_at * 1000 AS started_ms,
          max(last_active_ms, coalesce((SELECT max(timestamp) FROM messages WHERE messages.session_id = sessions.id), 0) * 1000)
            AS last_active_ms
        FROM sessions JOIN hermes_sessions ON hermes_sessions.session_id = id
      )`.as('active')
    : sql<Activity>`(SELECT id, source, message_count AS messages, started_ms, last_active_ms FROM sessions)`.as(
        'active',
      )
}
