// The walk of a workspace, folder by folder, deepest first; names are read where one came or went:
//
//   names ─▶ facts of each (kind, times, size, mode, inode) ─▶ the same as last time? then its tree is known
//                                                          ─▶ else read what changed, keep it, make the tree anew
// What is remembered of a folder, so that the next look at it tells which names are as they were.

import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { constants, lstatSync, readdirSync, readlinkSync, statfsSync } from 'node:fs'
import { HermesError, systemClock } from '@hermes/contracts'
import { decodeName, fsPath, joinName } from '../objects/file-name.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { PackWriter } from '../objects/pack-writer.js'
import { isGone, isRefused, readWhole } from '../objects/read-whole.js'
import type { Slices } from '../objects/slices.js'
import type { SkipReason, TreeEntry } from '../objects/tree.js'
import { encodeTree, HASH_CHARS, hashOf } from '../objects/tree.js'
import { UNFINISHED } from '../restore/apply-restore.js'
import type { CachedFolder, StatCache } from './stat-cache.js'

/** What a walk works with. */
interface ScanOptions {
  /** Absolute, links followed. */
  readonly root: string
  readonly cache: StatCache
  readonly store: ObjectStore
  readonly writer: PackWriter
  readonly slices: Slices
  /** Larger files are named, not kept. */
  readonly maxFileBytes: number
  /** @throws HermesError `checkpoint.too_many_files` beyond. */
  readonly maxFiles: number
  /** Folders left out wherever they are, the one of the checkpoints themselves among them. Absolute, links followed. */
  readonly excluded: ReadonlySet<string>
}

/** What a walk found. */
export interface ScanResult {
  readonly tree: string
  readonly cache: StatCache
  readonly files: number
  readonly bytes: number
  /** Files and folders that are not kept, by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>
  /** Whether anything differs from the cache. */
  readonly isChanged: boolean
}

/** Walks the workspace and hands everything new to the writer. Nothing is written outside the store. */
export async function scan(options: ScanOptions): Promise<ScanResult> {
  const walk = new Walk(options)
  const tree = await walk.root()
  if (isSkipReason(tree)) {
    throw new HermesError(`${options.root} cannot be read, so there is nothing to keep.`, {
      code: 'checkpoint.unreadable',
    })
  }
  return { ...walk.counts, tree, cache: walk.cache }
}

class Walk {
  readonly cache = new Map<string, CachedFolder>()
  readonly counts = { files: 0, bytes: 0, skipped: {} as Partial<Record<SkipReason, number>>, isChanged: false }
  readonly #options: ScanOptions
  /** Where folders tell when their names changed. */
  #device: number | null = null

  constructor(options: ScanOptions) {
    this.#options = options
  }

  /** The hash of the tree, or why there is none. */
  async root(): Promise<string> {
    const { root } = this.#options
    const stats = lstatSync(root, { throwIfNoEntry: false })
    if (stats && keepsFolderTimes(root)) this.#device = stats.dev
    return this.#folder('', stats)
  }

  /** The hash of a folder's tree, or why it is left out. */
  async #folder(path: string, stats: Stats | undefined): Promise<string> {
    const changed = stats?.dev === this.#device ? namesChanged(stats, racyFromMs()) : UNKNOWN_TIME
    const before = this.#options.cache.get(path)
    const names = knownNames(before, changed) ?? this.#names(path)
    if (names === null) return 'unreadable'
    if (path !== '' && saysItIsACache(names)) return 'excluded'
    const { slices, writer } = this.#options
    if (slices.isOver()) await slices.pause()
    if (writer.isFull) await writer.drain()
    const found = this.#look(path, names)
    const children = new Map<string, string>()
    for (const { name, stats } of found) {
      if (stats.isDirectory()) children.set(name, await this.#child(path, name, stats))
    }
    const facts = found.map((one) => one.facts + NAME_END).join('')
    if (before?.facts === facts) {
      const values = valuesOf(before)
      if (sameChildren(found, values, children)) {
        this.#countAgain(found, values)
        this.cache.set(path, before)
        return before.treeHash
      }
    }
    return this.#newTree(path, found, { children, changed })
  }

  #names(path: string): readonly string[] | null {
    const folder = fsPath(this.#options.root, path)
    try {
      const names = readdirSync(folder, 'utf8')
      const isOdd = names.some((name) => name.includes('\uFFFD'))
      const exact = isOdd ? readdirSync(folder, 'buffer').map(decodeName) : names
      return exact.some(isUnfinished) ? exact.filter((name) => !isUnfinished(name)) : exact
    } catch (error) {
      if (isGone(error)) return []
      if (isRefused(error)) return null
      throw error
    }
  }

