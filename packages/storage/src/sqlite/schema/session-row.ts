import type { SessionInfo } from '@hermes/contracts/store'
import {
  PREVIEW_SOURCE_CHARS,
  SESSION_COLUMNS,
  type SessionRow as SharedRow,
  sessionInfo,
} from '../../shared/session-row.js'

/** What a {@link SessionInfo} is made of. Start and end are seconds, as other programs keep them. */
export interface SessionRow extends SharedRow {
  readonly started_at: number
  readonly ended_at: number | null
  readonly last_active: number
}

/**
 * All {@link SessionRow}s. `last_active_ms` is what they are sorted by; it may lack a message another program has just added. Activity is
 * the newest of our own note of it, the newest message (another program may have added it) and the start.
 */
export const SESSION_ROWS = `
  SELECT ${SESSION_COLUMNS}, sessions.started_at, sessions.ended_at, own.cwd, own.last_active_ms,
    max(
      own.last_active_ms,
      coalesce((SELECT max(timestamp) FROM messages WHERE session_id = sessions.id), 0) * 1000,
      sessions.started_at * 1000
    ) AS last_active,
    (
      SELECT substr(content, 1, ${PREVIEW_SOURCE_CHARS}) FROM messages
      WHERE session_id = sessions.id AND role = 'user' AND content <> ''
      ORDER BY timestamp, id LIMIT 1
    ) AS preview
  FROM sessions JOIN hermes_sessions own ON own.session_id = sessions.id`

/** One row as lists show it. */
export function toSessionInfo(row: SessionRow): SessionInfo {
  return sessionInfo(row, {
    startedAtMs: Math.round(row.started_at * 1000),
    lastActiveAtMs: Math.round(row.last_active),
    endedAtMs: row.ended_at === null ? null : Math.round(row.ended_at * 1000),
  })
}
