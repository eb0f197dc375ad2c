import { isDeepStrictEqual } from 'node:util'
import { errorLine } from '@hermes/contracts'
import type { NewEntry } from '@hermes/contracts/conversation'
import type { Lease, NewSession } from '@hermes/contracts/store'
import type { Storage } from '../storage.js'
import type { DatedEntry, Transcript } from './transcript.js'

const TITLE_CHARS = 90
const MAX_ID_CHARS = 200

type Written =
  | { readonly type: 'imported'; readonly sessionId: string; readonly source: string; readonly messages: number }
  | { readonly type: 'present'; readonly sessionId: string }
  | { readonly type: 'problem'; readonly problem: string }

/**
 * Makes a session of a transcript, or adds the rest of one, without what an agent would obey in the place of its own prompt: whoever made
 * the file may have written it. While that is under way a note in the store says so, and what was left half
 * done is done anew the next time.
 */
export async function writeTranscript(storage: Storage, input: Transcript): Promise<Written> {
  const transcript = { ...input, entries: input.entries.filter(({ entry }) => !isPrompt(entry)) }
  const { id: sessionId, source } = transcript
  const note = `import:${sessionId}`
  if (sessionId.length > MAX_ID_CHARS || /\p{C}/u.test(sessionId))
    return { type: 'problem', problem: 'A conversation was left out: its id is too long, or holds control characters.' }
  try {
    let present = await storage.sessions.get(sessionId)
    if (present && (await storage.meta.get(note)) !== null) {
      if (await isGoneOnWith(storage, transcript))
        return {
          type: 'problem',
          problem: `${sessionId} came in only in part and was gone on with; delete it to import it anew.`,
        }
      await storage.sessions.delete(sessionId)
      present = null
    }
    const entries = present ? await missing(storage, transcript) : transcript.entries
    if (entries.length === 0) return { type: 'present', sessionId }
    if (!present) {
      await storage.meta.set(note, 'under way')
      await storage.sessions.create(await newSession(storage, transcript))
    }
    await append(storage, sessionId, entries)
    if (!present && transcript.tags?.length) await storage.sessions.setTags(sessionId, transcript.tags)
    const isOpen = present !== null && present.endedAtMs === null
    if (!isOpen) await storage.sessions.update(sessionId, { endedAtMs: entries.at(-1)!.atMs, endReason: 'imported' })
    await storage.meta.set(note, null)
    const messages = entries.filter(({ entry }) => entry.type === 'message').length
    return { type: 'imported', sessionId, source: present?.source ?? source, messages }
  } catch (error) {
    return { type: 'problem', problem: errorLine(error) }
  }
}

function isPrompt(entry: NewEntry): boolean {
  return entry.type === 'prompt' || (entry.type === 'message' && entry.message.role === 'system')
}

/** Whether a session that was left half done has anything that is not of its transcript. */
async function isGoneOnWith(storage: Storage, { id, entries }: Transcript): Promise<boolean> {
  const there = await storage.log.entries(id)
  return there.some(({ type, atMs }, index) => entries[index]?.atMs !== atMs || entries[index]?.entry.type !== type)
}

/** Of a rest, what the session has not got yet; of a whole session nothing. */
async function missing(storage: Storage, { id, isRest, entries }: Transcript): Promise<readonly DatedEntry[]> {
  if (!isRest) return []
  const there = await storage.log.entries(id)
  return entries.filter(
    (wanted) =>
      !there.some(({ seq: _seq, atMs, ...entry }) => atMs === wanted.atMs && isDeepStrictEqual(entry, wanted.entry)),
  )
}

async function append(storage: Storage, sessionId: string, entries: readonly DatedEntry[]): Promise<void> {
  const lease = await storage.leases.acquire(sessionId, { owner: 'import' })
  const numbers = new Map<number, number>()
  for (const batch of ofOneMoment(entries)) await appendBatch(storage, lease, batch, numbers)
  await lease.release()
}

async function appendBatch(
  storage: Storage,
  lease: Lease,
  batch: readonly DatedEntry[],
  numbers: Map<number, number>,
): Promise<void> {
  const entries = batch.map(({ entry }) => renumber(entry, numbers))
  const seqs = await storage.log.append(lease.sessionId, entries, { lease, atMs: batch[0]!.atMs })
  for (const [index, { seq }] of batch.entries()) if (seq !== undefined) numbers.set(seq, seqs[index]!)
}

async function newSession(storage: Storage, transcript: Transcript): Promise<NewSession> {
  const { id, source, person, title, cwd, model, provider, parentId, startedAtMs } = transcript
  const short = title === undefined ? '' : [...title.replace(/\s+/g, ' ').trim()].slice(0, TITLE_CHARS).join('')
  const parent = parentId === undefined ? null : await storage.sessions.get(parentId)
  return {
    id,
    source,
    ...(person === undefined ? {} : { person }),
    startedAtMs,
    ...(short === '' ? {} : { title: await storage.sessions.nextTitle(short) }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(parent ? { parentSessionId: parent.id } : {}),
  }
}

/** Entries of the same time are appended at once, one that names others on its own. */
function ofOneMoment(entries: readonly DatedEntry[]): readonly (readonly DatedEntry[])[] {
  const batches: DatedEntry[][] = []
  for (const entry of entries) {
    const last = batches.at(-1)
    if (last?.[0]?.atMs === entry.atMs && !namesOthers(entry.entry)) last.push(entry)
    else batches.push([entry])
  }
  return batches
}

/** Whether an entry names others by their numbers. */
function namesOthers(entry: NewEntry): boolean {
  return entry.type === 'compaction' || entry.type === 'undo'
}

/**
 * The entry with the numbers that entries have in the new log; `numbers` goes from old to new. A number that is not in it stands for
 * the last one before it (`fromSeq` of an undo: the first one after it).
 */
function renumber(entry: NewEntry, numbers: ReadonlyMap<number, number>): NewEntry {
  const before = (seq: number) => numbers.get(seq) ?? Math.max(0, ...above(numbers, (old) => old < seq))
  const from = (seq: number) =>
    numbers.get(seq) ?? Math.min(Number.MAX_SAFE_INTEGER, ...above(numbers, (old) => old > seq))
  switch (entry.type) {
    case 'compaction':
      return {
        ...entry,
        upToSeq: before(entry.upToSeq),
        ...(entry.headUpToSeq === undefined ? {} : { headUpToSeq: before(entry.headUpToSeq) }),
        ...(entry.repeatedSeqs ? { repeatedSeqs: entry.repeatedSeqs.map(before) } : {}),
        ...(entry.shortened ? { shortened: entry.shortened.map((one) => ({ ...one, seq: before(one.seq) })) } : {}),
      }
    case 'undo':
      return { ...entry, fromSeq: from(entry.fromSeq) }
    default:
      return entry
  }
}

function above(numbers: ReadonlyMap<number, number>, matches: (old: number) => boolean): number[] {
  return [...numbers].filter(([old]) => matches(old)).map(([, now]) => now)
}
