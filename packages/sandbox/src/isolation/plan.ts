import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { shellsFolder } from '../shell-files.js'
import { hiddenHome } from './hidden-home.js'
import type { IsolationSupport } from './isolation-support.js'

/** What isolated commands may touch. All paths absolute; those that do not exist are passed over. */
export interface IsolationOptions {
  /** Folders and files nobody may read, beside what is hidden in the home directory, for example the Hermes home. */
  readonly hidden?: readonly string[]
  /** Writable, beside the working directory, the git tree around it and the temporary folders; shown even where a folder above is hidden. */
  readonly writable?: readonly string[]
  /** Readable though they, or a folder above, are hidden. */
  readonly readable?: readonly string[]
  /** Default `true`; without it commands have only a loopback of their own. */
  readonly network?: boolean
  /** Whether nothing runs where isolation cannot be had; else it runs without. Default `true`. */
  readonly required?: boolean
  /** What is known of this machine, so that a program looks once. Default: a look for each environment. */
  readonly support?: IsolationSupport
}

/** One place and what is done to it. */
export type Place =
  | { readonly type: 'write'; readonly path: string }
  | { readonly type: 'read'; readonly path: string }
  | { readonly type: 'hide'; readonly path: string; readonly isDirectory: boolean }

/** Sockets in a temporary folder lead out: to terminals, key agents, displays. */
const SOCKET_FOLDERS =
  /^(tmux-|ssh-|screens?$|\.X11-unix$|\.ICE-unix$|\.font-unix$|dbus-|gpg-|systemd-private-|vscode-|\.wine-)/

/**
 * What is done to which place, the more general first, so that what is inside counts. A place that is both hidden and writable is
 * hidden.
 */
export function planPlaces(options: {
  readonly cwd: string
  readonly home: string
  readonly temp: readonly string[]
  readonly outputDir: string
  /** Where the command leaves its state. */
  readonly writable: string
  /** What commands download again and again. */
  readonly cache: string
  /** The `PATH` that the environment was opened with. */
  readonly path: string
  readonly isolation: IsolationOptions
}): readonly Place[] {
  const { isolation } = options
  const places = new Map<string, Place>()
  const add = (paths: readonly string[], place: (path: string, isDirectory: boolean) => Place) => {
    for (const path of paths) {
      const real = realIfThere(path)
      if (real !== null) places.set(real, place(real, lstatSync(real).isDirectory()))
    }
  }
  const roots = writableRoots(options)
  const { named, unknown, shown } = hiddenHome({ ...options, roots })
  const secret = [...named, ...(isolation.hidden ?? []), ...options.temp.flatMap(socketsIn)]
  add(unknown, (path, isDirectory) => ({ type: 'hide', path, isDirectory }))
  add(shown, (path) => ({ type: 'read', path }))
  add(roots, (path) => ({ type: 'write', path }))
  add(secret, (path, isDirectory) => ({ type: 'hide', path, isDirectory }))
  add([...(isolation.readable ?? []), options.outputDir], (path) => ({ type: 'read', path }))
  // What we read and write there ourselves is no business of commands: a link in its place would lead us astray.
  add(workingFolders(options.outputDir), (path, isDirectory) => ({ type: 'hide', path, isDirectory }))
  // Named by the operator, or ours: these count although they are hidden too. Readable ones do for the same reason.
  add([...(isolation.writable ?? []), options.writable, options.cache], (path) => ({ type: 'write', path }))
  const sorted = [...places.values()].sort((a, b) => a.path.split('/').length - b.path.split('/').length)
  // What is hidden with a folder around it needs nothing of its own, and its name stays unknown.
  return sorted.filter(({ type, path }) => type !== 'hide' || placeAround(sorted, dirname(path))?.type !== 'hide')
}

/** Whether isolated commands do not see `path`. Absolute, links followed. */
export function isHidden(places: readonly Place[], path: string): boolean {
  return placeAround(places, path)?.type === 'hide'
}

/** The innermost of `places`, the more general first, that holds `path`. */
function placeAround(places: readonly Place[], path: string): Place | undefined {
  return places.findLast((place) => path === place.path || path.startsWith(`${place.path}/`.replace('//', '/')))
}

/** What commands may write, but for what is hidden in there: as it is named, and with its links followed. */
export function writableRoots({
  cwd,
  home,
  temp,
  isolation,
}: {
  readonly cwd: string
  readonly home: string
  readonly temp: readonly string[]
  readonly isolation: IsolationOptions
}): readonly string[] {
  const roots = [...temp, cwd, ...gitFolders(cwd, home), ...(isolation.writable ?? [])]
  return [...new Set([...roots, ...roots.map((root) => realIfThere(root) ?? root)])]
}

export function realIfThere(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

/** Our own folders beside the saved outputs. None of them goes away: those of single shells do while a command is being started. */
function workingFolders(outputDir: string): string[] {
  return [shellsFolder(outputDir), join(outputDir, 'processes')]
}

function socketsIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isSocket() || SOCKET_FOLDERS.test(entry.name))
      .map((entry) => join(folder, entry.name))
  } catch {
    return []
  }
}

/** The working tree around `cwd`, and the folders git writes to for it. A tree around the whole home directory does not count. */
function gitFolders(cwd: string, home: string): string[] {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const git = join(folder, '.git')
    try {
      const tree = `${home}/`.startsWith(`${folder}/`) ? [] : [folder]
      if (lstatSync(git).isDirectory()) return [...tree, git]
      const linked = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1]
      // A linked working tree keeps its own state in a folder of the repository, and everything else beside that.
      return linked === undefined ? tree : [...tree, resolve(folder, linked), resolve(folder, linked, '../..')]
    } catch {
      if (dirname(folder) === folder) return []
    }
  }
}