  #look(path: string, names: readonly string[]): readonly Found[] {
    const { root, maxFiles } = this.#options
    const racyMs = racyFromMs()
    const found: Found[] = []
    const folder = fsPath(root, path)
    const isOdd = typeof folder !== 'string' || !names.every((name) => name.isWellFormed())
    for (const name of names) {
      const full = isOdd ? fsPath(root, joinName(path, name)) : `${folder}/${name}`
      const stats = lstatSync(full, { throwIfNoEntry: false })
      if (stats) found.push({ name, stats, facts: factsOf(name, stats, racyMs) })
    }
    this.counts.files += found.length
    if (this.counts.files <= maxFiles) return found
    throw new HermesError(`${root} holds more than ${maxFiles} files, so no checkpoint is kept of it.`, {
      code: 'checkpoint.too_many_files',
      details: { maxFiles },
    })
  }

  async #child(path: string, name: string, stats: Stats): Promise<string> {
    const child = joinName(path, name)
    if (isExcludedFolder(name) || this.#options.excluded.has(`${this.#options.root}/${child}`)) return 'excluded'
    return this.#folder(child, stats)
  }

  #countAgain(found: readonly Found[], values: readonly string[]): void {
    for (const [index, { stats }] of found.entries()) {
      const value = values[index]!
      if (stats.isFile() && value.length === HASH_CHARS) this.counts.bytes += stats.size
      else if (!stats.isSymbolicLink() && isSkipReason(value)) this.#skip(value)
    }
  }

  async #newTree(
    path: string,
    found: readonly Found[],
    { children, changed }: { readonly children: ReadonlyMap<string, string>; readonly changed: string },
  ): Promise<string> {
    this.counts.isChanged = true
    const before = remembered(this.#options.cache.get(path))
    const entries = new Map<string, TreeEntry>()
    const kept: { readonly facts: string; readonly value: string }[] = []
    for (const one of found) {
      const entry = this.#entry(path, one, children, before.get(one.facts))
      if (entry === null) continue
      entries.set(one.name, entry)
      kept.push({ facts: one.facts, value: cachedValue(entry) })
      const { slices, writer } = this.#options
      if (slices.isOver()) await slices.pause()
      if (writer.isFull) await writer.drain()
    }
    const bytes = encodeTree(entries)
    const treeHash = this.#keep(bytes)
    const facts = kept.map((one) => one.facts + NAME_END).join('')
    this.cache.set(path, {
      treeHash,
      namesChanged: changed,
      facts,
      values: kept.map(({ value }) => value).join(VALUE_END),
    })
    return treeHash
  }

  /** `null` when it is gone by now. */
  #entry(
    path: string,
    { name, stats }: Found,
    children: ReadonlyMap<string, string>,
    known: string | undefined,
  ): TreeEntry | null {
    const mode = stats.mode & 0o7777
    if (stats.isDirectory()) {
      const hash = children.get(name)!
      return isSkipReason(hash) ? this.#skipped(hash, 0) : { type: 'folder', mode, hash }
    }
    const full = joinName(path, name)
    if (stats.isSymbolicLink()) return this.#link(full)
    if (!stats.isFile()) return this.#skipped('special', 0)
    if (stats.size > this.#options.maxFileBytes) return this.#skipped('too-large', stats.size)
    if (known?.length !== HASH_CHARS) return this.#file(full)
    this.counts.bytes += stats.size
    return { type: 'file', mode, hash: known, size: stats.size }
  }

  #link(path: string): TreeEntry | null {
    try {
      return { type: 'link', target: decodeName(readlinkSync(fsPath(this.#options.root, path), 'buffer')) }
    } catch (error) {
      if (isGone(error)) return null
      if (isRefused(error)) return this.#skipped('unreadable', 0)
      throw error
    }
  }

  #file(path: string): TreeEntry | null {
    try {
      const { bytes, mode } = readWhole(fsPath(this.#options.root, path), this.#options.maxFileBytes)
      if (bytes === null) return this.#skipped('too-large', 0)
      this.counts.bytes += bytes.length
      return { type: 'file', mode, hash: this.#keep(bytes), size: bytes.length }
    } catch (error) {
      if (isGone(error)) return null
      if (isRefused(error)) return this.#skipped('unreadable', 0)
      throw error
    }
  }

  #keep(bytes: Buffer): string {
    const { writer, store } = this.#options
    const hash = hashOf(bytes)
    if (!writer.has(hash) && !store.has(hash)) writer.add(hash, bytes)
    return hash
  }

  #skipped(reason: SkipReason, size: number): TreeEntry {
    this.#skip(reason)
    return { type: 'skipped', reason, size }
  }

  #skip(reason: SkipReason): void {
    this.counts.skipped[reason] = (this.counts.skipped[reason] ?? 0) + 1
  }
}

/** A half-written file of a restore that was killed. */
function isUnfinished(name: string): boolean {
  return name.startsWith(UNFINISHED)
}

/** Times of files have steps; a change within one step of the last look cannot be seen. */
const RACY_MS = 50

// Neither can be in a name.
const FIELD_END = '\0'
/** Comes after the facts of a name. */
const NAME_END = '/'
/** Stands between values. */
const VALUE_END = '\0'

/** A name of a folder as it was found. */
interface Found {
  readonly name: string
  readonly stats: Stats
  /** Stays equal for as long as nothing about it changed that a snapshot keeps. */
  readonly facts: string
}

/** Never the time of a folder. */
const UNKNOWN_TIME = '-'

// Magic numbers of statfs(2): ext, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs.
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
])

