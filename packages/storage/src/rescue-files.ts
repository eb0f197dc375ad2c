import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { errorLine, isJsonObject } from '@hermes/contracts'
import { type Entry, messageText, type NewEntry, toolCalls } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Storage } from './storage.js'

const NAME = /^hermes-rescue-.*\.jsonl$/
const MAX_BYTES = 256_000_000
const OTHERS = 0o077

/** What a session said while its store took no more. */
export interface RescueFile {
  readonly path: string
  readonly sessionId: string
  /** In the order in which they were said. */
  readonly entries: readonly RescuedEntry[]
  /** Lines that cannot be read. */
  readonly damaged: number
}

/** One of them. */
export interface RescuedEntry {
  /** Unix milliseconds. */
  readonly atMs: number
  readonly entry: NewEntry
}

/** What became of a rescue file. Counts are of messages. */
export type RescueOutcome =
  | {
      readonly type: 'brought-in'
      /** The session itself, or a copy of how it was then, where it went on without what was rescued. */
      readonly sessionId: string
      readonly isCopy: boolean
      readonly added: number
      readonly present: number
      /** What the person sent again by themselves. */
      readonly sentAgain: number
    }
  | { readonly type: 'unknown-session' }
  | { readonly type: 'problem'; readonly problem: string }

/** The rescue files of this user in `directories`, oldest words first. Those of others, links and what cannot be read are left out. */
export async function findRescueFiles(directories: readonly string[]): Promise<readonly RescueFile[]> {
  const paths = await Promise.all(
    directories.map(async (directory) => {
      const names = await readdir(directory).catch(() => [])
      return names.filter((name) => NAME.test(name)).map((name) => join(directory, name))
    }),
  )
  const files = await Promise.all(paths.flat().map((path) => readRescueFile(path).catch(() => null)))
  return files
    .filter((file) => file !== null)
    .sort((left, right) => (left.entries[0]?.atMs ?? 0) - (right.entries[0]?.atMs ?? 0))
}

async function readRescueFile(path: string): Promise<RescueFile | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { uid, mode, size } = await file.stat()
    const isOwn =
      uid === (process.getuid?.() ?? uid) && (mode & OTHERS) === 0 && (mode & constants.S_IFMT) === constants.S_IFREG
    if (!isOwn || size > MAX_BYTES) return null
    const lines = (await file.readFile('utf8')).split('\n').filter((line) => line !== '')
    const read = lines.map(toRescued)
    const [first] = read.filter((line) => line !== null)
    if (!first) return null
    const own = read.filter((line) => line?.sessionId === first.sessionId).map((line) => line!.rescued)
    return { path, sessionId: first.sessionId, entries: own, damaged: lines.length - own.length }
  } finally {
    await file.close()
  }
}

function toRescued(line: string): { readonly sessionId: string; readonly rescued: RescuedEntry } | null {
  try {
    const value: unknown = JSON.parse(line)
    if (!isJsonObject(value)) return null
    const { sessionId, atMs, ...entry } = value
    if (typeof sessionId !== 'string' || typeof atMs !== 'number' || typeof entry['type'] !== 'string') return null
    return { sessionId, rescued: { atMs, entry: entry as unknown as NewEntry } }
  } catch {
    return null
  }
}

/**
 * Takes what was rescued into its session and removes the file; done twice, or done after a crash in between, it adds nothing twice. Where
 * the session went on meanwhile, a copy of how it was then gets it, so that neither order is lost. What an agent would obey in the place of
 * its own prompt does not come along. Never rejects.
 */
