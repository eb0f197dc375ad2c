import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The bash of this machine: in the usual places, then along `path` (a PATH value); `/bin/sh` where there is none. */
export function findShell(path: string | undefined): string {
  const candidates = ['/bin/bash', '/usr/bin/bash', ...(path ?? '').split(delimiter).map((part) => join(part, 'bash'))]
  return candidates.find((candidate) => candidate.startsWith('/') && isExecutable(candidate)) ?? '/bin/sh'
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
