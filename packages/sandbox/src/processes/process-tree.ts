import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { Clock } from '@hermes/contracts'
import { SharedLook } from './shared-look.js'

/** Short enough that a tree which resists is gone within two seconds all the same. */
const DEFAULT_GRACE_MS = 1_500
const FIRST_PAUSE_MS = 10
const LAST_PAUSE_MS = 100
/** For what is killed to be gone. */
const KILL_MS = 200
/** Looked for again: a process may fork between being found and being told to end. */
const MARK_ROUNDS = 3

interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Tells two processes with the same number apart; compare for equality only. */
  readonly startTime: string
  readonly ended: boolean
}

/** When `pid` started, in the system's own terms; `null` when there is no such process, or it ended and waits to be collected. */
export function processStartTime(pid: number): string | null {
  const row = readProcess(pid)
  return row && !row.ended ? row.startTime : null
}

/** What started `pid`, or took it over; `null` when there is no such process. */
export function parentOf(pid: number): number | null {
  return readProcess(pid)?.parent ?? null
}

/** Whether any process is left in the group of `leader`. */
export function groupExists(leader: number): boolean {
  try {
    process.kill(-leader, 0)
    return true
  } catch {
    return false
  }
}

/**
 * Ends the process `root`, its descendants and everything in its session: SIGTERM, then SIGKILL for what is left `graceMs` later
 * (default 1,500). Resolves once all are gone (or cannot be killed). Does nothing when `root` is another process than the one with `startTime`.
 * A daemon that left both the session and the family before this call is not found.
 */
export async function killTree(
  root: number,
  options: { readonly clock: Clock; readonly startTime?: string; readonly graceMs?: number },
): Promise<void> {
  const { graceMs = DEFAULT_GRACE_MS } = options
  const { clock, startTime } = options
  const known = new Map<number, string>()
  /** What is alive of the tree, and what of that was not known. */
  const aliveIn = (rows: readonly ProcessRow[]) => {
    const fresh = treeOf(rows, root, startTime).filter((row) => known.get(row.pid) !== row.startTime)
    for (const row of fresh) known.set(row.pid, row.startTime)
    return { all: rows.filter((row) => !row.ended && known.get(row.pid) === row.startTime), fresh }
  }
  const looks = sharedBy(clock)
  // Looked for again each time: a process may fork between being found and being told to end.
  let { all, fresh } = aliveIn(looks.now((rows) => rows.some((row) => isOf(row, root) && !row.ended)))
  let pauseMs = FIRST_PAUSE_MS
  for (const untilMs = clock.now() + graceMs; all.length > 0 && clock.now() < untilMs; ) {
    signalEach(fresh, 'SIGTERM')
    ;({ all, fresh } = aliveIn(await looks.next(pauseMs)))
    pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS)
  }
  for (const untilMs = clock.now() + KILL_MS; all.length > 0 && clock.now() < untilMs; ) {
    signalEach(all, 'SIGKILL')
    ;({ all } = aliveIn(await looks.next(FIRST_PAUSE_MS)))
  }
}

/**
 * Ends this user's processes that were started with the variable `entry`, `NAME=value`, and all they started, as {@link killTree} does:
 * also those that left session and family. On Linux; elsewhere it finds none.
 */
export async function killMarked(entry: string, options: { readonly clock: Clock }): Promise<void> {
  await killFound((pid) => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry), options)
}

/**
 * Ends this user's processes whose standard output is the named pipe at `path`, and all they started, as {@link killTree} does. On Linux; elsewhere
 * it finds none. Resolves to the groups that they led.
 */
export async function killWriters(path: string, options: { readonly clock: Clock }): Promise<readonly number[]> {
  const pipe = statSync(path, { throwIfNoEntry: false })
  if (!pipe) return []
  const found = await killFound((pid) => {
    const output = statSync(`/proc/${pid}/fd/1`)
    return output.ino === pipe.ino && output.dev === pipe.dev
  }, options)
  return found.flatMap(({ pid, group }) => (pid === group ? [group] : []))
}

/** `isWanted` may throw for what ended in between, or may not be looked at. */
async function killFound(
  isWanted: (pid: number) => boolean,
  options: { readonly clock: Clock },
): Promise<readonly ProcessRow[]> {
  const all: ProcessRow[] = []
  for (let round = 0; round < MARK_ROUNDS; round++) {
    const found = processesThat(isWanted)
    if (found.length === 0) break
    all.push(...found)
    await Promise.all(found.map(({ pid, startTime }) => killTree(pid, { ...options, startTime })))
  }
  return all
}

function processesThat(isWanted: (pid: number) => boolean): ProcessRow[] {
  if (process.platform !== 'linux') return []
  const user = process.getuid?.()
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return []
    try {
      if (statSync(`/proc/${name}`).uid !== user) return []
      if (!isWanted(Number(name))) return []
    } catch {
      // It ended in between, or may not be looked at.
      return []
    }
    const row = readProcess(Number(name))
    return row && !row.ended ? [row] : []
  })
}

function signalEach(rows: readonly ProcessRow[], signal: NodeJS.Signals): void {
  for (const { pid } of rows) {
    try {
      process.kill(pid, signal)
    } catch {
      // It ended in between, or belongs to another user.
    }
  }
}

function treeOf(rows: readonly ProcessRow[], root: number, startTime: string | undefined): ProcessRow[] {
  const leader = rows.find((row) => row.pid === root)
  if (leader && startTime !== undefined && leader.startTime !== startTime) return []
  const found = new Map<number, ProcessRow>()
  for (const row of rows) if (isOf(row, root)) found.set(row.pid, row)
  let before = -1
  while (found.size !== before) {
    before = found.size
    for (const row of rows) if (found.has(row.parent)) found.set(row.pid, row)
  }
  found.delete(process.pid)
  return [...found.values()].filter((row) => !row.ended)
}

const isOf = ({ pid, group, session }: ProcessRow, root: number) => pid === root || group === root || session === root

/** Of those who wait by one clock: trees that end side by side look together, since each look reads a file for every process of the machine. */
const shared = new WeakMap<Clock, SharedLook<readonly ProcessRow[]>>()

function sharedBy(clock: Clock): SharedLook<readonly ProcessRow[]> {
  const known = shared.get(clock) ?? new SharedLook<readonly ProcessRow[]>(listProcesses, clock)
  shared.set(clock, known)
  return known
}

function listProcesses(): ProcessRow[] {
  if (process.platform !== 'linux') return fromPs(['-A'])
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []))
}

function readProcess(pid: number): ProcessRow | null {
  if (process.platform !== 'linux') return fromPs(['-p', String(pid)])[0] ?? null
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The program's name stands in parentheses and may hold anything; the fields after it are numbered from the state on.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime: fields[19] ?? '',
    ended: state === 'Z' || state === 'X',
  }
}

/** Where there is no `/proc`. */
function fromPs(selection: readonly string[]): ProcessRow[] {
  let text: string
  try {
    const columns = ['-o', 'pid=,ppid=,pgid=,stat=,lstart=']
    text = execFileSync('/bin/ps', [...selection, ...columns], {
      encoding: 'utf8',
      env: {},
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
    if (!match) return []
    const [, pid, parent, group, state, startTime] = match
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: Number(group),
      startTime: startTime!,
      ended: state!.startsWith('Z'),
    }
  })
}
