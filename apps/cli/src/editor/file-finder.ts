import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import { bestOf } from './fuzzy.js'

/** Files of a workspace, found by a few letters while they are still being listed. */
export interface FileFinder {
  /** The best paths for these letters, folders with a slash at the end; the first ones for none. Another call ends it with nothing. */
  find(letters: string): Promise<readonly string[]>
  /** Whether more may be found in a moment. */
  readonly isListing: boolean
  /** Ends listing. */
  close(): void
}

const MAX_PATHS = 300_000
/** How long a list counts as it was. */
const FRESH_MS = 10_000
/** A small workspace is listed by then; of a large one what there is is shown. */
const FIRST_LOOK_MS = 80
const COMPARED_AT_ONCE = 4_000
const MAX_RANKED = 400
const MAX_FOUND = 50

/** Lists on first use, and again when what is known has become old. `list` gives paths relative to the workspace, some at a time. */
export function createFileFinder(list: (signal: AbortSignal) => AsyncIterable<readonly string[]>): FileFinder {
  return new ListingFinder(list)
}

class ListingFinder implements FileFinder {
  readonly #list: (signal: AbortSignal) => AsyncIterable<readonly string[]>
  readonly #ended = new AbortController()
  #paths: readonly string[] = []
  #listedAtMs = Number.NEGATIVE_INFINITY
  #listing: Promise<void> | null = null
  #newest = ''

  constructor(list: (signal: AbortSignal) => AsyncIterable<readonly string[]>) {
    this.#list = list
  }

  get isListing(): boolean {
    return this.#listing !== null
  }

  close(): void {
    this.#ended.abort()
  }

  async find(letters: string): Promise<readonly string[]> {
    this.#newest = letters
    if (!this.#listing && performance.now() - this.#listedAtMs > FRESH_MS) this.#listing = this.#listAll()
    if (this.#listing && this.#paths.length < MAX_FOUND) await Promise.race([this.#listing, sleep(FIRST_LOOK_MS)])
    const paths = this.#paths
    if (letters === '') return paths.slice(0, MAX_FOUND)
    const groups = await this.#compare(letters, paths)
    if (!groups) return []
    const found: string[] = []
    for (const group of groups)
      if (found.length < MAX_FOUND) found.push(...(await bestOf(letters, group, (path) => path)))
    return found.slice(0, MAX_FOUND)
  }

  /** Those that fit by their last name, by some part, and by their letters in order; keys have their turn in between. */
  async #compare(letters: string, paths: readonly string[]): Promise<readonly (readonly string[])[] | null> {
    const wanted = letters.toLowerCase()
    const groups: readonly string[][] = [[], [], []]
    for (const [at, path] of paths.entries()) {
      if (at % COMPARED_AT_ONCE === COMPARED_AT_ONCE - 1) await nextTick()
      if (this.#newest !== letters) return null
      const group = groups[closeness(path.toLowerCase(), wanted)]
      if (group && group.length < MAX_RANKED) group.push(path)
    }
    return groups
  }

  /** What was known before stays until all is listed anew. */
  async #listAll(): Promise<void> {
    const paths: string[] = []
    const folders = new Set<string>()
    if (this.#paths.length === 0) this.#paths = paths
    try {
      for await (const some of this.#list(this.#ended.signal)) {
        for (const path of some) {
          paths.push(path)
          addFolders(path, folders, paths)
        }
        if (paths.length > MAX_PATHS) break
      }
      this.#paths = paths
    } catch {
      // A folder that cannot be read has no files to name.
    }
    this.#listedAtMs = performance.now()
    this.#listing = null
  }
}

/** 0 to 2, the closest first; 3 when it does not fit. */
function closeness(path: string, wanted: string): number {
  const at = path.indexOf(wanted)
  if (at >= 0) return path.startsWith(wanted, path.lastIndexOf('/', path.length - 2) + 1) ? 0 : 1
  let next = 0
  for (let index = 0; index < path.length && next < wanted.length; index++)
    if (path.charCodeAt(index) === wanted.charCodeAt(next)) next++
  return next === wanted.length ? 2 : 3
}

function addFolders(path: string, folders: Set<string>, paths: string[]): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end + 1)
    if (folders.has(folder)) return
    folders.add(folder)
    paths.push(folder)
  }
}
