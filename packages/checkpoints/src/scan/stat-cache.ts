// What the last snapshot found, so that the next one reads only files that changed. Five parts for each folder: its path, its tree, when
// its names changed, the facts of its names, and their values; two NUL after each part but the last. None of them can hold two in a row.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Slices } from '../objects/slices.js'

/** One folder as it was found. */
export interface CachedFolder {
  readonly treeHash: string
  /** Stays equal for as long as no name came or went; see `namesChanged`. */
  readonly namesChanged: string
  /** The facts of each name, a slash after each; see `scan.ts`. */
  readonly facts: string
  /** For each name in the same order the hash of a file or folder, the target of a link, or a skip reason; a NUL between them. */
  readonly values: string
}

/** Folders by their path from the root. */
export type StatCache = ReadonlyMap<string, CachedFolder>

const HEAD = 'hermes-stat-cache-2'
const PART_END = '\0\0'
/** The path of the root is empty, and no part may be. */
const ROOT = './'
const NONE: StatCache = new Map()

/** The cache, or an empty one when there is none that can be read. */
export async function readStatCache(path: string, slices: Slices): Promise<StatCache> {
  const parts = readParts(path)
  if (parts === null) return NONE
  const cache = new Map<string, CachedFolder>()
  for (let at = 2; at + 4 < parts.length; at += 5) {
    cache.set(parts[at]!.slice(ROOT.length), {
      treeHash: parts[at + 1]!,
      namesChanged: parts[at + 2]!,
      facts: parts[at + 3]!,
      values: parts[at + 4]!,
    })
    if (slices.isOver()) await slices.pause()
  }
  return cache
}

/** The tree the cache stands for; `null` without a cache. */
export function cachedRoot(path: string): string | null {
  return readParts(path)?.[1] ?? null
}

/** Replaces the cache in one step. Folders with names that are no Unicode text are left out: they are read anew each time. */
export async function writeStatCache(path: string, root: string, cache: StatCache, slices: Slices): Promise<void> {
  const parts = [HEAD, root]
  for (const [folder, { treeHash, namesChanged, facts, values }] of cache) {
    if (folder.isWellFormed() && facts.isWellFormed() && values.isWellFormed())
      parts.push(ROOT + folder, treeHash, namesChanged, facts, values)
    if (slices.isOver()) await slices.pause()
  }
  writeFileSync(`${path}.new`, parts.join(PART_END), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

function readParts(path: string): readonly string[] | null {
  try {
    const parts = readFileSync(path, 'utf8').split(PART_END)
    return parts[0] === HEAD ? parts : null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
