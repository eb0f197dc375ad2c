import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

const IDENTITY = /^(\d+)@(.+)#(\d*)\.[^.]*$/

/** `pid@machine#start.nonce`: this process, told apart from a later one that gets the same pid. */
export function processIdentity(): string {
  return `${process.pid}@${machine()}#${startOf(process.pid)?.ticks ?? ''}.${randomBytes(4).toString('hex')}`
}

/** The part of an identity that people are shown: `pid@machine`. */
export function shortIdentity(identity: string): string {
  return identity.split('#')[0]!
}

/** Whether `identity` is a process of this machine that runs no more. `false` whenever that cannot be known. */
export function hasEnded(identity: string): boolean {
  return isHere(identity) && isOver(identity)
}

/** Whether `identity` is a process of this machine that still runs, as one that was stopped does. */
export function isRunning(identity: string): boolean {
  return isHere(identity) && !isOver(identity)
}

function isHere(identity: string): boolean {
  return IDENTITY.exec(identity)?.[2] === machine()
}

function isOver(identity: string): boolean {
  const [, pidText, , ticks] = IDENTITY.exec(identity)!
  const pid = Number(pidText)
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
  const start = startOf(pid)
  if (!start) return false
  return start.state === 'Z' || start.state === 'X' || (ticks !== '' && start.ticks !== ticks)
}

/** Containers may share a host name and a home but not process ids, so the pid namespace is part of the name. */
function machine(): string {
  try {
    return `${hostname()}/${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return hostname()
  }
}

/** State and start time of a process where /proc exists (third and 22nd field of proc_pid_stat(5)). */
function startOf(pid: number): { readonly state: string; readonly ticks: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0]!, ticks: fields[19]! }
  } catch {
    return null
  }
}
