import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Clock } from '@hermes/contracts'

const POLL_MS = 20
/** How long a process may take to end after SIGTERM. */
export const GRACE_MS = 2_000

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
 * Ends the process `root`, its descendants and everything in its session: SIGTERM, then SIGKILL for what is left two seconds later.
 * Resolves once all are gone (or cannot be killed). Does nothing when `root` is another process than the one with `startTime`.
 */
export async function killTree(
  root: number,
  options: { readonly clock: Clock; readonly startTime?: string },
): Promise<void> {
  const { clock, startTime } = options
  const victims = new Map<number, string>()
  signalTree(root, startTime, victims, 'SIGTERM')
  for (let waitedMs = 0; waitedMs < GRACE_MS && alive(victims).length > 0; waitedMs += POLL_MS)
    await clock.sleep(POLL_MS)
  for (let round = 0; round < 20; round++) {
    // A process that forks while it is being killed needs another look.
    signalTree(root, startTime, victims, 'SIGKILL')
    if (alive(victims).length === 0) return
    await clock.sleep(POLL_MS)
  }
}

function signalTree(
  root: number,
  startTime: string | undefined,
  victims: Map<number, string>,
  signal: NodeJS.Signals,
): void {
  for (const row of treeOf(listProcesses(), root, startTime)) victims.set(row.pid, row.startTime)
  for (const pid of alive(victims)) {
    try {
      process.kill(pid, signal)
    } catch {
      // It ended in between, or belongs to another user.
    }
  }
}

function alive(victims: ReadonlyMap<number, string>): number[] {
  const rows = process.platform === 'linux' ? [...victims.keys()].map(readProcess) : listProcesses()
  return rows.flatMap((row) => (row && !row.ended && victims.get(row.pid) === row.startTime ? [row.pid] : []))
}

function treeOf(rows: readonly ProcessRow[], root: number, startTime: string | undefined): ProcessRow[] {
  const leader = rows.find((row) => row.pid === root)
  if (leader && startTime !== undefined && leader.startTime !== startTime) return []
  const found = new Map<number, ProcessRow>()
  for (const row of rows) {
    if (row.pid === root || row.group === root || row.session === root) found.set(row.pid, row)
  }
  let before = -1
  while (found.size !== before) {
    before = found.size
    for (const row of rows) if (found.has(row.parent)) found.set(row.pid, row)
  }
  found.delete(process.pid)
  return [...found.values()].filter((row) => !row.ended)
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
