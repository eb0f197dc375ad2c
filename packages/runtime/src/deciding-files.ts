import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'

/** What is larger is no script, and is not read. */
const MAX_BYTES = 20_000_000

/**
 * SHA-256 as hexadecimal digits over those of `paths` that are files, with their names; `~` is `userHome`. `null` where none is a file.
 * What cannot be read or is too large to be a script makes it `unknown`, which is like no other.
 */
export async function digestFiles(paths: readonly string[], userHome: string): Promise<string | null> {
  const hash = createHash('sha256')
  let found = 0
  for (const path of [...paths].sort()) {
    const file = path.replace(/^~(?=\/|$)/, userHome)
    const info = await stat(file).catch(() => null)
    if (!info?.isFile()) continue
    if (info.size > MAX_BYTES) return 'unknown'
    const content = await readFile(file).catch(() => null)
    if (content === null) return 'unknown'
    hash.update(`${path}\0${content.length}\0`).update(content)
    found++
  }
  return found === 0 ? null : hash.digest('hex')
}
