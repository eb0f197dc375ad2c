import { randomBytes } from 'node:crypto'
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parentOf } from '../processes/process-tree.js'
import type { ProgramLimits } from './namespace-limits.js'

/** Where the kernel shows its cgroups. */
export interface CgroupPlaces {
  /** Default `/sys/fs/cgroup`. */
  readonly root?: string
  /** Names the group of this process. Default `/proc/self/cgroup`. */
  readonly self?: string
}

/** A group of processes that the kernel keeps within limits. */
export interface Cgroup {
  readonly path: string
  /** What a command line begins with to run in it. */
  readonly enter: readonly string[]
  /** Moves a process into it. */
  add(pid: number): void
  /** Why the kernel ended what ran in it, as the end of a line; `null` where it did not. */
  killed(): string | null
  /** Removes it where nothing runs in it any more; else the next one of this folder does. */
  remove(): void
}

/** The group that this process moves to: one that has processes may give its children no limits. */
const AGENT = 'hermes-agent'
const PROGRAMS = 'hermes-programs-'
const NEEDED = ['memory', 'pids']
/** The kernel counts threads too. */
const TASKS_PER_PROCESS = 8
/** Where it cannot be entered the watch on the processes is left. */
const ENTER = '{ echo $$ > "$0"; } 2>/dev/null; exec "$@"'

/**
 * Makes a group below one that was delegated to this user (the folder and its `cgroup.procs` and `cgroup.subtree_control` may be written), as
 * systemd does with `Delegate=yes`; `null` where there is none. This process, when it is alone in the delegated one with what it has started, moves to a
 * group of its own in there.
 * @see https://docs.kernel.org/admin-guide/cgroup-v2.html "Delegation", "No Internal Process Constraint"
 */
export function openCgroup(limits: ProgramLimits, places: CgroupPlaces = {}): Cgroup | null {
  const folder = delegatedCgroup(places)
  if (folder === null) return null
  try {
    const listed = processesOf(folder)
    if (listed.length > 0) {
      mkdirSync(join(folder, AGENT), { recursive: true })
      for (const pid of listed) writeFileSync(join(folder, AGENT, 'cgroup.procs'), `${pid}\n`)
    }
    writeFileSync(join(folder, 'cgroup.subtree_control'), NEEDED.map((name) => `+${name}`).join(' '))
    for (const name of readdirSync(folder)) if (name.startsWith(PROGRAMS)) removeEmpty(join(folder, name))
    const path = join(folder, `${PROGRAMS}${process.pid}-${randomBytes(4).toString('hex')}`)
    mkdirSync(path)
    writeFileSync(join(path, 'memory.max'), String(limits.memoryBytes))
    // All of them or none: a build that lost one of its programs at random explains itself badly.
    writeFileSync(join(path, 'memory.oom.group'), '1')
    writeFileSync(join(path, 'pids.max'), String(limits.processes * TASKS_PER_PROCESS))
    return inGroup(path)
  } catch {
    return null
  }
}

/** The folder below which this process can make groups with limits; `null` where there is none. Changes nothing. */
export function delegatedCgroup({
  root = '/sys/fs/cgroup',
  self = '/proc/self/cgroup',
}: CgroupPlaces = {}): string | null {
  try {
    const named = /^0::(\/.*)$/m.exec(readFileSync(self, 'utf8'))?.[1]
    if (named === undefined || named.includes('/..')) return null
    const own = join(root, named)
    const folder = basename(own) === AGENT ? dirname(own) : own
    const controllers = readFileSync(join(folder, 'cgroup.controllers'), 'utf8').split(/\s+/)
    if (!NEEDED.every((name) => controllers.includes(name))) return null
    for (const name of ['.', 'cgroup.procs', 'cgroup.subtree_control']) accessSync(join(folder, name), constants.W_OK)
    return processesOf(folder).every(isOurs) ? folder : null
  } catch {
    return null
  }
}

function inGroup(path: string): Cgroup {
  const procs = join(path, 'cgroup.procs')
  return {
    path,
    enter: ['/bin/sh', '-c', ENTER, procs],
    add: (pid) => {
      try {
        writeFileSync(procs, `${pid}\n`)
      } catch {
        // It has ended meanwhile.
      }
    },
    killed: () => {
      const count = Number(/^oom_kill (\d+)$/m.exec(textOf(join(path, 'memory.events')))?.[1] ?? 0)
      return count === 0 ? null : 'they used more memory than their cgroup may'
    },
    remove: () => removeEmpty(path),
  }
}

function processesOf(folder: string): readonly number[] {
  return textOf(join(folder, 'cgroup.procs')).split('\n').filter(Boolean).map(Number)
}

/** Whether a process is this one, or was started by it. */
function isOurs(pid: number): boolean {
  for (let at: number | null = pid; at !== null && at > 1; at = parentOf(at)) if (at === process.pid) return true
  return false
}

/** The kernel takes a group away only when nothing runs in it. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // Something does.
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
