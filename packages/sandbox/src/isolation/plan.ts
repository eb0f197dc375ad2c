import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipesFolder, shellsFolder } from '../shell/shell-files.js'
import type { Bounds, Root } from './bounds.js'
import { entriesOf, type ForeignSockets, pathsOf } from './foreign-sockets.js'
import { isWithin, realIfThere } from './paths.js'

/** One place and what is done to it. */
export type Place =
  /** `descriptor` is of the folder that has to be there. */
  | { readonly type: 'write'; readonly path: string; readonly descriptor?: number | null }
  | { readonly type: 'read'; readonly path: string }
  | { readonly type: 'hide'; readonly path: string; readonly isDirectory: boolean }
  /** Stays where it is, because something hidden is below it. */
  | { readonly type: 'pin'; readonly path: string }

const TEMPORARY = ['/tmp', '/var/tmp']

/** Folders that commands have of their own, whatever is in ours. */
const SERVICES = /^\/(?:run|proc|sys|dev)(?:\/|$)/

/** Sockets in a temporary folder lead out: to terminals, key agents, displays. Rescue files hold what was said in any project. */
const SOCKET_FOLDERS =
  /^(tmux-|ssh-|screens?$|\.X11-unix$|\.ICE-unix$|\.font-unix$|dbus-|gpg-|systemd-private-|vscode-|\.wine-|hermes-rescue-)/

/**
 * What is done to which place, in order: what comes later counts. First the folders that may be written, none of which lies within another
 * one; then what is hidden, whatever was mounted before; among those the more general first, with what is visible in there all the same.
 */
export function planPlaces({
  bounds,
  outputDir,
  writable,
  cache,
  path: programs,
  sockets,
  namespace,
  code = [],
  readable = [],
}: {
  readonly bounds: Bounds
  readonly sockets: ForeignSockets
  /** The process namespace of the commands, such as `pid:[4026532412]`; `null` where there is none yet. */
  readonly namespace: string | null
  readonly outputDir: string
  /** Folders that programs of any session have theirs in. Default none. */
  readonly code?: readonly string[]
  /** What the command reads although it is hidden. Default: nothing. */
  readonly readable?: readonly string[]
  /** Where the command leaves its state. */
  readonly writable: string
  /** What commands download again and again. */
  readonly cache: string
  /** The `PATH` that the environment was opened with. */
  readonly path: string
}): readonly Place[] {
  const home = bounds.hiddenHome(programs)
  const places = new Map<string, Place>()
  const add = (paths: readonly string[], place: (path: string, isDirectory: boolean) => Place) => {
    for (const path of paths) {
      const real = realIfThere(path)
      if (real !== null) places.set(real, place(real, lstatSync(real).isDirectory()))
    }
  }
  const hide = (path: string, isDirectory: boolean): Place => ({ type: 'hide', path, isDirectory })
  add(home.unknown, hide)
  add(home.shown, (path) => ({ type: 'read', path }))
  // Who works in a folder that nothing vouches for sees that folder.
  const isUnknown = ({ path }: Root) => home.unknown.some((folder) => isWithin(path, folder))
  for (const root of bounds.roots.filter(isUnknown)) places.set(root.path, { type: 'write', ...root })
  // Of thousands of entries, some day: each is read once.
  const temp = new Map(bounds.temp.map((folder) => [folder, entriesOf(folder)]))
  const ofOthers = [...temp].flatMap(([folder, entries]) =>
    pathsOf(folder, entries, ({ name }) => SOCKET_FOLDERS.test(name)),
  )
  add([...home.named, ...ofOthers], hide)
  add(code, hide)
  add([...bounds.readable, ...readable, outputDir], (path) => ({ type: 'read', path }))
  const needed = [bounds.home, outputDir, ...bounds.named, ...bounds.roots.map(({ path }) => path)]
  const isNeeded = (folder: string) => needed.some((path) => isWithin(path, folder))
  const isOurs = (folder: string) =>
    SERVICES.test(folder) ||
    isProgramFolder(folder, [bounds.home, ...bounds.temp]) ||
    [writable, ...bounds.workspace].some((one) => isWithin(folder, one))
  add(
    sockets.find(temp, isOurs, isNeeded, namespace).filter((path) => !bounds.opened.includes(path)),
    hide,
  )
  // What we read and write there ourselves is no business of commands: a link in its place would lead us astray.
  add(workingFolders(outputDir), hide)
  // Named by the operator, or ours: these count although they are hidden too. Readable ones do for the same reason.
  add([...bounds.named, writable, cache], (path) => ({ type: 'write', path }))
  const sorted = byDepth([...places.values()])
  // What is hidden with a folder around it needs nothing of its own, and its name stays unknown.
  const around = lookup(sorted)
  const inside = sorted.filter(({ type, path }) => type !== 'hide' || around(dirname(path))?.type !== 'hide')
  const roots = bounds.roots.filter((root) => !isUnknown(root)).map((root): Place => ({ type: 'write', ...root }))
  return [...roots, ...byDepth([...pins([...roots, ...inside]), ...inside])]
}

/**
 * Whether a folder is one that Hermes makes for a program, or lies in one. Such folders come and go at any time, and bubblewrap makes anew what
 * it is to hide and does not find.
 */
function isProgramFolder(folder: string, others: readonly string[]): boolean {
  const isBelow = (base: string) =>
    base !== folder && isWithin(folder, base) && /^\/hermes-/.test(folder.slice(base.length))
  return !others.some((base) => !TEMPORARY.includes(base) && isWithin(folder, base)) && TEMPORARY.some(isBelow)
}

/** Whether isolated commands do not see `path`. Absolute, links followed. */
export function isHidden(places: readonly Place[], path: string): boolean {
  return placeAround(places, path)?.type === 'hide'
}

/** The last of `places`, which counts, that holds `path`. */
function placeAround(places: readonly Place[], path: string): Place | undefined {
  return places.findLast((place) => isWithin(path, place.path))
}

/** The same for many folders that are often the same: a home has dozens of entries that are hidden. */
function lookup(places: readonly Place[]): (folder: string) => Place | undefined {
  const known = new Map<string, Place | undefined>()
  return (folder) => {
    if (!known.has(folder)) known.set(folder, placeAround(places, folder))
    return known.get(folder)
  }
}

/** The folders on the way to what is hidden: a command that renamed one would have what is below it in sight of the next one. */
function pins(places: readonly Place[]): readonly Place[] {
  const found = new Set<string>()
  const placeOf = lookup(places)
  for (const { type, path } of places) {
    if (type !== 'hide') continue
    for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
      const around = placeOf(above)
      if (around?.type === 'write' && around.path !== above) found.add(above)
    }
  }
  return [...found].map((path) => ({ type: 'pin', path }))
}

function byDepth(places: readonly Place[]): readonly Place[] {
  return [...places].sort((a, b) => depth(a.path) - depth(b.path))
}

const depth = (path: string): number => path.split('/').length

/** Our own folders beside the saved outputs. None of them goes away: those of single shells do while a command is being started. */
export function workingFolders(outputDir: string): string[] {
  return [shellsFolder(outputDir), pipesFolder(outputDir), join(outputDir, 'processes')]
}
