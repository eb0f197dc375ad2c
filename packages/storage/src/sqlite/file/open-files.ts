import { readdirSync, readlinkSync, realpathSync } from 'node:fs'

/** Other processes that have `path` open, by their ids; empty where that cannot be known. Needs /proc. */
export function processesWith(path: string): readonly number[] {
  const real = realPath(path)
  return list('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && hasOpen(pid, real))
}

/** Without links, as /proc names what is open; a path that is not there stays as it is. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function hasOpen(pid: number, path: string): boolean {
  return list(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === path
    } catch {
      return false
    }
  })
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
