// The walk of a workspace, folder by folder, deepest first:
//
//   names ─▶ facts of each (kind, times, size, mode, inode) ─▶ the same as last time? then its tree is known
//                                                          ─▶ else read what changed, keep it, make the tree anew
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs'
import { HermesError, systemClock } from '@hermes/contracts'
import { UNFINISHED } from './apply-restore.js'
import { isExcludedFolder, saysItIsACache } from './exclusions.js'
import { decodeName, fsPath, joinName } from './file-name.js'
import type { ObjectStore } from './object-store.js'
import type { PackWriter } from './pack-writer.js'
import type { Slices } from './slices.js'
import type { CachedFolder, StatCache } from './stat-cache.js'
import { encodeTree, HASH_CHARS, hashOf, type SkipReason, type TreeEntry } from './tree.js'

/** What a walk works with. */
export interface ScanOptions {
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
  /** Left out wherever it is: the folder that the checkpoints themselves are in. Absolute. */
  readonly ownFolder: string
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

// Neither can be in a name.
const FIELD_END = '\0'
const NAME_END = '/'
const VALUE_END = '\0'
/** Times of files have steps; a change within one step of the last look cannot be seen. */
const RACY_MS = 50
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Walks the workspace and hands everything new to the writer. Nothing is written outside the store. */
export async function scan(options: ScanOptions): Promise<ScanResult> {
  const walk = new Walk(options)
  const tree = await walk.folder('')
  if (isSkipReason(tree)) {
    throw new HermesError(`${options.root} cannot be read, so there is nothing to keep.`, {
      code: 'checkpoint.unreadable',
    })
  }
  return { ...walk.counts, tree, cache: walk.cache }
}

interface Found {
  readonly name: string
  readonly stats: Stats
  /** Stays equal for as long as nothing about it changed that a snapshot keeps. */
  readonly facts: string
}

class Walk {
  readonly cache = new Map<string, CachedFolder>()
  readonly counts = { files: 0, bytes: 0, skipped: {} as Partial<Record<SkipReason, number>>, isChanged: false }
  readonly #options: ScanOptions

  constructor(options: ScanOptions) {
    this.#options = options
  }

  /** The hash of a folder's tree, or why it is left out. */
  async folder(path: string): Promise<string> {
    const names = this.#names(path)
    if (names === null) return 'unreadable'
    if (path !== '' && saysItIsACache(names)) return 'excluded'
    const { slices, writer, cache } = this.#options
    if (slices.isOver()) await slices.pause()
    if (writer.isFull) await writer.drain()
    const found = this.#look(path, names)
    const before = cache.get(path)
    const children = new Map<string, string>()
    for (const { name, stats } of found) {
      if (stats.isDirectory()) children.set(name, await this.#child(path, name))
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
    return this.#newTree(path, found, children)
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
    // Times of files are those of the machine, whatever clock the program goes by.
    const racyFromMs = systemClock.now() - RACY_MS
    const found: Found[] = []
    const folder = fsPath(root, path)
    const isOdd = typeof folder !== 'string' || !names.every((name) => name.isWellFormed())
    for (const name of names) {
      const full = isOdd ? fsPath(root, joinName(path, name)) : `${folder}/${name}`
      const stats = lstatSync(full, { throwIfNoEntry: false })
      if (stats) found.push({ name, stats, facts: factsOf(name, stats, racyFromMs) })
    }
    this.counts.files += found.length
    if (this.counts.files <= maxFiles) return found
    throw new HermesError(`${root} holds more than ${maxFiles} files, so no checkpoint is kept of it.`, {
      code: 'checkpoint.too_many_files',
      details: { maxFiles },
    })
  }

  async #child(path: string, name: string): Promise<string> {
    const child = joinName(path, name)
    if (isExcludedFolder(name) || `${this.#options.root}/${child}` === this.#options.ownFolder) return 'excluded'
    return this.folder(child)
  }

  #countAgain(found: readonly Found[], values: readonly string[]): void {
    for (const [index, { stats }] of found.entries()) {
      const value = values[index]!
      if (stats.isFile() && value.length === HASH_CHARS) this.counts.bytes += stats.size
      else if (!stats.isSymbolicLink() && isSkipReason(value)) this.#skip(value)
    }
  }

  async #newTree(path: string, found: readonly Found[], children: ReadonlyMap<string, string>): Promise<string> {
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
    this.cache.set(path, { treeHash, facts, values: kept.map(({ value }) => value).join(VALUE_END) })
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

const SKIP_REASONS: readonly string[] = ['excluded', 'too-large', 'special', 'unreadable'] satisfies SkipReason[]

function isSkipReason(value: string): value is SkipReason {
  return SKIP_REASONS.includes(value)
}

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

function valuesOf({ values }: CachedFolder): readonly string[] {
  return values === '' ? [] : values.split(VALUE_END)
}

function sameChildren(
  found: readonly Found[],
  values: readonly string[],
  children: ReadonlyMap<string, string>,
): boolean {
  return (
    children.size === 0 || found.every(({ name }, index) => (children.get(name) ?? values[index]) === values[index])
  )
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

/** `bytes` is `null` when the file has grown too large meanwhile. */
function readWhole(path: string | Buffer, maxBytes: number): { readonly bytes: Buffer | null; readonly mode: number } {
  const file = openSync(path, READ_FLAGS)
  try {
    const stats = fstatSync(file)
    const mode = stats.mode & 0o7777
    if (!stats.isFile() || stats.size > maxBytes) return { bytes: null, mode }
    const bytes = Buffer.allocUnsafeSlow(stats.size)
    let read = 0
    while (read < bytes.length) {
      const count = readSync(file, bytes, read, bytes.length - read, read)
      if (count === 0) break
      read += count
    }
    return { bytes: bytes.subarray(0, read), mode }
  } finally {
    closeSync(file)
  }
}

/** A half-written file of a restore that was killed. */
function isUnfinished(name: string): boolean {
  return name.startsWith(UNFINISHED)
}

function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')
}

function isRefused(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EIO', 'EBUSY', 'ENXIO', 'ESTALE'].includes((error as NodeJS.ErrnoException).code ?? '')
}
