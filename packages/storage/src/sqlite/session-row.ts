import type { SessionInfo } from '@hermes/contracts/store'
import type { Selectable } from 'kysely'
import { usageOf } from '../shared/counts.js'
import type { SessionsTable } from './tables.js'

const PREVIEW_CHARS = 100

/** What a {@link SessionInfo} is made of. */
export interface SessionRow
  extends Pick<
    Selectable<SessionsTable>,
    | 'id'
    | 'source'
    | 'title'
    | 'model'
    | 'billing_provider'
    | 'billing_base_url'
    | 'parent_session_id'
    | 'started_at'
    | 'ended_at'
    | 'end_reason'
    | 'message_count'
    | 'tool_call_count'
    | 'api_call_count'
    | 'input_tokens'
    | 'output_tokens'
    | 'cache_read_tokens'
    | 'cache_write_tokens'
    | 'reasoning_tokens'
    | 'estimated_cost_usd'
    | 'cost_status'
  > {
  readonly cwd: string | null
  readonly last_active: number
  readonly preview: string | null
}

/**
 * All {@link SessionRow}s. `last_active_ms` is what they are sorted by; it may lack a message another program has just added. Activity is the newest of our own note of it, the newest message (another program may have added it)
 * and the start. Every column names its table, since other programs add columns to theirs. The preview is a little longer than what is shown, because white space is folded afterwards.
 */
export const SESSION_ROWS = `
  SELECT sessions.id, sessions.source, sessions.title, sessions.model, sessions.billing_provider, sessions.billing_base_url,
    sessions.parent_session_id, own.cwd, sessions.started_at, sessions.ended_at, sessions.end_reason, own.last_active_ms,
    sessions.message_count, sessions.tool_call_count, sessions.api_call_count, sessions.input_tokens, sessions.output_tokens,
    sessions.cache_read_tokens, sessions.cache_write_tokens, sessions.reasoning_tokens, sessions.estimated_cost_usd,
    sessions.cost_status,
    max(
      own.last_active_ms,
      coalesce((SELECT max(timestamp) FROM messages WHERE session_id = sessions.id), 0) * 1000,
      sessions.started_at * 1000
    ) AS last_active,
    (
      SELECT substr(content, 1, ${PREVIEW_CHARS * 2}) FROM messages
      WHERE session_id = sessions.id AND role = 'user' AND content <> ''
      ORDER BY timestamp, id LIMIT 1
    ) AS preview
  FROM sessions JOIN hermes_sessions own ON own.session_id = sessions.id`

/** One row as lists show it. */
export function toSessionInfo(row: SessionRow): SessionInfo {
  return {
    id: row.id,
    source: row.source,
    title: row.title,
    model: row.model,
    provider: row.billing_provider,
    baseUrl: row.billing_base_url,
    parentSessionId: row.parent_session_id,
    cwd: row.cwd,
    startedAtMs: Math.round(row.started_at * 1000),
    lastActiveAtMs: Math.round(row.last_active),
    endedAtMs: row.ended_at === null ? null : Math.round(row.ended_at * 1000),
    endReason: row.end_reason,
    messageCount: row.message_count ?? 0,
    toolCallCount: row.tool_call_count ?? 0,
    usage: usageOf(row),
    apiCallCount: row.api_call_count ?? 0,
    preview: [...(row.preview ?? '').replace(/\s+/gu, ' ').trim()].slice(0, PREVIEW_CHARS).join(''),
  }
}
