import { createHash, randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { errorLine, HermesError } from '@hermes/contracts'
import { type Entry, messageText, type NewEntry, toolCalls } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import { readRescuedLine } from './shared/rescued-entry.js'
import type { Storage } from './storage.js'

const TAKING = '.taking'
const NAME = /^hermes-rescue-.*\.jsonl(?:\.[0-9a-f]+\.taking)?$/
const MAX_BYTES = 256_000_000
const OTHERS = 0o077

/** What a session said while its store took no more. */
export interface RescueFile {
  readonly path: string
  readonly sessionId: string
  /** In the order in which they were said, each once. */
  readonly entries: readonly RescuedEntry[]
  /** Kinds of entries that do not come back. */
  readonly leftOut: readonly string[]
  /** Lines that no store has written. */
  readonly damaged: number
}

/** One of them. */
interface RescuedEntry {
  /** Unix milliseconds. */
  readonly atMs: number
  readonly entry: NewEntry
}

/** A file that has the name of a rescue file and is not taken. */
interface RefusedFile {
  readonly path: string
  readonly problem: string
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
      /** Where the file stays, as it has damaged lines or was written to meanwhile; `null` when it is gone. */
      readonly stays: string | null
    }
  | { readonly type: 'unknown-session' }
  | { readonly type: 'problem'; readonly problem: string }

/**
 * The rescue files in `directories`, oldest words first, those that another rescue began to take too. A link, or a file that other users
 * own or may use, is refused.
 */
export async function findRescueFiles(
  directories: readonly string[],
): Promise<{ readonly files: readonly RescueFile[]; readonly refused: readonly RefusedFile[] }> {
  const paths = await Promise.all(
    directories.map(async (directory) => {
      const names = await readdir(directory).catch(() => [])
      return names.filter((name) => NAME.test(name)).map((name) => join(directory, name))
    }),
  )
  const found = await Promise.all(paths.flat().map((path) => readRescueFile(path)))
  const files = found
    .flatMap((one) => (one && 'entries' in one ? [one] : []))
    .sort((left, right) => (left.entries[0]?.atMs ?? 0) - (right.entries[0]?.atMs ?? 0))
  return { files, refused: found.flatMap((one) => (one && 'problem' in one ? [one] : [])) }
}

/** `null` when it is gone. */
async function readRescueFile(path: string): Promise<(RescueFile & { readonly size: number }) | RefusedFile | null> {
  try {
    const text = await readOwn(path)
    const lines = [...new Set(text.split('\n'))].filter((line) => line !== '')
    const read = lines.flatMap((line) => readRescuedLine(line) ?? [])
    const sessionId = read[0]?.sessionId
    if (sessionId === undefined) return { path, problem: 'No line of it can be read.' }
    const own = read.filter((line) => line.sessionId === sessionId)
    return {
      path,
      sessionId,
      entries: own.flatMap((line) => (line.type === 'entry' ? [{ atMs: line.atMs, entry: line.entry }] : [])),
      leftOut: own.flatMap((line) => (line.type === 'left-out' ? [line.kind] : [])),
      damaged: lines.length - own.length,
      size: Buffer.byteLength(text),
    }
  } catch (error) {
    if (isMissing(error)) return null
    const isLink = (error as NodeJS.ErrnoException).code === 'ELOOP'
    return { path, problem: isLink ? 'It is a link.' : errorLine(error) }
  }
}

async function readOwn(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { uid, mode, size } = await file.stat()
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw refused('It is not a regular file.')
    if (uid !== (process.getuid?.() ?? uid)) throw refused('It belongs to another user.')
    if ((mode & OTHERS) !== 0) throw refused('Other users may read or write it.')
    if (size > MAX_BYTES) throw refused('It is larger than 256 MB.')
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

const refused = (problem: string) => new HermesError(problem, { code: 'store.rescue_refused' })

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

/**
 * Takes what was rescued into its session and removes the file; done twice, or done after a crash in between, it adds nothing twice. Where
 * the session went on meanwhile, a copy of how it was then gets it, so that neither order is lost. What an agent would obey in the place of
 * its own prompt does not come along. Never rejects.
 */
export async function bringIn(storage: Storage, { path, sessionId }: RescueFile): Promise<RescueOutcome> {
  try {
    const session = await storage.sessions.get(sessionId)
    if (!session) return { type: 'unknown-session' }
    const file = await take(path, sessionId)
    const outcome = await addAll(storage, session, file.entries)
    const { size } = await stat(file.path).catch(() => file)
    const isDone = file.damaged === 0 && size === file.size
    if (isDone) await rm(file.path, { force: true })
    return { ...outcome, stays: isDone ? null : file.path }
  } catch (error) {
    return { type: 'problem', problem: errorLine(error) }
  }
}

/** Whoever has more to rescue makes a new file from here on. A file that was taken and not removed is found again. */
async function take(path: string, sessionId: string) {
  const taken = path.endsWith(TAKING) ? path : `${path}.${randomBytes(6).toString('hex')}${TAKING}`
  await rename(path, taken).catch((error: unknown) => {
    throw isMissing(error) ? refused('It is gone: another rescue took it.') : error
  })
  const file = await readRescueFile(taken)
  if (!file) throw refused('It is gone: another rescue took it.')
  if ('problem' in file) throw refused(file.problem)
  if (file.sessionId !== sessionId) throw refused('It was replaced by one of another session.')
  return file
}

async function addAll(storage: Storage, session: SessionInfo, entries: readonly RescuedEntry[]) {
  const there = await storage.log.entries(session.id)
  const judged = entries.map((rescued) => ({ rescued, state: stateOf(rescued, there) }))
  const inState = (...states: readonly State[]) =>
    judged.flatMap(({ rescued, state }) => (states.includes(state) ? [rescued] : []))
  const missing = inState('missing', 'answered-otherwise')
  const wentOn =
    inState('answered-otherwise').length > 0 ||
    there.some(({ type, atMs }) => type === 'message' && atMs > (missing.at(-1)?.atMs ?? Infinity))
  // A copy has not got what was sent again later.
  const wanted = wentOn ? inState('missing', 'answered-otherwise', 'sent-again') : missing
  const target = wentOn ? await copyOf(storage, session, { there, wanted }) : session
  return {
    type: 'brought-in',
    sessionId: target.id,
    isCopy: target.id !== session.id,
    added: wanted.length === 0 ? 0 : await add(storage, target, wanted),
    present: countMessages(inState('present')),
    sentAgain: wentOn ? 0 : countMessages(inState('sent-again')),
  } as const
}

const countMessages = (entries: readonly RescuedEntry[]) =>
  entries.filter(({ entry }) => entry.type === 'message').length

type State = 'missing' | 'present' | 'sent-again' | 'answered-otherwise'

/** A call is known by its id, a result by what it says to that call, everything else by what it says and when. */
function stateOf({ entry, atMs }: RescuedEntry, there: readonly Entry[]): State {
  for (const { seq: _seq, atMs: thereAtMs, ...other } of there) {
    if (thereAtMs === atMs && isDeepStrictEqual(other, entry)) return 'present'
    if (entry.type !== 'message' || other.type !== 'message' || entry.message.role !== other.message.role) continue
    const [rescued, known] = [entry.message, other.message]
    if (rescued.role === 'tool' && known.role === 'tool' && rescued.callId === known.callId)
      return isDeepStrictEqual(rescued.content, known.content) ? 'present' : 'answered-otherwise'
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

/** Where the answer stands that a call got in the place of a rescued one; behind everything when there is none. */
function answerTo({ entry }: RescuedEntry, there: readonly Entry[]): number {
  const result = entry.type === 'message' && entry.message.role === 'tool' ? entry.message : null
  const at = there.findIndex(
    (other) =>
      result && other.type === 'message' && other.message.role === 'tool' && other.message.callId === result.callId,
  )
  return at < 0 ? there.length : at
}

/** The session as it was before what was rescued; the same for the same words. */
async function copyOf(
  storage: Storage,
  session: SessionInfo,
  { there, wanted }: { readonly there: readonly Entry[]; readonly wanted: readonly RescuedEntry[] },
): Promise<SessionInfo> {
  const digest = createHash('sha256').update(JSON.stringify(wanted)).digest('hex').slice(0, 8)
  const id = `${session.id}-rescued-${digest}`
  const made = await storage.sessions.get(id)
  if (made) return made
  // A call that was answered otherwise meanwhile is open in the copy.
  const open = there.slice(0, Math.min(...wanted.map((rescued) => answerTo(rescued, there))))
  const upToSeq = open.findLast(({ atMs }) => atMs <= wanted[0]!.atMs)?.seq ?? 0
  const title = session.title === null ? {} : { title: await storage.sessions.nextTitle(session.title) }
  return storage.sessions.fork({ from: session.id, id, upToSeq, ...title })
}

async function add(storage: Storage, target: SessionInfo, entries: readonly RescuedEntry[]): Promise<number> {
  const lease = await storage.leases.acquire(target.id, { owner: 'rescue', isVisit: true })
  try {
    const there = [...(await storage.log.entries(target.id))]
    const added: RescuedEntry[] = []
    for (const { entry, atMs } of entries) {
      const state = stateOf({ entry, atMs }, there)
      if (state === 'present' || state === 'answered-otherwise') continue
      const [seq] = await storage.log.append(target.id, [entry], { lease, atMs, rescue: false })
      there.push({ ...entry, seq: seq!, atMs })
      added.push({ entry, atMs })
    }
    return countMessages(added)
  } finally {
    await lease.release()
    const { endedAtMs, endReason } = target
    if (endedAtMs !== null) await storage.sessions.update(target.id, { endedAtMs, endReason })
  }
}
