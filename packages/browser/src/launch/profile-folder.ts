import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { lstat, mkdir, readdir, readlink, rm, rmdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

const NAME = /^run-(\d+)-(\w+)-\w+$/

/** A folder for one browser, which is the profile of nobody: it goes with the browser, or with the next one that starts. */
export async function makeProfileFolder(parent: string): Promise<string> {
  await removeLeftFolders(parent)
  const path = join(parent, `run-${ownerName()}-${randomBytes(4).toString('hex')}`)
  await mkdir(path, { recursive: true, mode: 0o700 })
  return path
}

/** Never rejects. */
export async function removeProfileFolder(path: string): Promise<void> {
  await removeSocketFolder(path).catch(() => undefined)
  // A browser that is ending still writes.
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }).catch(() => undefined)
}

/**
 * Chromium keeps a socket outside its profile, where paths are short, and a link to it inside; killed, it leaves both. Nothing else is taken:
 * a folder that holds more than that stays.
 */
async function removeSocketFolder(profile: string): Promise<void> {
  const socket = await readlink(join(profile, 'SingletonSocket'))
  const folder = dirname(socket)
  const { uid } = await lstat(folder)
  if (!isAbsolute(socket) || uid !== process.getuid?.()) return
  for (const name of ['SingletonSocket', 'SingletonCookie']) await rm(join(folder, name), { force: true })
  await rmdir(folder)
}

/** Removes the folders of owners that have ended, however they did. Their browsers ended with them. */
export async function removeLeftFolders(parent: string): Promise<readonly string[]> {
  const names = await readdir(parent).catch(() => [])
  const left = names.filter((name) => {
    const [, pid, start] = NAME.exec(name) ?? []
    return pid !== undefined && !isRunning(Number(pid), start!)
  })
  await Promise.all(left.map((name) => removeProfileFolder(join(parent, name))))
  return left
}

/** This process: its id and when it started. */
export const ownerName = (): string => `${process.pid}-${startTime(process.pid) ?? 'x'}`

/** Where process ids mean the same: containers may share a home and a host name, but not those. */
export function machineName(): string {
  try {
    return `${hostname()}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** Whether the process of such a name still runs. */
export function isOwnerRunning(owner: string): boolean {
  const [pid, start = 'x'] = owner.split('-')
  return isRunning(Number(pid), start)
}

/** The processes that have a browser, by their ids. */
export async function runningOwners(parent: string): Promise<readonly number[]> {
  const names = await readdir(parent).catch(() => [])
  const owners = names.flatMap((name) => {
    const [, pid, start] = NAME.exec(name) ?? []
    return pid !== undefined && isRunning(Number(pid), start!) ? [Number(pid)] : []
  })
  return [...new Set(owners)]
}

function isRunning(pid: number, start: string): boolean {
  const now = startTime(pid)
  if (now !== null && start !== 'x') return now === start
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** When a process started, in ticks since the machine did; `null` where the system does not say. */
function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
