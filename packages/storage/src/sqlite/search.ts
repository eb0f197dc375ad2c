import { sql } from 'kysely'
import type { SearchHit, SearchOptions } from '../storage.js'
import type { Connection } from './connection.js'
import { toSearchExpression } from './search-query.js'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100
const SNIPPET_TOKENS = 40

const snippet = sql<string>`snippet(messages_fts, -1, '>>>', '<<<', '…', ${sql.lit(SNIPPET_TOKENS)})`

/** Inside a transaction: messages that match, best first. */
export function searchMessages(connection: Connection, query: string, options: SearchOptions = {}): SearchHit[] {
  const expression = toSearchExpression(query)
  if (expression === null) return []
  const { limit = DEFAULT_LIMIT, role, source, sessionId, afterMs, beforeMs } = options
  let select = connection.query
    .selectFrom('messages_fts')
    .innerJoin('messages', 'messages.id', 'messages_fts.rowid')
    .innerJoin('sessions', 'sessions.id', 'messages.session_id')
    .select(['messages.id', 'session_id', 'role', 'timestamp', 'title', 'source', snippet.as('snippet')])
    .where(sql<boolean>`messages_fts MATCH ${expression}`)
    .orderBy('messages_fts.rank')
    .orderBy('messages.id', 'desc')
    .limit(Math.min(Math.max(Math.floor(limit) || 0, 0), MAX_LIMIT))
  if (role !== undefined) select = select.where('role', '=', role)
  if (source !== undefined) select = select.where('source', '=', source)
  if (sessionId !== undefined) select = select.where('session_id', '=', sessionId)
  if (afterMs !== undefined) select = select.where('timestamp', '>', afterMs / 1000)
  if (beforeMs !== undefined) select = select.where('timestamp', '<', beforeMs / 1000)
  return connection.rows(select).map((row) => ({
    sessionId: row.session_id,
    seq: row.id,
    role: row.role,
    atMs: Math.round(row.timestamp * 1000),
    snippet: row.snippet,
    title: row.title,
    source: row.source,
  }))
}
