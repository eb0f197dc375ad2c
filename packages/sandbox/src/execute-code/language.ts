import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** What programs may be written in. */
export type Language = 'python' | 'javascript'

/** The `python3` along `path` (a PATH value); `null` where there is none. */
export function pythonOnPath(path: string | undefined): string | null {
  const candidates = (path ?? '').split(delimiter).map((folder) => join(folder, 'python3'))
  return candidates.find((candidate) => candidate.startsWith('/') && isExecutable(candidate)) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
