// What the last snapshot found, so that the next one reads only files that changed. One line of JSON for each folder; the first line
// holds the tree that all of it comes to.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Slices } from './slices.js'

/** One folder as it was found. */
export interface CachedFolder {
  readonly treeHash: string
  /** The facts of each name, {@link NAME_END} after each; see `scan.ts`. */
  readonly facts: string
  /** For each name in the same order the hash of a file or folder, the target of a link, or a skip reason. */
  readonly values: readonly string[]
}

/** Folders by their path from the root. */
export type StatCache = ReadonlyMap<string, CachedFolder>

const FORMAT = 1
const NONE: StatCache = new Map()

/** The cache, or an empty one when there is none that can be read. */
export async function readStatCache(path: string, slices: Slices): Promise<StatCache> {
  try {
    const [head = '', ...lines] = readFileSync(path, 'utf8').split('\n')
    if ((JSON.parse(head) as { format?: unknown }).format !== FORMAT) return NONE
    const cache = new Map<string, CachedFolder>()
    for (const line of lines) {
      if (line === '') continue
      const [folder, treeHash, facts, values] = JSON.parse(line) as [string, string, string, string[]]
      cache.set(folder, { treeHash, facts, values })
      if (slices.isOver()) await slices.pause()
    }
    return cache
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return NONE
    throw error
  }
}

/** The tree the cache stands for; `null` without a cache. */
export function cachedRoot(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8')
    const { root } = JSON.parse(text.slice(0, text.indexOf('\n'))) as { root?: unknown }
    return typeof root === 'string' ? root : null
  } catch {
    return null
  }
}

/** Replaces the cache in one step. */
export async function writeStatCache(path: string, root: string, cache: StatCache, slices: Slices): Promise<void> {
  const lines = [JSON.stringify({ format: FORMAT, root })]
  for (const [folder, { treeHash, facts, values }] of cache) {
    lines.push(JSON.stringify([folder, treeHash, facts, values]))
    if (slices.isOver()) await slices.pause()
  }
  writeFileSync(`${path}.new`, `${lines.join('\n')}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
