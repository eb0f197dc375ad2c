import { type Dirent, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { realIfThere } from './paths.js'

const TABLE = '/proc/net/unix'
/** A folder of more sockets than these is hidden as a whole. */
const MOST_IN_A_FOLDER = 32

/**
 * The sockets of other programs, which do what they are asked with rights that commands do not have: agents of keys, container engines,
 * editors. On Linux, where a table names them; elsewhere it finds none.
 */
export class ForeignSockets {
  /** By the number of the socket. */
  readonly #areOwn = new Map<string, boolean>()

  /**
   * Paths without links: of sockets that the table names, and of those in `temp`, folders with what lay in them shortly before. `isOutOfSight` folders are
   * not looked at, `isNeeded` ones never hidden as a whole; `namespace` is the
   * process namespace of the session's own programs, such as `pid:[4026532412]`, whose sockets do not count.
   */
  find(
    temp: ReadonlyMap<string, readonly Dirent[]>,
    isOutOfSight: (folder: string) => boolean,
    isNeeded: (folder: string) => boolean,
    namespace: string | null,
  ): readonly string[] {
    const named = tableRows()
    const own = new Set<string>()
    const folders = new Map<string, Set<string>>([...temp.keys()].map((folder) => [folder, new Set()]))
    for (const { path, socket } of named) {
      const folder = realIfThere(dirname(path))
      if (folder === null || isOutOfSight(folder) || isClosed(folder)) continue
      const [place, rows] = [join(folder, basename(path)), folders.get(folder) ?? new Set<string>()]
      folders.set(folder, rows.add(place))
      if (this.#isOwn(socket, namespace)) own.add(place)
    }
    for (const socket of this.#areOwn.keys())
      if (!named.some((row) => row.socket === socket)) this.#areOwn.delete(socket)
    // A socket may have been renamed since it was bound, so whatever lies beside one counts as well.
    return [...folders].flatMap(([folder, rows]) => {
      const lying = pathsOf(folder, temp.get(folder) ?? entriesOf(folder), (entry) => entry.isSocket())
      // One may have been bound since the folder was read.
      for (const path of lying) rows.delete(path)
      const sockets = [...lying, ...[...rows].filter(isSocket)]
      // There is a limit to how much can be mounted.
      const isMany = sockets.length > MOST_IN_A_FOLDER && !isNeeded(folder)
      return isMany && !sockets.some((path) => own.has(path)) ? [folder] : sockets.filter((path) => !own.has(path))
    })
  }

  #isOwn(socket: string, namespace: string | null): boolean {
    const known = this.#areOwn.get(socket)
    if (known !== undefined) return known
    const isOwn = namespace !== null && isHeldIn(namespace, socket)
    this.#areOwn.set(socket, isOwn)
    return isOwn
  }
}

/**
 * Whether a folder, or one around it, belongs to another user and lets nobody else in. Isolated programs cannot enter it, root's neither
 * because they have no rights over files of others, and bubblewrap could mount nothing there.
 */
function isClosed(folder: string): boolean {
  const groups = [process.getgid?.(), ...(process.getgroups?.() ?? [])]
  for (let path = folder; ; path = dirname(path)) {
    try {
      const { uid, gid, mode } = statSync(path)
      const others = groups.includes(gid) ? 0o011 : 0o001
      if (uid !== process.getuid?.() && (mode & others) === 0) return true
    } catch {
      return true
    }
    if (path === dirname(path)) return false
  }
}

/** The paths of those `entries` of a folder that are `wanted`. */
export function pathsOf(
  folder: string,
  entries: readonly Dirent[],
  wanted: (entry: Dirent) => boolean,
): readonly string[] {
  return entries.filter(wanted).map((entry) => join(folder, entry.name))
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket()
  } catch {
    return false
  }
}

/** Sockets with an absolute path; abstract ones have none. */
function tableRows(): readonly { readonly path: string; readonly socket: string }[] {
  let table: string
  try {
    table = readFileSync(TABLE, 'utf8')
  } catch {
    return []
  }
  return table.split('\n').flatMap((line) => {
    const [, socket, path] = /^\S+(?:\s+\S+){5}\s+(\d+)\s(\/.*)$/.exec(line) ?? []
    return path === undefined ? [] : [{ path, socket: socket! }]
  })
}

/** Whether a process of `namespace` has the socket open. */
function isHeldIn(namespace: string, socket: string): boolean {
  return entriesOf('/proc').some(({ name }) => {
    if (!/^\d+$/.test(name) || linkOf(`/proc/${name}/ns/pid`) !== namespace) return false
    const files = entriesOf(`/proc/${name}/fd`)
    return files.some((file) => linkOf(`/proc/${name}/fd/${file.name}`) === `socket:[${socket}]`)
  })
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

/** What lies directly in `folder`; nothing where it cannot be read. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
