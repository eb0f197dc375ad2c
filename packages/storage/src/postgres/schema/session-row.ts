import type { SessionInfo } from '@hermes/contracts/store'
import {
  PREVIEW_SOURCE_CHARS,
  SESSION_COLUMNS,
  type SessionRow as SharedRow,
  sessionInfo,
} from '../../shared/session-row.js'

/** What a {@link SessionInfo} is made of. */
export interface SessionRow extends SharedRow {
  readonly started_ms: number
  readonly last_active_ms: number
  readonly ended_ms: number | null
}

/** All {@link SessionRow}s. */
export const SESSION_ROWS = `
  SELECT ${SESSION_COLUMNS}, sessions.cwd, sessions.started_ms, sessions.last_active_ms, sessions.ended_ms, (
    SELECT left(content, ${PREVIEW_SOURCE_CHARS}) FROM messages
    WHERE session_id = sessions.id AND role = 'user' AND content <> '' ORDER BY id LIMIT 1
  ) AS preview
  FROM sessions`

/** One row as lists show it. */
export function toSessionInfo(row: SessionRow): SessionInfo {
  const { started_ms: startedAtMs, last_active_ms: lastActiveAtMs, ended_ms: endedAtMs } = row
  return sessionInfo(row, { startedAtMs, lastActiveAtMs, endedAtMs })
}
