import { errorLine } from '@hermes/contracts'
import type { Permit } from '@hermes/contracts/policy'
import type { ToolContext, ToolResult } from '@hermes/contracts/tool'
import { linkNote, outsideNote, permitLifecycle, permitRead, permitWrite } from '../files/file-access.js'
import { newSyntaxError } from '../files/syntax.js'
import { encodeText } from '../files/text-format.js'
import { watchLint } from '../lint/watch-lint.js'
import { failure } from '../result-text.js'
import type { ToolSettings } from '../settings.js'
import { permitChange } from './operation-actions.js'
import { type PatchOperation, parsePatch } from './parse-patch.js'
import { type PatchStep, planPatch } from './plan-patch.js'
import { unifiedDiff, writeChecked } from './write-checked.js'

interface PermittedStep {
  readonly step: PatchStep
  readonly permit: Permit
  /** With links followed, but for one at the end of what is taken away or moved. */
  readonly real: string
  /** Where a move leads, with links followed. */
  readonly target?: string
}

/** Applies a patch to several files: everything is tried out first, and nothing is written unless all of it fits. */
export async function applyPatch(text: string, context: ToolContext, settings: ToolSettings): Promise<ToolResult> {
  const parsed = parsePatch(text)
  if (parsed.type === 'malformed') return refused(parsed.problems)
  const plan = await planPatch(parsed.operations, context, settings)
  if (plan.type === 'refused') return refused(plan.problems)
  if (plan.steps.length === 0) return unchanged(plan.notes)
  const permitted: PermittedStep[] = []
  for (const step of plan.steps) permitted.push(await permitStep(step, context))
  const done: PatchStep[] = []
  const versions = new Map<string, string>()
  const lints = new Map<PatchStep, () => Promise<readonly string[]>>()
  for (const { step, real } of permitted) {
    if (step.type !== 'write') continue
    const lintAfter = await watchLint(context, settings, { real, version: step.version })
    lints.set(step, () => lintAfter(versions.get(real) ?? ''))
  }
  for (const one of permitted) {
    const problem = await attempt(one, versions, context)
    const version = versions.get(one.real)
    if (problem === null && version !== undefined) settings.sharedFiles?.wrote(context, one.real, version)
    if (problem !== null) return halfDone(one.step, problem, done)
    done.push(one.step)
  }
  return report(done, [...plan.notes, ...(await placeNotes(parsed.operations, permitted, context))], lints)
}

/** Lines on the paths of a patch that lead to another file, or out of the workspace. */
async function placeNotes(
  operations: readonly PatchOperation[],
  steps: readonly PermittedStep[],
  context: ToolContext,
): Promise<readonly string[]> {
  const requested = operations.flatMap((operation) =>
    operation.type === 'move' ? [operation.from, operation.to] : [operation.path],
  )
  const notes = await Promise.all([
    ...steps.map(({ step, real }) => (step.type === 'write' ? linkNote(context, step.path, real) : null)),
    ...[...new Set(requested)].map((path) => outsideNote(context, path)),
  ])
  return notes.filter((note) => note !== null)
}

const refused = (problems: readonly string[]) =>
  failure(['The patch was not applied; no file was changed.', ...problems.map((problem) => `- ${problem}`)].join('\n'))

function unchanged(notes: readonly string[]): ToolResult {
  if (notes.length === 0) return failure('The patch changes nothing: it has no lines led by "-" or "+".')
  const text = ['Nothing was changed.', ...notes].join('\n')
  return { text, data: { success: true, no_change: true, notes } }
}

async function permitText(step: Extract<PatchStep, { type: 'write' }>, context: ToolContext): Promise<PermittedStep> {
  const permitted = await permitWrite(context, step.path)
  await permitLifecycle(context, permitted.real, step.text)
  return { step, ...permitted }
}

async function permitStep(step: PatchStep, context: ToolContext): Promise<PermittedStep> {
  switch (step.type) {
    case 'write':
      return permitText(step, context)
    case 'remove':
      return { step, ...(await permitChange(context, step.path, 'remove')) }
    case 'rename': {
      // Under its new name it may be read where the old one may not.
      await permitRead(context, step.from)
      const { real: target } = await permitWrite(context, step.to)
      return { step, target, ...(await permitChange(context, step.from, 'rename')) }
    }
    default:
      return step satisfies never
  }
}

async function attempt(
  one: PermittedStep,
  versions: Map<string, string>,
  context: ToolContext,
): Promise<string | null> {
  try {
    return await perform(one, versions, context)
  } catch (error) {
    return errorLine(error)
  }
}

async function perform(
  { step, permit, real, target }: PermittedStep,
  versions: Map<string, string>,
  context: ToolContext,
): Promise<string | null> {
  const { environment } = context
  switch (step.type) {
    case 'write': {
      const version = versions.get(real) ?? step.version
      const bytes = encodeText(step.text, step.format)
      const written = await writeChecked(context, { path: step.path, real, permit }, bytes, version)
      if (typeof written === 'string') return written
      versions.set(real, written.version)
      return null
    }
    case 'remove':
      await environment.remove(permit, real, { noLinks: true })
      versions.delete(real)
      return null
    case 'rename':
      await environment.rename(permit, real, target ?? step.to, { noLinks: true })
      versions.delete(real)
      return null
    default:
      return step satisfies never
  }
}

function halfDone(failed: PatchStep, problem: string, done: readonly PatchStep[]): ToolResult {
  const before =
    done.length === 0 ? 'Nothing was changed before that.' : `Done before that: ${done.map(nameOf).join('; ')}.`
  return failure(
    `The patch stopped at ${nameOf(failed)}: ${problem} ${before} The files may not fit together now: look at them before you go on.`,
  )
}

function nameOf(step: PatchStep): string {
  switch (step.type) {
    case 'write':
      return `${step.before === null ? 'add' : 'update'} ${step.path}`
    case 'remove':
      return `delete ${step.path}`
    case 'rename':
      return `move ${step.from} -> ${step.to}`
    default:
      return step satisfies never
  }
}

async function report(
  steps: readonly PatchStep[],
  notes: readonly string[],
  lints: ReadonlyMap<PatchStep, () => Promise<readonly string[]>>,
): Promise<ToolResult> {
  const files = []
  for (const step of steps) files.push(await describe(step, (await lints.get(step)?.()) ?? []))
  const text = [...files.map((file) => [file.diff, ...file.notes].join('\n')), ...notes].join('\n')
  return { text, data: { success: true, files, notes } }
}

async function describe(step: PatchStep, lint: readonly string[]) {
  if (step.type !== 'write')
    return { path: step.type === 'remove' ? step.path : step.to, diff: `${nameOf(step)}: done`, notes: [] }
  const syntaxError = await newSyntaxError(step.path, step.text, step.before)
  const notes = [...step.notes, ...(syntaxError ? [`Syntax error now: ${syntaxError}`] : []), ...lint]
  return { path: step.path, diff: await unifiedDiff(step.path, step.before ?? '', step.text), notes }
}
