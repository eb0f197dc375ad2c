import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { CREDENTIAL_PLACES } from '@hermes/safety/credentials'
import { isWithin } from './paths.js'
import { isHidden, type Place } from './plan.js'

/** Each mount takes bubblewrap some 0.2 ms. A folder of more entries than are left is mounted as a whole. */
const MOST_MOUNTS = 160

/**
 * The arguments of bubblewrap that put an empty folder in place of `home` and into it, read-only, what is there now and not hidden. Mounts end
 * with the file they cover, so a hidden file that is replaced, a folder of keys that is made anew and a socket that is bound later would
 * otherwise come into the sight of programs that run already. Folders in which credentials are known to lie are taken apart in the same way.
 * `folders` are the empty ones, which are writable until they are mounted again. None where commands may write the whole home directory.
 */
export function emptyHome(
  home: string,
  places: readonly Place[],
): { readonly args: readonly string[]; readonly folders: readonly string[] } {
  const written = places.flatMap((place) => (place.type === 'write' ? [place.path] : []))
  const isWritten = (path: string) => written.some((root) => isWithin(path, root))
  const secret = [
    ...CREDENTIAL_PLACES.map(({ path }) => join(home, path)),
    ...places.flatMap((place) => (place.type === 'hide' && !isWritten(place.path) ? [place.path] : [])),
  ]
  const args: string[] = []
  const folders: string[] = []
  let left = MOST_MOUNTS
  const empty = (folder: string): boolean => {
    const entries = entriesOf(folder)
    if (entries === null || entries.length > left) return false
    left -= entries.length
    folders.push(folder)
    args.push('--tmpfs', folder)
    for (const entry of entries) fill(entry, join(folder, entry.name))
    return true
  }
  const fill = (entry: Dirent, path: string) => {
    const link = entry.isSymbolicLink() ? linkAt(path) : null
    if (link !== null) args.push('--symlink', link, path)
    // What is mounted later has its place made then.
    if (entry.isSymbolicLink() || entry.isSocket() || isWritten(path) || isHidden(places, path)) return
    if (!isThere(path)) return
    const holdsSecrets = entry.isDirectory() && secret.some((one) => one !== path && isWithin(one, path))
    if (!holdsSecrets || !empty(path)) args.push('--ro-bind-try', path, path)
  }
  if (relative('/', home) !== '' && !isWritten(home) && !isHidden(places, home)) empty(home)
  return { args, folders }
}

/** A file system that has lost its server is none: bubblewrap would give up over it. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** Locks of editors and browsers are links that come and go all day. */
function linkAt(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

function entriesOf(folder: string): readonly Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return null
  }
}
