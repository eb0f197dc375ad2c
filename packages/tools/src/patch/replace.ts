import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { linkNote, outsideNote, permitLifecycle, permitWrite } from '../files/file-access.js'
import { fileLedger, staleNote } from '../files/file-ledger.js'
import { newSyntaxError } from '../files/syntax.js'
import { encodeText } from '../files/text-format.js'
import { watchLint } from '../lint/watch-lint.js'
import type { EditOutcome } from '../matching/apply-edit.js'
import { applyEdit } from '../matching/apply-edit.js'
import { explainOutcome } from '../matching/explain.js'
import { failure, plural } from '../result-text.js'
import type { ToolSettings } from '../settings.js'
import type { TextFile } from './open-text-file.js'
import { openTextFile } from './open-text-file.js'
import { refuseText, unifiedDiff, writeChecked } from './write-checked.js'

/** What replace mode needs. */
interface ReplaceArgs {
  readonly path: string
  readonly old_string: string
  readonly new_string: string
  readonly replace_all: boolean
}

type Edited = Extract<EditOutcome, { type: 'edited' }>

/** Replaces one text of one file by another. */
export async function replaceInFile(
  args: ReplaceArgs,
  context: ToolContext,
  settings: ToolSettings,
): Promise<ToolResult> {
  if (args.old_string.trim() === '')
    return failure('old_string is blank. Give the text to replace; to write a whole file use write_file.')
  if (args.old_string === args.new_string) return failure('old_string and new_string are identical; nothing to change.')
  const file = await openTextFile(args.path, context)
  if (typeof file === 'string') return failure(file)
  const outcome = await applyEdit(file.text, {
    oldString: args.old_string,
    newString: args.new_string,
    replaceAll: args.replace_all,
  })
  if (outcome.type === 'edited') return save(file, outcome, context, settings)
  if (outcome.type === 'already-applied') return alreadyApplied(file.path, outcome.line)
  const what = { path: file.path, text: file.text, search: args.old_string, name: 'old_string' }
  return failure((await explainOutcome(outcome, what)) + giveUpAdvice(context, file.real))
}

function alreadyApplied(path: string, line: number): ToolResult {
  const note = `new_string is in the file already, at line ${line}; nothing was changed. If you meant another place, read the file and give more surrounding lines.`
  return { text: `${path}: ${note}`, data: { path, success: true, no_change: true, note } }
}

async function save(
  file: TextFile,
  outcome: Edited,
  context: ToolContext,
  settings: ToolSettings,
): Promise<ToolResult> {
  const refusal = refuseText(outcome.text, file.text, settings.redactionMarker, 'new_string')
  if (refusal) return failure(refusal)
  const stale = staleNote(context, settings.sharedFiles, { real: file.real, version: file.stat.version })
  const { permit, real } = await permitWrite(context, file.path)
  await permitLifecycle(context, real, outcome.text)
  const bytes = encodeText(outcome.text, file.format)
  const lintAfter = await watchLint(context, settings, { real, version: file.stat.version })
  const written = await writeChecked(context, { path: file.path, real, permit }, bytes, file.stat.version)
  if (typeof written === 'string') return failure(written)
  settings.sharedFiles?.wrote(context, real, written.version)
  const where = [await linkNote(context, file.path, real), await outsideNote(context, file.requested)]
  return report(file, outcome, { stale, where, lint: await lintAfter(written.version) })
}

/** What is said of an edit besides its diff. */
interface Remarks {
  readonly stale: string | null
  /** Where the path leads, when that is another file or out of the workspace. */
  readonly where: readonly (string | null)[]
  readonly lint: readonly string[]
}

async function report(file: TextFile, outcome: Edited, { stale, where, lint }: Remarks): Promise<ToolResult> {
  const diff = await unifiedDiff(file.path, file.text, outcome.text)
  const syntaxError = await newSyntaxError(file.path, outcome.text, file.text)
  const notes = [
    ...(outcome.strategy === 'exact' ? [] : [`Matched loosely (${outcome.strategy}): check the diff.`]),
    ...(outcome.replacements > 1 ? [`${plural(outcome.replacements, 'replacement')}.`] : []),
    ...(stale ? [`${stale}.`] : []),
    ...where.filter((note) => note !== null),
    ...(syntaxError ? [`Syntax error now: ${syntaxError}`] : []),
    ...lint,
  ]
  const { path } = file
  return {
    text: [diff, ...notes].join('\n'),
    data: { path, success: true, replacements: outcome.replacements, strategy: outcome.strategy, diff, notes },
  }
}

const GIVE_UP_AFTER = 3

/** Counts a failed edit of the file and gives a line that advises another way from the third in a row on; empty before. */
export function giveUpAdvice(context: ToolContext, real: string): string {
  const failures = fileLedger(context.state).editFailed(real)
  return failures < GIVE_UP_AFTER
    ? ''
    : `\nThis is failure ${failures} in a row on this file: read it again, take more context, or rewrite it with write_file.`
}
