import { seenFiles, type ToolContext, type ToolState } from '@hermes/contracts/tool'
import type { SharedFiles } from './shared-files.js'

const LIMIT = 1000

/** What a session knows about files it read and wrote, for as long as the process lives. */
interface FileLedger {
  /** How often this page was asked for since it was delivered in this version: 0 when it should be delivered now, 1 or 2. */
  repeats(page: string, version: string): 0 | 1 | 2
  delivered(page: string, version: string): void
  /** The version this session saw last; what of it was read is not told. */
  saw(path: string, version: string): void
  /** Notes lines that the session was shown of a version. */
  read(path: string, version: string, lines: ShownLines): void
  /** Whether the session was shown some of a file, and never all of it. */
  isPartlyRead(path: string): boolean
  /** Notes that the session wrote all of a file. */
  wrote(path: string, version: string): void
  /** Whether the file is another one than this session saw last. False for a file it never saw. */
  changedSince(path: string, version: string): boolean
  /** Whether this is the version that this session saw last. */
  knows(path: string, version: string): boolean
  /** Counts a failed edit and gives how many failed in a row. */
  editFailed(path: string): number
  editWorked(path: string): void
}

/** Lines of a file, from 1, as they were shown. */
export interface ShownLines {
  readonly first: number
  readonly last: number
  /** No line comes after them. */
  readonly isEnd: boolean
}

/** The ledger of a session. */
export const fileLedger = (state: ToolState): FileLedger =>
  state.scratch('files', () => createFileLedger(seenFiles(state)))

/** Why the session may not know what it changes, as the beginning of a sentence; `null` when it saw this version, or nothing is known. */
export function staleNote(
  context: ToolContext,
  shared: SharedFiles | undefined,
  file: { readonly real: string; readonly version: string },
): string | null {
  const ledger = fileLedger(context.state)
  const { real, version } = file
  const other = ledger.knows(real, version) ? null : (shared?.otherWriter(context, real, version) ?? null)
  if (other !== null)
    return `${other.charAt(0).toUpperCase()}${other.slice(1)} wrote the file and you had not read it since`
  return ledger.changedSince(real, version) ? 'The file had changed since you last read it' : null
}

/** An empty ledger that forgets the oldest of more than a thousand files. */
function createFileLedger(versions: Map<string, string>): FileLedger {
  const pages = new Map<string, { readonly version: string; readonly repeats: 0 | 1 }>()
  const failures = new Map<string, number>()
  /** Of files that were not read to their end: how many lines were, from the first on. */
  const readTo = new Map<string, number>()
  return {
    repeats(page, version) {
      const last = pages.get(page)
      if (last?.version !== version) return 0
      if (last.repeats === 0) remember(pages, page, { version, repeats: 1 })
      else pages.delete(page)
      return last.repeats === 0 ? 1 : 2
    },
    delivered: (page, version) => remember(pages, page, { version, repeats: 0 }),
    saw: (path, version) => remember(versions, path, version),
    read(path, version, { first, last, isEnd }) {
      const isKnown = versions.get(path) === version
      remember(versions, path, version)
      const before = isKnown ? readTo.get(path) : 0
      if (before === undefined) return
      const goesOn = first <= before + 1
      if (goesOn && isEnd) readTo.delete(path)
      else remember(readTo, path, goesOn ? Math.max(before, last) : before)
    },
    isPartlyRead: (path) => readTo.has(path),
    wrote(path, version) {
      remember(versions, path, version)
      readTo.delete(path)
    },
    changedSince: (path, version) => (versions.get(path) ?? version) !== version,
    knows: (path, version) => versions.get(path) === version,
    editFailed(path) {
      const count = (failures.get(path) ?? 0) + 1
      remember(failures, path, count)
      return count
    },
    editWorked: (path) => void failures.delete(path),
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > LIMIT) map.delete(map.keys().next().value!)
}
