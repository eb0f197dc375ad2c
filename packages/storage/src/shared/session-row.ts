import type { SessionInfo } from '@hermes/contracts/store'
import { MARKS } from '../marks.js'
import { type UsageColumns, usageOf } from './counts.js'
import type { Statement } from './database.js'
import { personOf } from './person.js'

const PREVIEW_CHARS = 100

/** Characters of the first message that are read for the preview: more than what is shown, because white space is folded afterwards. */
export const PREVIEW_SOURCE_CHARS = PREVIEW_CHARS * 2

/** The columns that sessions have in every dialect. They name their table, since other programs add columns to theirs. */
export const SESSION_COLUMNS = `
    sessions.id, sessions.source, sessions.user_id, sessions.title, sessions.model, sessions.billing_provider, sessions.billing_base_url,
    sessions.parent_session_id, sessions.end_reason, sessions.message_count, sessions.tool_call_count, sessions.api_call_count,
    sessions.input_tokens, sessions.output_tokens, sessions.cache_read_tokens, sessions.cache_write_tokens,
    sessions.reasoning_tokens, sessions.estimated_cost_usd, sessions.cost_status`

/** Whoever writes an archived session has it in the lists again. */
export const BRING_BACK = `DELETE FROM hermes_tags WHERE session_id = ? AND tag = '${MARKS.archived}'`

/** A row where there is such a session. */
export const SESSION_EXISTS = 'SELECT 1 FROM sessions WHERE id = ?'

/** The id of another session with a title. */
export const TITLE_HOLDER = 'SELECT id FROM sessions WHERE title = ? AND id <> ?'

/** The statement that changes columns of a session; `null` when all of them are `undefined`, which stays as it is. */
export function changeSession(id: string, columns: Readonly<Record<string, unknown>>): Statement | null {
  const changed = Object.entries(columns).filter(([, value]) => value !== undefined)
  if (changed.length === 0) return null
  const assignments = changed.map(([name]) => `${name} = ?`).join(', ')
  const parameters = [...changed.map(([, value]) => value), id]
  return { sql: `UPDATE sessions SET ${assignments} WHERE id = ?`, parameters }
}

/** {@link SESSION_COLUMNS}, and what each dialect finds in its own way. */
export interface SessionRow extends UsageColumns {
  readonly id: string
  readonly source: string
  readonly user_id: string | null
  readonly title: string | null
  readonly model: string | null
  readonly billing_provider: string | null
  readonly billing_base_url: string | null
  readonly parent_session_id: string | null
  readonly end_reason: string | null
  readonly message_count: number | null
  readonly tool_call_count: number | null
  readonly api_call_count: number | null
  readonly cwd: string | null
  readonly preview: string | null
}

/** One row as lists show it. */
export function sessionInfo(
  row: SessionRow,
  times: Pick<SessionInfo, 'startedAtMs' | 'lastActiveAtMs' | 'endedAtMs'>,
): SessionInfo {
  return {
    id: row.id,
    source: row.source,
    person: personOf(row.user_id),
    title: row.title,
    model: row.model,
    provider: row.billing_provider,
    baseUrl: row.billing_base_url,
    parentSessionId: row.parent_session_id,
    cwd: row.cwd,
    ...times,
    endReason: row.end_reason,
    messageCount: row.message_count ?? 0,
    toolCallCount: row.tool_call_count ?? 0,
    usage: usageOf(row),
    apiCallCount: row.api_call_count ?? 0,
    preview: [...(row.preview ?? '').replace(/\s+/gu, ' ').trim()].slice(0, PREVIEW_CHARS).join(''),
  }
}

/** The statements for the sessions above and below one. A row that is its own ancestor would go round for ever, hence the depth. */
export function relatedSessions(options: {
  /** The statement that gives all sessions. */
  readonly rows: string
  /** The column with the time of the start. */
  readonly started: string
}) {
  const related = (join: string, order: string) => `
  WITH RECURSIVE lineage(id, parent, depth) AS (
    SELECT id, parent_session_id, 0 FROM sessions WHERE id = ?
    UNION ALL
    SELECT s.id, s.parent_session_id, l.depth + 1 FROM sessions s JOIN lineage l ON ${join} WHERE l.depth < 1000
  )
  ${options.rows} JOIN lineage ON lineage.id = sessions.id WHERE lineage.depth > 0 ORDER BY ${order}`
  return {
    ancestors: related('s.id = l.parent', 'lineage.depth'),
    descendants: related('s.parent_session_id = l.id', `lineage.depth, ${options.started}, sessions.id`),
  }
}