export async function bringIn(storage: Storage, file: RescueFile): Promise<RescueOutcome> {
  try {
    const session = await storage.getSession(file.sessionId)
    if (!session) return { type: 'unknown-session' }
    const there = await storage.entries(session.id)
    const judged = file.entries
      .filter(({ entry }) => !isPrompt(entry))
      .map((rescued) => ({ rescued, state: stateOf(rescued, there) }))
    const inState = (...states: readonly State[]) =>
      judged.flatMap(({ rescued, state }) => (states.includes(state) ? [rescued] : []))
    const missing = inState('missing')
    const wentOn = there.some(({ type, atMs }) => type === 'message' && atMs > (missing.at(-1)?.atMs ?? Infinity))
    // A copy has not got what was sent again later.
    const wanted = wentOn ? inState('missing', 'sent-again') : missing
    const target = wentOn ? await copyOf(storage, session, { there, wanted }) : session
    const added = wanted.length === 0 ? 0 : await add(storage, target, wanted)
    if (file.damaged === 0) await rm(file.path, { force: true })
    return {
      type: 'brought-in',
      sessionId: target.id,
      isCopy: target.id !== session.id,
      added,
      present: countMessages(inState('present')),
      sentAgain: wentOn ? 0 : countMessages(inState('sent-again')),
    }
  } catch (error) {
    return { type: 'problem', problem: errorLine(error) }
  }
}

const countMessages = (entries: readonly RescuedEntry[]) =>
  entries.filter(({ entry }) => entry.type === 'message').length

function isPrompt(entry: NewEntry): boolean {
  return entry.type === 'prompt' || (entry.type === 'message' && entry.message.role === 'system')
}

type State = 'missing' | 'present' | 'sent-again'

/** A call and its result are known by their id, everything else by what it says and when. */
function stateOf({ entry, atMs }: RescuedEntry, there: readonly Entry[]): State {
  for (const { seq: _seq, atMs: thereAtMs, ...other } of there) {
    if (thereAtMs === atMs && isDeepStrictEqual(other, entry)) return 'present'
    if (entry.type !== 'message' || other.type !== 'message' || entry.message.role !== other.message.role) continue
    const [rescued, known] = [entry.message, other.message]
    if (rescued.role === 'tool' && known.role === 'tool' && rescued.callId === known.callId) return 'present'
    if (rescued.role === 'assistant' && known.role === 'assistant') {
      const ids = toolCalls(known).map(({ id }) => id)
      if (toolCalls(rescued).some(({ id }) => ids.includes(id))) return 'present'
    }
    if (rescued.role === 'user' && thereAtMs > atMs && isSame(messageText(rescued), messageText(known)))
      return 'sent-again'
  }
  return 'missing'
}

const isSame = (left: string, right: string) => left.trim() !== '' && left.trim() === right.trim()

/** The session as it was before what was rescued; the same for the same words. */
async function copyOf(
  storage: Storage,
  session: SessionInfo,
  { there, wanted }: { readonly there: readonly Entry[]; readonly wanted: readonly RescuedEntry[] },
): Promise<SessionInfo> {
  const digest = createHash('sha256').update(JSON.stringify(wanted)).digest('hex').slice(0, 8)
  const id = `${session.id}-rescued-${digest}`
  const made = await storage.getSession(id)
  if (made) return made
  const upToSeq = there.findLast(({ atMs }) => atMs <= wanted[0]!.atMs)?.seq ?? 0
  const title = session.title === null ? {} : { title: await storage.nextTitle(session.title) }
  return storage.forkSession({ from: session.id, id, upToSeq, ...title })
}

async function add(storage: Storage, target: SessionInfo, entries: readonly RescuedEntry[]): Promise<number> {
  const lease = await storage.acquireLease(target.id, { owner: 'rescue' })
  try {
    const there = await storage.entries(target.id)
    const missing = entries.filter((rescued) => stateOf(rescued, there) !== 'present')
    for (const { entry, atMs } of missing) await storage.append(target.id, [entry], { lease, atMs })
    return countMessages(missing)
  } finally {
    await lease.release()
    const { endedAtMs, endReason } = target
    if (endedAtMs !== null) await storage.updateSession(target.id, { endedAtMs, endReason })
  }
}
