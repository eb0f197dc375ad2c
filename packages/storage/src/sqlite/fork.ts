import { type CompactionEntry, type Entry, liveEntries, type NewEntry, noUsage } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import type { ForkSession } from '../storage.js'
import type { Connection } from './connection.js'
import { countEntries, countParameters, UPDATE_COUNTS } from './counts.js'
import type { Log } from './log.js'
import type { Sessions } from './sessions.js'
import { unknownSession } from './store-error.js'

/** Where a fork is made. */
export interface ForkPlace {
  readonly connection: Connection
  readonly sessions: Sessions
  readonly log: Log
}

/** A session of its own with the conversation of another one up to an entry. */
export function forkSession({ connection, sessions, log }: ForkPlace, fork: ForkSession): Promise<SessionInfo> {
  return connection.write(() => {
    const parent = sessions.find(fork.from)
    if (!parent) throw unknownSession(fork.from)
    const { model, provider, baseUrl, cwd, source } = parent
    const { id, title, upToSeq = Number.POSITIVE_INFINITY } = fork
    sessions.add({
      id,
      source: fork.source ?? source,
      parentSessionId: parent.id,
      ...(title === undefined ? {} : { title }),
      ...(model === null ? {} : { model }),
      ...(provider === null ? {} : { provider }),
      ...(baseUrl === null ? {} : { baseUrl }),
      ...(cwd === null ? {} : { cwd }),
    })
    const entries = liveEntries(log.read(parent.id).filter(({ seq }) => seq <= upToSeq))
    const copied = copyEntries(entries, (entry, atMs) => log.insert(id, entry, atMs))
    const counts = countEntries(copied)
    // What the conversation has cost so far was paid in the other session.
    if (counts) {
      const unpaid = { ...counts, apiCalls: 0, usage: noUsage }
      connection.statement(UPDATE_COUNTS).run(countParameters(id, unpaid))
    }
    return sessions.find(id)!
  })
}

/** Inserts the entries in their order; where one points at others, it points at their copies. */
export function copyEntries(
  entries: readonly Entry[],
  insert: (entry: NewEntry, atMs: number) => number,
): readonly NewEntry[] {
  const numbers: (readonly [seq: number, copy: number])[] = []
  return entries.map(({ seq, atMs, ...entry }) => {
    const renumbered = entry.type === 'compaction' ? renumber(entry, numbers) : entry
    numbers.push([seq, insert(renumbered, atMs)])
    return renumbered
  })
}

function renumber(entry: CompactionEntry, numbers: readonly (readonly [number, number])[]): CompactionEntry {
  const upTo = (seq: number) => numbers.findLast(([original]) => original <= seq)?.[1] ?? 0
  const exact = new Map(numbers)
  const { headUpToSeq, repeatedSeqs, shortened } = entry
  return {
    ...entry,
    upToSeq: upTo(entry.upToSeq),
    ...(headUpToSeq === undefined ? {} : { headUpToSeq: upTo(headUpToSeq) }),
    ...(repeatedSeqs === undefined ? {} : { repeatedSeqs: repeatedSeqs.flatMap((seq) => exact.get(seq) ?? []) }),
    ...(shortened === undefined
      ? {}
      : {
          shortened: shortened.flatMap(({ seq, text }) => {
            const number = exact.get(seq)
            return number === undefined ? [] : [{ seq: number, text }]
          }),
        }),
  }
}
