import { lstatSync, readlinkSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { HermesError } from '@hermes/contracts'

const STICKY = 0o1000
const WRITABLE_BY_ALL = 0o002
const MAX_LINKS = 40

/**
 * Makes sure that no link in a folder where everybody puts files, such as `/tmp`, leads on the way to `path` when somebody else made it, or
 * when it leads to what belongs to somebody else. The system's own count as nobody's.
 * @throws HermesError `environment.foreign_link`.
 */
export function refuseForeignLinks(path: string, user = process.getuid?.()): void {
  if (user === undefined) return
  let rest = path.split('/').filter((part) => part !== '')
  let at = '/'
  for (let links = 0; rest.length > 0 && links <= MAX_LINKS; ) {
    const [name = '', ...more] = rest
    const next = join(at, name)
    const link = lstatSync(next, { throwIfNoEntry: false })
    if (!link) return
    rest = more
    if (!link.isSymbolicLink()) {
      at = next
      continue
    }
    const isForeign = (uid: number) => uid !== user && uid !== 0
    if (isShared(at) && (isForeign(link.uid) || isForeign(statSync(next, { throwIfNoEntry: false })?.uid ?? user)))
      throw new HermesError(
        `${next} is a link that somebody else made, or to what belongs to somebody else, in a folder everybody writes to: it is not followed. Name the file itself.`,
        { code: 'environment.foreign_link', details: { path: next } },
      )
    rest = [...resolve(dirname(next), readlinkSync(next)).split('/'), ...more].filter((part) => part !== '')
    at = '/'
    links++
  }
}

function isShared(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_ALL) !== 0
}
