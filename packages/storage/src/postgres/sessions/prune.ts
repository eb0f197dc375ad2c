import type { PruneOptions } from '../../storage.js'
import type { Connection } from '../server/connection.js'

// One transaction deletes about this many messages; a longer session goes in one all the same.
const BATCH_MESSAGES = 10_000

// A session stays while anything in its lineage, however far down, is recent or held by somebody. Whether it was ended says nothing: a
// process that is killed ends none, and an import ends all.
const DUE = `
  WITH RECURSIVE keep(id) AS (
    SELECT s.id FROM sessions s
    WHERE s.last_active_ms > $1 OR ($2::text IS NOT NULL AND s.source <> $2)
      OR EXISTS (SELECT 1 FROM hermes_leases l WHERE l.session_id = s.id AND l.renewed_ms + l.ttl_ms > $3)
    UNION
    SELECT s.parent_session_id FROM sessions s JOIN keep ON keep.id = s.id WHERE s.parent_session_id IS NOT NULL
  )
  SELECT id, message_count AS messages FROM sessions WHERE id NOT IN (SELECT id FROM keep) ORDER BY started_ms DESC, id`
// Whoever takes a lease meanwhile has the row of its session locked, so such a session stays for the next time.
const DELETE = `
  DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE id = ANY ($1::text[]) FOR UPDATE SKIP LOCKED)
    AND NOT EXISTS (SELECT 1 FROM hermes_leases l WHERE l.session_id = sessions.id AND l.renewed_ms + l.ttl_ms > $2)`

interface DueSession {
  readonly id: string
  readonly messages: number
}

/**
 * Deletes old sessions some at a time. A kill leaves each session whole or gone. `nowMs` is of the clock that sessions are dated by,
 * `leaseNowMs` of that of leases.
 */
export async function pruneSessions(
  connection: Connection,
  options: PruneOptions & { readonly nowMs: number; readonly leaseNowMs: number },
): Promise<number> {
  const { olderThanMs, source = null, nowMs, leaseNowMs, dryRun } = options
  const due = await connection.read((statements) =>
    statements.all<DueSession>(DUE, nowMs - olderThanMs, source, leaseNowMs),
  )
  if (dryRun) return due.length
  let deleted = 0
  for (const ids of inSteps(due)) {
    deleted += await connection.writeOne('prune', (statements) => statements.run(DELETE, ids, leaseNowMs))
  }
  return deleted
}

function* inSteps(due: readonly DueSession[]): Generator<readonly string[]> {
  let ids: string[] = []
  let messages = 0
  for (const session of due) {
    if (ids.length > 0 && messages + session.messages > BATCH_MESSAGES) {
      yield ids
      ;[ids, messages] = [[], 0]
    }
    ids.push(session.id)
    messages += session.messages
  }
  if (ids.length > 0) yield ids
}
