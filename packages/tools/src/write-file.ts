import { posix } from 'node:path'
import type { FileStat } from '@hermes/contracts/environment'
import type { Permit } from '@hermes/contracts/policy'
import { defineTool, type ToolContext, type ToolResult } from '@hermes/contracts/tool'
import { ownFiles } from '@hermes/sandbox'
import type { FromSchema } from 'json-schema-to-ts'
import { linkNote, misplaced, outsideNote, permitLifecycle, permitWrite, writeAction } from './files/file-access.js'
import { fileLedger, staleNote } from './files/file-ledger.js'
import { isNumberedDisplay, occurrences, refuseNotes } from './files/refusals.js'
import { newSyntaxError } from './files/syntax.js'
import { decodeText, encodeText, newFileFormat } from './files/text-format.js'
import { watchLint } from './lint/watch-lint.js'
import { withLineEnds } from './matching/line-ends.js'
import { failure, plural } from './result-text.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'

/** Of larger files only the start is looked at, for their line ends. */
const MAX_PROBED_BYTES = 20_000_000
const PROBE_BYTES = 4096

const parameters = {
  type: 'object',
  properties: { path: { type: 'string' }, content: { type: 'string' } },
  required: ['path', 'content'],
} as const

type Args = FromSchema<typeof parameters>

/** Writes a whole file. */
export const createWriteFileTool = (settings: ToolSettings = defaultToolSettings) =>
  defineTool<Args>({
    name: 'write_file',
    toolset: 'file',
    description:
      'Write a whole file, replacing what was there, and missing folders; not with echo or heredocs. To change a part use patch.',
    parameters,
    concurrency: 'path',
    icon: '✍️',
    paths: (args, context) => [context.environment.resolve(args.path)],
    actions: (args, context) => [writeAction(context, args.path)],
    summarize: (args) => `write ${args.path}`,
    execute: (args, context) => writeFile(args, context, settings),
  })

async function writeFile(args: Args, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const problem = await misplaced(context, args.path)
  if (problem) return failure(problem)
  const path = context.environment.resolve(args.path)
  const { permit, real } = await permitWrite(context, path)
  const where = [await linkNote(context, path, real), await outsideNote(context, args.path)]
  const notes = where.filter((note) => note !== null)
  const work = () => overwrite(args.content, context, settings, { path, real, permit, notes })
  return settings.sharedFiles?.alone(context, [path], work) ?? work()
}

interface PermittedFile {
  readonly path: string
  /** With links followed. */
  readonly real: string
  readonly permit: Permit
  /** Where the path leads, when that is another file or out of the workspace. */
  readonly notes: readonly string[]
}

async function overwrite(
  content: string,
  context: ToolContext,
  settings: ToolSettings,
  { path, real, permit, notes }: PermittedFile,
): Promise<ToolResult> {
  const { environment } = context
  const stat = await environment.stat(real)
  if (stat && stat.type !== 'file') return failure(`${path} is not a regular file, so it cannot be written.`)
  const old = stat ? await probe(context, real, stat) : null
  const refusal = refuse(path, content, old?.text ?? '', settings.redactionMarker)
  if (refusal) return failure(refusal)

  const format = old?.format ?? newFileFormat
  const text = withLineEnds(content, format.crlf)
  const bytes = encodeText(text, format)
  const lintAfter = await watchLint(context, settings, { real, version: stat?.version ?? null })
  await permitLifecycle(context, real, text)
  const written = await environment.write(permit, real, bytes, { noLinks: true })
  const ledger = fileLedger(context.state)
  const lost = stat && lostNote(context, settings, { real, version: stat.version })
  settings.sharedFiles?.wrote(context, real, written.version)
  ledger.wrote(real, written.version)
  ledger.editWorked(real)
  const { isTainted = false, taintedBy: names = [] } = context
  ownFiles(context.state).note(real, written.version, isTainted ? [{ type: 'inherited', names }] : [])
  const lint = await lintAfter(written.version)
  const warnings = [...(lost === null ? [] : [lost]), ...notes]
  return report({ path, text, bytes, created: stat === null, before: old?.text ?? null, warnings, lint })
}

/** What may be gone with the old file; `null` when the session knew all of it, or nothing is known. */
function lostNote(
  context: ToolContext,
  { sharedFiles }: ToolSettings,
  file: { readonly real: string; readonly version: string },
): string | null {
  const stale = staleNote(context, sharedFiles, file)
  if (stale !== null) return `${stale}; those changes are overwritten.`
  return fileLedger(context.state).isPartlyRead(file.real)
    ? 'You had read only a part of the old file; the rest of it is gone unseen.'
    : null
}

/** The old text, for its format and its markers; `null` when it was not text. */
async function probe(context: ToolContext, real: string, stat: FileStat): Promise<ReturnType<typeof decodeText>> {
  const whole = stat.sizeBytes <= MAX_PROBED_BYTES
  const bytes = await context.environment.read(real, { ...(whole ? {} : { length: PROBE_BYTES }), noLinks: true })
  return bytes && decodeText(bytes)
}

function refuse(path: string, content: string, before: string, marker: string): string | null {
  if (!content.isWellFormed())
    return 'content holds half of a surrogate pair; send whole characters. Nothing was written.'
  if (occurrences(content, marker) > occurrences(before, marker))
    return `content holds ${marker}, which stands for a secret you were not shown; writing it would destroy the real value. Nothing was written: change only the other lines, with patch.`
  if (isNumberedDisplay(path, content) && !isNumberedDisplay(path, before))
    return 'content has the "N|" line numbers that read_file adds; they are not part of a file. Nothing was written: send the text without them.'
  return refuseNotes(content, before, 'content')
}

async function report(done: {
  readonly path: string
  readonly text: string
  readonly bytes: Uint8Array
  readonly created: boolean
  readonly before: string | null
  readonly warnings: readonly string[]
  readonly lint: readonly string[]
}): Promise<ToolResult> {
  const lines = done.text === '' ? 0 : done.text.replace(/\n$/, '').split('\n').length
  const syntaxError = await newSyntaxError(done.path, done.text, done.before)
  const size = `${plural(lines, 'line')}, ${plural(done.bytes.length, 'byte')}`
  const text = [
    `${done.created ? 'Created' : 'Overwrote'} ${done.path}: ${size}.`,
    ...done.warnings,
    ...(syntaxError ? [`${posix.basename(done.path)} has a syntax error now: ${syntaxError}`] : []),
    ...done.lint,
  ].join('\n')
  const data = {
    path: done.path,
    bytes_written: done.bytes.length,
    lines,
    created: done.created,
    ...(done.warnings.length > 0 ? { warning: done.warnings.join(' ') } : {}),
    ...(syntaxError ? { syntax_error: syntaxError } : {}),
    ...(done.lint.length > 0 ? { lint: done.lint } : {}),
  }
  return { data, text }
}
