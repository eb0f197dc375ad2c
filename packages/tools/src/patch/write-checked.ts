import type { Permit } from '@hermes/contracts/policy'
import type { ToolContext } from '@hermes/contracts/tool'
import { fileLedger } from '../files/file-ledger.js'
import { occurrences, refuseNotes } from '../files/refusals.js'

/** Why `text` must not be written over `before`; `null` when it may. `source` names where it comes from. */
export function refuseText(text: string, before: string, marker: string, source: string): string | null {
  if (!text.isWellFormed()) return `${source} holds half of a surrogate pair; send whole characters.`
  if (occurrences(text, marker) <= occurrences(before, marker)) return refuseNotes(text, before, source)
  return `${source} holds ${marker}, which stands for a secret you were not shown; writing it would destroy the real value. Leave that line out of the edit.`
}

/** Writes a file and reads it back; a line for the model when it does not hold what was written, else its new version. */
export async function writeChecked(
  context: ToolContext,
  file: { readonly path: string; readonly real: string; readonly permit: Permit },
  bytes: Uint8Array,
  ifVersion: string | null,
): Promise<{ readonly version: string } | string> {
  const options = { noLinks: true, ...(ifVersion === null ? {} : { ifVersion }) }
  const written = await context.environment.write(file.permit, file.real, bytes, options)
  const check = await context.environment.read(file.real, { noLinks: true })
  if (!check || !Buffer.from(check).equals(bytes))
    return `${file.path} does not hold what was written; another program may be writing to it. Read it again.`
  const ledger = fileLedger(context.state)
  ledger.saw(file.real, written.version)
  ledger.editWorked(file.real)
  return { version: written.version }
}

const MAX_DIFF_CHARS = 10_000
/** The time a diff takes grows with the square of this many changed lines. */
const MAX_DIFF_EDITS = 1000

/** What changed in a file, with three lines around; capped. */
export async function unifiedDiff(path: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const options = { context: 3, maxEditLength: MAX_DIFF_EDITS, headerOptions: FILE_HEADERS_ONLY }
  const diff = createTwoFilesPatch(path, path, before, after, undefined, undefined, options)
  if (diff === undefined) return `Changed ${path}; the diff is too long to show.`
  return diff.length <= MAX_DIFF_CHARS
    ? diff.trimEnd()
    : `${diff.slice(0, MAX_DIFF_CHARS).toWellFormed()}\n[… ${diff.length - MAX_DIFF_CHARS} more characters of diff]`
}
