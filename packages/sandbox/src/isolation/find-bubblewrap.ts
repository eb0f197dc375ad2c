import { accessSync, constants } from 'node:fs'

/** Where bubblewrap is, or `null`. Never along the PATH of commands, which they can change. */
export function findBubblewrap(): string | null {
  const isProgram = (path: string) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  }
  return (
    ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap'].find(isProgram) ?? null
  )
}
