import { liveEntries, type NewEntry } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import { copyEntries } from '../../shared/copy-entries.js'
import { countEntries } from '../../shared/counts.js'
import { forkedSession } from '../../shared/forked-session.js'
import { unknownSession } from '../../shared/session-errors.js'
import type { ForkSession } from '../../storage.js'
import type { Connection } from '../server/connection.js'
import type { PostgresLog } from './log.js'
import { type NewRow, toRow } from './new-rows.js'
import type { SessionRows } from './session-rows.js'

// What the conversation has cost so far was paid in the other session.
const COUNT = `
  UPDATE sessions SET message_count = $2, tool_call_count = $3, model = coalesce($4, model),
    billing_provider = coalesce($5, billing_provider), system_prompt = $6
  WHERE id = $1`

/** Where a fork is made. */
interface ForkTarget {
  readonly connection: Connection
  readonly rows: SessionRows
  readonly log: PostgresLog
}

/** A session of its own with the conversation of another one up to an entry. */
export function forkSession({ connection, rows, log }: ForkTarget, fork: ForkSession): Promise<SessionInfo> {
  return connection.write(`session ${fork.id}`, async (statements) => {
    const parent = await rows.read(statements, fork.from)
    if (!parent) throw unknownSession(fork.from)
    const { id, upToSeq = Number.POSITIVE_INFINITY } = fork
    await rows.add(statements, forkedSession(parent, fork))
    const entries = liveEntries((await log.read(statements, parent.id)).filter(({ seq }) => seq <= upToSeq))
    const seqs = await log.draw(statements, entries.length)
    const copies: { seq: number; row: NewRow }[] = []
    const copied = copyEntries(entries, (entry: NewEntry, atMs: number) => {
      const seq = seqs[copies.length]!
      copies.push({ seq, row: toRow(entry, atMs) })
      return seq
    })
    await log.copy(statements, id, copies)
    const counts = countEntries(copied)
    if (counts) {
      const { messages, toolCalls, systemPrompt } = counts
      await statements.run(COUNT, id, messages, toolCalls, counts.model, counts.provider, systemPrompt)
    }
    return (await rows.read(statements, id))!
  })
}
