import type { SessionInfo } from '@hermes/contracts/store'
import { usageOf } from '../shared/counts.js'

const PREVIEW_CHARS = 100

/** What a {@link SessionInfo} is made of. */
export interface SessionRow {
  readonly id: string
  readonly source: string
  readonly title: string | null
  readonly model: string | null
  readonly billing_provider: string | null
  readonly billing_base_url: string | null
  readonly parent_session_id: string | null
  readonly cwd: string | null
  readonly started_ms: number
  readonly last_active_ms: number
  readonly ended_ms: number | null
  readonly end_reason: string | null
  readonly message_count: number
  readonly tool_call_count: number
  readonly api_call_count: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly estimated_cost_usd: number
  readonly cost_status: string | null
  readonly preview: string | null
}

/** All {@link SessionRow}s. The preview is a little longer than what is shown, because white space is folded afterwards. */
export const SESSION_ROWS = `
  SELECT sessions.id, sessions.source, sessions.title, sessions.model, sessions.billing_provider, sessions.billing_base_url,
    sessions.parent_session_id, sessions.cwd, sessions.started_ms, sessions.last_active_ms, sessions.ended_ms, sessions.end_reason,
    sessions.message_count, sessions.tool_call_count, sessions.api_call_count, sessions.input_tokens, sessions.output_tokens,
    sessions.cache_read_tokens, sessions.cache_write_tokens, sessions.reasoning_tokens, sessions.estimated_cost_usd,
    sessions.cost_status, (
    SELECT left(content, ${PREVIEW_CHARS * 2}) FROM messages
    WHERE session_id = sessions.id AND role = 'user' AND content <> '' ORDER BY id LIMIT 1
  ) AS preview
  FROM sessions`

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
    startedAtMs: row.started_ms,
    lastActiveAtMs: row.last_active_ms,
    endedAtMs: row.ended_ms,
    endReason: row.end_reason,
    messageCount: row.message_count,
    toolCallCount: row.tool_call_count,
    usage: usageOf(row),
    apiCallCount: row.api_call_count,
    preview: [...(row.preview ?? '').replace(/\s+/gu, ' ').trim()].slice(0, PREVIEW_CHARS).join(''),
  }
}
