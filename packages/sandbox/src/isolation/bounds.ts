import { closeSync, constants, openSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { DeepKeys } from './deep-keys.js'
import { gitFolders } from './git-folders.js'
import { type HiddenHome, hiddenHome } from './hidden-home.js'
import type { Identity, IsolationOptions, Workspace, Workspaces } from './isolation-options.js'
import { isWithin, realIfThere, realOfExisting } from './paths.js'

/** Opens a folder for nothing but to name it; Linux alone has it, and Node no name for it. */
const O_PATH = 0o10000000
/** The shell that starts a program passes on as many as have a number of one digit. The workspace comes first. */
const MAX_DESCRIPTORS = 3

/** What the bounds of one environment are drawn from. */
interface BoundsOptions {
  readonly cwd: string
  readonly home: string
  readonly temp: readonly string[]
  readonly isolation: IsolationOptions
  /** What `cwd` was when its environment was opened, see {@link workspaceAt}. Default: what it is now. */
  readonly workspace?: Workspace | undefined
}

/** A folder as it was when the bounds were drawn. */
export interface Root {
  /** Without links. */
  readonly path: string
  /** Keeps the folder known by whatever name; `null` where there is none. */
  readonly descriptor: number | null
}

/**
 * Where the commands of one environment may write, found out when it is opened and never again: what they write themselves, a `.git` file
 * or a link in place of a folder, draws no bound.
 */
export class Bounds {
  /** The workspace, without links. */
  readonly cwd: string
  /** The home directory, without links. */
  readonly home: string
  /** Without links. */
  readonly temp: readonly string[]
  /** What commands may write, but for what is hidden in there: as it was requested, and without links. */
  readonly writable: readonly string[]
  /** Folders the sockets of which commands may use: the workspace, unless the home directory is in it. */
  readonly workspace: readonly string[]
  /** Sockets and what else the operator names to be written, without links. */
  readonly opened: readonly string[]
  readonly isolation: IsolationOptions
  readonly #named: readonly string[]
  readonly #readable: readonly string[]
  readonly #pinned: Pinned[]
  /** The workspace as it was asked for, and where that led when it was seen first. */
  readonly #requested: { readonly path: string; readonly real: string }
  /** What is worked in. */
  #worked: readonly string[]
  readonly #hidden = new Set<string>()
  readonly #deep = new DeepKeys()

  constructor({
    cwd,
    home,
    temp,
    isolation,
    workspace = workspaceAt(resolve(cwd), isolation.workspaces),
  }: BoundsOptions) {
    this.cwd = workspace.path
    this.#requested = { path: resolve(cwd), real: workspace.path }
    this.home = realOfExisting(home)
    this.temp = temp.map(realOfExisting)
    this.isolation = isolation
    this.#worked = [this.cwd, ...this.temp]
    const { named: secret, unknown } = this.hiddenHome('')
    const hidden = [...secret, ...unknown]
    const git = gitFolders(this.cwd, {
      home: this.home,
      writable: [this.cwd, ...this.temp],
      isOffLimits: (folder) =>
        isWithin(this.home, folder) || hidden.some((path) => isWithin(path, folder) || isWithin(folder, path)),
    })
    const trees = [this.cwd, ...(git.tree === null ? [] : [git.tree])]
    this.workspace = trees.filter((folder) => !isWithin(this.home, folder))
    this.opened = (isolation.writable ?? []).map(realOfExisting)
    const derived = [...trees, ...git.folders, ...this.temp]
    const roots = derived.filter((path, at) => isOutermost(path, at, derived))
    this.#pinned = roots
      .flatMap((path) => (path === workspace.path ? workspace : (identify(path) ?? [])))
      .map((root, at) => ({ ...root, descriptor: at < MAX_DESCRIPTORS ? open(root.path) : null }))
    const inRoots = (path: string) => roots.some((root) => isWithin(path, root))
    const isHidden = (path: string) => hidden.some((place) => isWithin(path, place))
    const named = (paths: readonly string[] = []) =>
      paths.flatMap((path) => reached(resolve(path), inRoots) ?? []).filter((path) => !inRoots(path) || isHidden(path))
    // A folder of the opener's is visible in one of secrets, unless it is that.
    const isAmongSecrets = (path: string) => secret.some((place) => place !== path && isWithin(path, place))
    const input = this.#worked.filter((path) => isAmongSecrets(path) && !secret.includes(path))
    // Who works in a home directory that is a repository needs it, although it begins with a dot.
    const repository = git.folders.filter((folder) => unknown.includes(folder) && !roots.includes(folder))
    this.#named = [...input, ...repository, ...named(isolation.writable)]
    this.#readable = named(isolation.readable)
    this.#worked = [...roots, ...this.#named]
    this.writable = [...new Set([...temp, resolve(cwd), ...roots, ...this.#named])]
  }

  /** Folders and files that may be written although they, or a folder above, are hidden. */
  get named(): readonly string[] {
    return this.#named.filter(isReal)
  }

  /** Folders and files that may be read although they, or a folder above, are hidden. */
  get readable(): readonly string[] {
    return this.#readable.filter(isReal)
  }

  /** The folders that may be written, none within another one. */
  get roots(): readonly Root[] {
    return this.#pinned.map(({ path, descriptor }) => ({ path, descriptor }))
  }

  /** @throws HermesError `environment.changed` when a folder that may be written, or what the workspace leads to, is not where it was. */
  check(): void {
    const changed = this.#pinned.find(({ path, stats }) => !isReal(path) || !isSame(identify(path)?.stats, stats))
    if (changed) throw moved(changed.path)
    const { path, real } = this.#requested
    if (realOfExisting(path) !== real) throw turned(path, { before: real, now: realOfExisting(path) })
  }

  /**
   * What nobody may read; `path` is the `PATH` that the environment was opened with. A named place that was hidden once stays so: who can
   * replace a link could lead us elsewhere.
   */
  hiddenHome(path: string): HiddenHome {
    const { home, isolation } = this
    const found = hiddenHome({ home, path, roots: this.#worked, deep: this.#deep })
    for (const place of [...found.named, ...(isolation.hidden ?? []).flatMap((one) => realIfThere(one) ?? [])])
      this.#hidden.add(place)
    return { ...found, named: [...this.#hidden].filter(isReal) }
  }

  close(): void {
    for (const { descriptor } of this.#pinned.splice(0)) if (descriptor !== null) closeSync(descriptor)
  }
}

interface Pinned extends Workspace, Root {}

/** A workspace that leads elsewhere than when it was seen first counts as the one it was. */
export function workspaceAt(path: string, known: Workspaces | undefined): Workspace {
  const before = known?.get(path)
  const real = realOfExisting(path)
  if (before && before.path !== real) return before
  const workspace = identify(real) ?? { path: real, stats: null }
  known?.set(path, workspace)
  return workspace
}

function identify(path: string): Workspace | null {
  try {
    return { path, stats: statSync(path, { bigint: true }) }
  } catch {
    return null
  }
}

function open(path: string): number | null {
  if (process.platform !== 'linux') return null
  try {
    return openSync(path, O_PATH | constants.O_NOFOLLOW)
  } catch {
    // What is not there is noticed before a command starts.
    return null
  }
}

/** Where `path` leads; `null` when what commands may write leads there. */
function reached(path: string, isWritable: (path: string) => boolean): string | null {
  const real = realOfExisting(path)
  for (let above = dirname(path), rest = basename(path); above !== dirname(above); above = dirname(above)) {
    const folder = realIfThere(above)
    if (folder !== null && isWritable(folder) && real !== join(folder, rest)) return null
    rest = join(basename(above), rest)
  }
  return real
}

/** Whether `path` lies in none of the others, nor comes again. */
function isOutermost(path: string, at: number, all: readonly string[]): boolean {
  return !all.some((other, index) => (path === other ? index < at : isWithin(path, other)))
}

const isReal = (path: string): boolean => realIfThere(path) === path

function isSame(one: Identity | null | undefined, other: Identity | null): boolean {
  return one?.dev === other?.dev && one?.ino === other?.ino
}

/** Where commands of an environment opened like this may write, as {@link Bounds.writable}. */
export function writableRoots(options: BoundsOptions): readonly string[] {
  const bounds = new Bounds(options)
  bounds.close()
  return bounds.writable
}

function moved(path: string): HermesError {
  return new HermesError(
    `${path} was moved or replaced since this environment was opened, so commands do not run: put it back, or start again there.`,
    { code: 'environment.changed', details: { path } },
  )
}

function turned(path: string, { before, now }: { readonly before: string; readonly now: string }): HermesError {
  return new HermesError(
    `${path} leads to ${now} now, and led to ${before} when it was opened first, so commands do not run there: turn it back, or start Hermes again to work in ${now}.`,
    { code: 'environment.changed', details: { path, before, now } },
  )
}
