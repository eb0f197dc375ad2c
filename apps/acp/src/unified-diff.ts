import { isAbsolute } from 'node:path'

/** One changed place of a file. */
interface ChangedPlace {
  /** Absolute. */
  readonly path: string
  /** `null` when the file is new. */
  readonly oldText: string | null
  readonly newText: string
  /** Where the place begins in the new file, counted from 1. */
  readonly line: number
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
const NO_FILE = '/dev/null'

/** The hunks of unified diffs in `text`, in order; a hunk that was cut off, files without an absolute path and other text are left out. */
export function changedPlaces(text: string): readonly ChangedPlace[] {
  const lines = text.split('\n')
  const places: ChangedPlace[] = []
  let before = ''
  let after = ''
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]!
    if (line.startsWith('--- ') && lines[index + 1]?.startsWith('+++ ')) {
      before = fileName(line)
      after = fileName(lines[++index]!)
      continue
    }
    const hunk = HUNK.exec(line)
    const path = after === NO_FILE ? before : after
    if (!hunk || !isAbsolute(path)) continue
    const body = readHunk(lines, index + 1, { old: Number(hunk[1] ?? 1), new: Number(hunk[3] ?? 1) })
    if (!body) continue
    places.push({ path, ...body.texts, oldText: before === NO_FILE ? null : body.texts.oldText, line: Number(hunk[2]) })
    index = body.last
  }
  return places
}

function fileName(header: string): string {
  return header.slice(4).split('\t')[0]!.trim()
}

interface Hunk {
  readonly texts: { readonly oldText: string; readonly newText: string }
  /** Index of its last line. */
  readonly last: number
}

function readHunk(lines: readonly string[], from: number, left: { old: number; new: number }): Hunk | null {
  const oldLines: string[] = []
  const newLines: string[] = []
  let index = from
  for (; left.old > 0 || left.new > 0; index++) {
    // A tool may trim its text and so lose blank lines at the end, which both sides have.
    const line = lines[index] ?? (left.old === left.new ? ' ' : undefined)
    if (line === undefined) return null
    if (line.startsWith('\\')) continue
    const mark = line[0] ?? ' '
    if (mark !== '+' && mark !== '-' && mark !== ' ') return null
    if (mark !== '+' && left.old-- > 0) oldLines.push(line.slice(1))
    if (mark !== '-' && left.new-- > 0) newLines.push(line.slice(1))
  }
  return { texts: { oldText: oldLines.join('\n'), newText: newLines.join('\n') }, last: index - 1 }
}
