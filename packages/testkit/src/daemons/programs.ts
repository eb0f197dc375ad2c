import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

const FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Where `name` is installed on this machine, or `null`. */
export function findProgram(name: string): string | null {
  return FOLDERS.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A line that names those of `names` that are not installed; `null` when all are. */
export function missingPrograms(...names: readonly string[]): string | null {
  const missing = names.filter((name) => findProgram(name) === null)
  return missing.length === 0 ? null : `not installed: ${missing.join(', ')}`
}
