import type { SessionInfo } from '@hermes/contracts/store'
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { usageOf } from './counts.js'
import type { Tables } from './tables.js'

const PREVIEW_CHARS = 100

/** Newest of: our own note of it, the newest message (another program may have added it), the start. */
const lastActive = sql<number>`max(
  coalesce(hermes_sessions.last_active_ms, 0),
  coalesce((SELECT max(timestamp) FROM messages WHERE session_id = sessions.id), 0) * 1000,
  sessions.started_at * 1000)`

/** A little more than is shown, because white space is folded afterwards. */
const preview = sql<string | null>`(
  SELECT substr(content, 1, ${sql.lit(PREVIEW_CHARS * 2)}) FROM messages
  WHERE session_id = sessions.id AND role = 'user' AND content <> ''
  ORDER BY timestamp, id LIMIT 1)`

/** Everything a {@link SessionInfo} is made of, for any number of sessions. */
export function selectSessions(query: Kysely<Tables>) {
  return query
    .selectFrom('sessions')
    .leftJoin('hermes_sessions', 'hermes_sessions.session_id', 'sessions.id')
    .select([
      'sessions.id',
      'source',
      'title',
      'model',
      'billing_provider',
      'parent_session_id',
      'hermes_sessions.cwd',
      'started_at',
      'ended_at',
      'end_reason',
      'message_count',
      'tool_call_count',
      'input_tokens',
      'output_tokens',
      'cache_read_tokens',
      'cache_write_tokens',
      'reasoning_tokens',
      'estimated_cost_usd',
      'cost_status',
      'api_call_count',
      lastActive.as('last_active'),
      preview.as('preview'),
    ])
}

/** The same, newest activity first. */
export function selectNewestSessions(query: Kysely<Tables>) {
  return selectSessions(query)
    .orderBy('last_active', 'desc')
    .orderBy('started_at', 'desc')
    .orderBy('sessions.id', 'desc')
}

type RowOf<Query> = Query extends SelectQueryBuilder<infer _Database, infer _Table, infer Row> ? Row : never

/** One row as lists show it. */
export function toSessionInfo(row: RowOf<ReturnType<typeof selectSessions>>): SessionInfo {
  return {
    id: row.id,
    source: row.source,
    title: row.title,
    model: row.model,
    provider: row.billing_provider,
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
