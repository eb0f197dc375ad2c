// The walk of a workspace, folder by folder, deepest first; names are read where one came or went:
//
//   names ─▶ facts of each (kind, times, size, mode, inode) ─▶ the same as last time? then its tree is known
//                                                          ─▶ else read what changed, keep it, make the tree anew
import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { HermesError } from '@hermes/contracts'
import { decodeName, fsPath, joinName } from '../objects/file-name.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { PackWriter } from '../objects/pack-writer.js'
import { isGone, isRefused, readWhole } from '../objects/read-whole.js'
import type { Slices } from '../objects/slices.js'
import { encodeTree, HASH_CHARS, hashOf, type SkipReason, type TreeEntry } from '../objects/tree.js'
import { UNFINISHED } from '../restore/apply-restore.js'
import { isExcludedFolder, saysItIsACache } from './exclusions.js'
import {
  cachedValue,
  type Found,
  factsOf,
  isSkipReason,
  keepsFolderTimes,
  knownNames,
  NAME_END,
  namesChanged,
  racyFromMs,
  remembered,
  sameChildren,
  UNKNOWN_TIME,
  VALUE_END,
  valuesOf,
} from './folder-facts.js'
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
