import { liveEntries, noUsage } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import { copyEntries } from '../../shared/copy-entries.js'
import { countEntries } from '../../shared/counts.js'
import { forkedSession } from '../../shared/forked-session.js'
import { unknownSession } from '../../shared/session-errors.js'
import type { ForkSession } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import { countParameters, UPDATE_COUNTS } from '../schema/update-counts.js'
import type { SqliteLog } from './log.js'
import type { SessionRows } from './session-rows.js'

/** Where a fork is made. */
interface ForkTarget {
  readonly connection: Connection
  readonly rows: SessionRows
  readonly log: SqliteLog
}

/** A session of its own with the conversation of another one up to an entry. */
export function forkSession({ connection, rows, log }: ForkTarget, fork: ForkSession): Promise<SessionInfo> {
  return connection.write(() => {
    const parent = rows.find(fork.from)
    if (!parent) throw unknownSession(fork.from)
    const { id, upToSeq = Number.POSITIVE_INFINITY } = fork
    rows.add(forkedSession(parent, fork))
    const entries = liveEntries(log.read(parent.id).filter(({ seq }) => seq <= upToSeq))
    const copied = copyEntries(entries, (entry, atMs) => log.insert(id, entry, atMs))
    const counts = countEntries(copied)
    // What the conversation has cost so far was paid in the other session.
    if (counts) {
      const unpaid = { ...counts, apiCalls: 0, usage: noUsage }
      connection.statement(UPDATE_COUNTS).run(countParameters(id, unpaid))
    }
    log.appended()
    return rows.find(id)!
  })
}
