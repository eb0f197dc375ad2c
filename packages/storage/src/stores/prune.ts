import { setImmediate as nextTick } from 'node:timers/promises'
import { MARKS } from '../marks.js'
import { all, type Database, type Work } from '../shared/database.js'
import { deleteSessions } from '../shared/found-sessions.js'
import { isAbandoned } from '../shared/lease-rules.js'
import type { PruneOptions } from '../storage.js'
import { activity } from './activity.js'

/** One transaction deletes about this many messages, which takes some 20 ms; a longer session goes in one all the same. */
const BATCH_MESSAGES = 1_000
const BATCH_SESSIONS = 1_000

interface Due {
  readonly id: string
  readonly messages: number
}

/**
 * Deletes old sessions in steps that let others have a turn. A kill leaves each session whole or gone. `nowMs` is of the clock that
 * sessions are dated by, `leaseNowMs` of that of leases.
 */
export async function pruneSessions(
  database: Database,
  options: PruneOptions & { readonly nowMs: number; readonly leaseNowMs: number },
): Promise<number> {
  const due = await database.read(() => dueSessions(database, options))
  if (options.dryRun) return due.length
  let deleted = 0
  for (const ids of inSteps(due)) {
    deleted += await database.write('prune', () => deleteDue(database, ids, options))
    await nextTick()
  }
  return deleted
}

/** Whoever takes a lease meanwhile has the row of its session locked, so such a session stays for the next time. */
function* deleteDue(
  database: Database,
  ids: readonly string[],
  options: Parameters<typeof dueSessions>[1],
): Work<number> {
  const { builder, dialect } = database
  const rows = builder.selectFrom('sessions').select('id').where('id', 'in', ids)
  const free = (yield* all(dialect === 'sqlite' ? rows : rows.forUpdate().skipLocked())).map(({ id }) => id)
  const still = new Set((yield* dueSessions(database, options)).map(({ id }) => id))
  const going = free.filter((id) => still.has(id))
  if (going.length > 0) yield* deleteSessions(database, going)
  return going.length
}

/** Those that a process has open, whether it writes them or not: it had the lease last and has neither ended the session nor itself. */
function* openSessions(database: Database, nowMs: number): Work<readonly string[]> {
  const { builder, dialect, sql } = database
  const ended = sql.ref(dialect === 'sqlite' ? 'ended_at' : 'ended_ms')
  const writers = yield* all(
    builder
      .selectFrom('hermes_leases')
      .innerJoin('sessions', 'sessions.id', 'session_id')
      .select(['session_id', 'process', 'ttl_ms', 'renewed_ms'])
      .where(sql<boolean>`${ended} IS NULL`),
  )
  return writers.filter((writer) => !isAbandoned(writer, nowMs)).map(({ session_id }) => session_id)
}

/**
 * A session stays while anything in its lineage, however far down, is recent, pinned or open somewhere. That it was not ended is not enough: a
 * process that is killed ends none. An import ends all.
 */
function* dueSessions(
  database: Database,
  options: PruneOptions & { readonly nowMs: number; readonly leaseNowMs: number },
): Work<readonly Due[]> {
  const open = yield* openSessions(database, options.leaseNowMs)
  return yield* all(notKept(database, { ...options, open }))
}

function notKept(
  database: Database,
  options: Parameters<typeof dueSessions>[1] & { readonly open: readonly string[] },
) {
  const { builder, sql } = database
  const { olderThanMs, source, nowMs, leaseNowMs, open } = options
  const leases = builder.selectFrom('hermes_leases').select('session_id')
  const pinned = builder.selectFrom('hermes_tags').select('session_id').where('tag', '=', MARKS.pinned)
  const held = leases.where(sql<boolean>`renewed_ms + ttl_ms > ${leaseNowMs}`)
  return builder
    .withRecursive('keep(id)', (kept) =>
      kept
        .selectFrom(activity(database))
        .select('active.id')
        .where((where) =>
          where.or([
            where('last_active_ms', '>', nowMs - olderThanMs),
            where('active.id', 'in', held),
            ...(open.length > 0 ? [where('active.id', 'in', open)] : []),
            where('active.id', 'in', pinned),
            ...(source === undefined ? [] : [where('source', '<>', source)]),
          ]),
        )
        .union(
          kept
            .selectFrom('sessions')
            .innerJoin('keep', 'keep.id', 'sessions.id')
            .select('parent_session_id as id')
            .where('parent_session_id', 'is not', null)
            .$castTo<{ id: string }>(),
        ),
    )
    .selectFrom(activity(database))
    .select(['active.id', 'messages'])
    .where('active.id', 'not in', (kept) => kept.selectFrom('keep').select('keep.id'))
    .orderBy('started_ms', 'desc')
    .orderBy('active.id')
}

function* inSteps(due: readonly Due[]): Generator<readonly string[]> {
  let [ids, rows]: [string[], number] = [[], 0]
  for (const { id, messages } of due) {
    if (ids.length === BATCH_SESSIONS || (ids.length > 0 && rows + messages > BATCH_MESSAGES)) {
      yield ids
      ;[ids, rows] = [[], 0]
    }
    ids.push(id)
    rows += messages
  }
  if (ids.length > 0) yield ids
}
