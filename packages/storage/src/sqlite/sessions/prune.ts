import { setImmediate as nextTick } from 'node:timers/promises'
import type { PruneOptions } from '../../storage.js'
import type { Connection } from '../file/connection.js'

// One transaction deletes about this many messages, which takes some 20 ms; a longer session goes in one all the same.
const BATCH_MESSAGES = 1_000

// A session stays while anything in its lineage, however far down, is recent or held by somebody. Whether it was ended says nothing: a
// process that is killed ends none, and an import ends all.
const DUE = `
  WITH RECURSIVE keep(id) AS (
    SELECT s.id FROM sessions s JOIN hermes_sessions own ON own.session_id = s.id
    WHERE own.last_active_ms > :untilMs OR (:source IS NOT NULL AND s.source <> :source)
      OR EXISTS (SELECT 1 FROM hermes_leases l WHERE l.session_id = s.id AND l.renewed_ms + l.ttl_ms > :nowMs)
    UNION
    SELECT s.parent_session_id FROM sessions s JOIN keep ON keep.id = s.id WHERE s.parent_session_id IS NOT NULL
  )
  SELECT id, coalesce(message_count, 0) AS messages FROM sessions
  WHERE id NOT IN (SELECT id FROM keep) ORDER BY started_at DESC, id`
const DELETE = [
  'DELETE FROM messages WHERE session_id = ?',
  'UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?',
  'DELETE FROM sessions WHERE id = ?',
]

interface DueSession {
  readonly id: string
  readonly messages: number
}

/** Deletes old sessions in steps that let others have a turn. A kill leaves each session whole or gone. */
export async function pruneSessions(
  connection: Connection,
  { olderThanMs, source, nowMs, dryRun }: PruneOptions & { readonly nowMs: number },
): Promise<number> {
  const parameters = { untilMs: nowMs - olderThanMs, source: source ?? null, nowMs }
  if (dryRun) return connection.read(() => connection.statement(DUE).all(parameters).length)
  let deleted = 0
  for (;;) {
    const gone = await connection.write(() => {
      const batch = inOneStep(connection.statement(DUE).iterate(parameters) as Iterable<DueSession>)
      for (const id of batch) for (const sql of DELETE) connection.statement(sql).run(id)
      return batch.length
    })
    if (gone === 0) return deleted
    deleted += gone
    await nextTick()
  }
}

function inOneStep(due: Iterable<DueSession>): string[] {
  const ids: string[] = []
  let messages = 0
  for (const session of due) {
    messages += session.messages
    if (ids.length > 0 && messages > BATCH_MESSAGES) break
    ids.push(session.id)
  }
  return ids
}
