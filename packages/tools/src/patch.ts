import type { FileStat } from '@hermes/contracts/environment'
import { defineTool, type ToolContext, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { permitRead, permitWrite, readAction, writeAction } from './files/file-access.js'
import { fileLedger } from './files/file-ledger.js'
import { occurrences } from './files/refusals.js'
import { missingFile } from './files/similar-names.js'
import { newSyntaxError } from './files/syntax.js'
import { decodeText, encodeText, type TextFormat } from './files/text-format.js'
import { applyEdit, type EditOutcome } from './matching/apply-edit.js'
import { explainAmbiguity, explainMiss } from './matching/explain.js'
import { failure, plural } from './result-text.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'

const MAX_FILE_BYTES = 20_000_000
const MAX_DIFF_CHARS = 10_000
/** The time a diff takes grows with the square of this many changed lines. */
const MAX_DIFF_EDITS = 1000
const GIVE_UP_AFTER = 3

const parameters = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    old_string: {
      type: 'string',
      description: 'Text to replace, copied from the file, with enough lines around it to be unique',
    },
    new_string: { type: 'string', description: 'What stands there instead; empty deletes' },
    replace_all: { type: 'boolean', default: false },
  },
  required: ['path', 'old_string', 'new_string'],
} as const

type Args = FromSchema<typeof parameters>

/** Replaces a piece of a file, found by its content. */
export const createPatchTool = (settings: ToolSettings = defaultToolSettings) =>
  defineTool<Args>({
    name: 'patch',
    toolset: 'file',
    description:
      'Edit a file by replacing old_string with new_string; the preferred way to change existing files. Read the file first. Small slips in whitespace or indentation are matched anyway; an unsure or repeated match changes nothing. Returns a diff.',
    parameters,
    concurrency: 'path',
    icon: '🔧',
    paths: (args, context) => [context.environment.resolve(args.path)],
    actions: (args, context) => [readAction(context, args.path), writeAction(context, args.path)],
    summarize: (args) => `patch ${args.path}`,
    execute: (args, context) => patch(args, context, settings),
  })

interface Opened {
  readonly path: string
  readonly real: string
  readonly stat: FileStat
  readonly text: string
  readonly format: TextFormat
}

async function patch(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  if (args.old_string.trim() === '')
    return failure('old_string is blank. Give the text to replace; to write a whole file use write_file.')
  if (args.old_string === args.new_string) return failure('old_string and new_string are identical; nothing to change.')
  if (!args.new_string.isWellFormed())
    return failure('new_string holds half of a surrogate pair; send whole characters.')
  const file = await open(args.path, context)
  if (typeof file === 'string') return failure(file)
  const outcome = await applyEdit(file.text, {
    oldString: args.old_string,
    newString: args.new_string,
    replaceAll: args.replace_all,
  })
  if (outcome.type === 'edited') return save(file, outcome, context, settings)
  if (outcome.type === 'already-applied') return alreadyApplied(file.path, outcome.line)
  const failures = fileLedger(context.state).editFailed(file.real)
  const advice =
    failures < GIVE_UP_AFTER
      ? ''
      : `\nThis is failure ${failures} in a row on this file: read it again, take more context, or rewrite it with write_file.`
  return failure((await explain(outcome, file, args)) + advice)
}

async function open(asked: string, context: ToolContext): Promise<Opened | string> {
  const { environment } = context
  const path = environment.resolve(asked)
  const real = await permitRead(context, path)
  const stat = await environment.stat(real)
  if (!stat) return missingFile(environment, path)
  if (stat.type !== 'file') return `${path} is not a regular file, so it cannot be patched.`
  if (stat.sizeBytes > MAX_FILE_BYTES)
    return `${path} has ${stat.sizeBytes} bytes, too many for patch; edit it with a command in terminal.`
  const bytes = await environment.read(real)
  if (!bytes) return missingFile(environment, path)
  const decoded = decodeText(bytes)
  if (!decoded) return `${path} is not UTF-8 text, so an edit could damage it; use a command in terminal.`
  return { path, real, stat, ...decoded }
}

function alreadyApplied(path: string, line: number): ToolResult {
  const note = `new_string is in the file already, at line ${line}; nothing was changed. If you meant another place, read the file and give more surrounding lines.`
  return { text: `${path}: ${note}`, data: { path, success: true, no_change: true, note } }
}

async function explain(
  outcome: Exclude<EditOutcome, { type: 'edited' | 'already-applied' }>,
  file: Opened,
  args: Args,
): Promise<string> {
  switch (outcome.type) {
    case 'ambiguous':
      return explainAmbiguity(outcome, file.path)
    case 'not-found':
      return explainMiss(file.text, args.old_string, file.path)
    case 'unsure':
      return `old_string matches ${file.path} at line ${outcome.line} only loosely (${outcome.strategy}), and what to write there is not certain; nothing was changed. Read those lines and copy them exactly.`
    default:
      return outcome satisfies never
  }
}

async function save(
  file: Opened,
  outcome: Extract<EditOutcome, { type: 'edited' }>,
  context: ToolContext,
  settings: ToolSettings,
): Promise<ToolResult> {
  const { redactionMarker } = settings
  if (occurrences(outcome.text, redactionMarker) > occurrences(file.text, redactionMarker))
    return failure(
      `new_string holds ${redactionMarker}, which stands for a secret you were not shown; writing it would destroy the real value. Leave that line out of the edit.`,
    )
  const bytes = encodeText(outcome.text, file.format)
  const { permit, real } = await permitWrite(context, file.path)
  const written = await context.environment.write(permit, real, bytes, { ifVersion: file.stat.version })
  const check = await context.environment.read(real)
  if (!check || !Buffer.from(check).equals(bytes))
    return failure(`${file.path} does not hold what was written; another program may be writing to it. Read it again.`)
  const ledger = fileLedger(context.state)
  const stale = ledger.changedSince(real, file.stat.version)
  ledger.saw(real, written.version)
  ledger.editWorked(real)
  return report(file, outcome, stale)
}

async function report(
  file: Opened,
  outcome: Extract<EditOutcome, { type: 'edited' }>,
  stale: boolean,
): Promise<ToolResult> {
  const diff = await unifiedDiff(file.path, file.text, outcome.text)
  const syntaxError = newSyntaxError(file.path, outcome.text, file.text)
  const notes = [
    ...(outcome.strategy === 'exact' ? [] : [`Matched loosely (${outcome.strategy}): check the diff.`]),
    ...(outcome.replacements > 1 ? [`${plural(outcome.replacements, 'replacement')}.`] : []),
    ...(stale ? ['The file had changed since you last read it.'] : []),
    ...(syntaxError ? [`Syntax error now: ${syntaxError}`] : []),
  ]
  const { path } = file
  return {
    text: [diff, ...notes].join('\n'),
    data: { path, success: true, replacements: outcome.replacements, strategy: outcome.strategy, diff, notes },
  }
}

async function unifiedDiff(path: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const options = { context: 3, maxEditLength: MAX_DIFF_EDITS, headerOptions: FILE_HEADERS_ONLY }
  const diff = createTwoFilesPatch(path, path, before, after, undefined, undefined, options)
  if (diff === undefined) return `Changed ${path}; the diff is too long to show.`
  return diff.length <= MAX_DIFF_CHARS
    ? diff.trimEnd()
    : `${diff.slice(0, MAX_DIFF_CHARS).toWellFormed()}\n[… ${diff.length - MAX_DIFF_CHARS} more characters of diff]`
}