const SKIP_REASONS: readonly string[] = ['excluded', 'too-large', 'special', 'unreadable'] satisfies SkipReason[]

/** Whether a value tells why something is left out. */
function isSkipReason(value: string): value is SkipReason {
  return SKIP_REASONS.includes(value)
}

/** What is remembered of an entry beside its facts. */
function cachedValue(entry: TreeEntry): string {
  switch (entry.type) {
    case 'file':
    case 'folder':
      return entry.hash
    case 'link':
      return entry.target
    case 'skipped':
      return entry.reason
    default:
      return entry satisfies never
  }
}

/** The values of a folder, in the order of its names. */
function valuesOf({ values }: CachedFolder): readonly string[] {
  return values === '' ? [] : values.split(VALUE_END)
}

/** Whether every folder inside is what it was. */
function sameChildren(
  found: readonly Found[],
  values: readonly string[],
  children: ReadonlyMap<string, string>,
): boolean {
  return (
    children.size === 0 || found.every(({ name }, index) => (children.get(name) ?? values[index]) === values[index])
  )
}

/** The names of a folder whose names last changed then; `null` when they are to be read anew. */
function knownNames(before: CachedFolder | undefined, changed: string): readonly string[] | null {
  if (before === undefined || changed === UNKNOWN_TIME || before.namesChanged !== changed) return null
  return before.facts
    .split(NAME_END)
    .slice(0, -1)
    .map((text) => text.slice(0, text.indexOf(FIELD_END)))
}

/** What is known by the facts of one name. */
function remembered(folder: CachedFolder | undefined): ReadonlyMap<string, string> {
  if (!folder) return new Map()
  const facts = folder.facts.split(NAME_END)
  return new Map(valuesOf(folder).map((value, index) => [facts[index]!, value]))
}

/**
 * Of a folder only name and mode: what is in it has its own facts. Of anything else the time at which the inode was changed, which goes
 * with every change of content, mode or owner and cannot be set.
 */
function factsOf(name: string, { mode, ctimeMs, size, ino }: Stats, racyFromMs: number): string {
  if ((mode & constants.S_IFMT) === constants.S_IFDIR) return name + FIELD_END + mode
  // A word that never comes again, so that the file is read again next time.
  const changedMs = ctimeMs >= racyFromMs ? randomUUID() : ctimeMs
  return name + FIELD_END + changedMs + FIELD_END + size + FIELD_END + ino
}

/** Whether the time of a folder on this file system goes with every name that comes or goes. Some of other machines do not keep it. */
function keepsFolderTimes(root: string): boolean {
  return process.platform === 'linux' && LOCAL_FILE_SYSTEMS.has(statfsSync(root).type)
}

/** When the names of a folder last changed; {@link UNKNOWN_TIME} when that cannot be told from now. */
function namesChanged({ ctimeMs, ino }: Stats, racyFromMs: number): string {
  return ctimeMs >= racyFromMs ? UNKNOWN_TIME : ctimeMs + FIELD_END + ino
}

/** What changed from then on may change again without its time telling. Times are those of the machine, whatever clock the program goes by. */
function racyFromMs(): number {
  return systemClock.now() - RACY_MS
}

// What a snapshot leaves out: folders that a tool can make again and that are heavy, and the state of version control itself.

const VERSION_CONTROL = ['.git', '.hg', '.svn', '.jj', '.sl', '.bzr', 'CVS']
const DEPENDENCIES = ['node_modules', 'bower_components', 'jspm_packages', '.pnpm-store', '.yarn', 'Pods', '.venv']
const CACHES = [
  ...['__pycache__', '.mypy_cache', '.pytest_cache', '.ruff_cache', '.tox', '.nox', '.eggs', '.ipynb_checkpoints'],
  ...['.next', '.nuxt', '.svelte-kit', '.turbo', '.parcel-cache', '.cache', '.angular', '.gradle', '.terraform'],
  ...['.dart_tool', '.nyc_output', '.bazel', '.stack-work', 'DerivedData'],
]
const EXCLUDED_FOLDERS: ReadonlySet<string> = new Set([...VERSION_CONTROL, ...DEPENDENCIES, ...CACHES])

/** Files by which a folder says itself that it can be made again. @see https://bford.info/cachedir/ */
const MARKERS = ['CACHEDIR.TAG', 'pyvenv.cfg']

/** Whether a folder of this name is left out wherever it is. */
function isExcludedFolder(name: string): boolean {
  return EXCLUDED_FOLDERS.has(name)
}

/** Whether a folder that holds these names is left out. */
function saysItIsACache(names: readonly string[]): boolean {
  return MARKERS.some((marker) => names.includes(marker))
}
