import { chmodSync, lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The folder that all programs of `execute_code` of this user have theirs in, made where it is not there, and open to this user alone; `null`
 * where another user has one of that name. It stays for good: commands hide it as one place, with the sockets that lead to the tools of other
 * sessions, while the folders in it come and go.
 */
export function codeFolder(tempDir: string): string | null {
  const path = codeFolderIn(tempDir)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch {
    // Where it is there already, it counts if it is ours.
  }
  try {
    const stats = lstatSync(path)
    if (!stats.isDirectory() || stats.uid !== process.getuid?.()) return null
    if ((stats.mode & 0o077) !== 0) chmodSync(path, 0o700)
    return path
  } catch {
    return null
  }
}

/** What that folder is called. */
export function codeFolderIn(tempDir: string): string {
  return join(tempDir, `hermes-code-${process.getuid?.() ?? 0}`)
}
