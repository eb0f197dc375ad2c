import { errorLine } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import type { ToolSettings } from '../settings.js'
import { type FoundLinter, findLinter, isCommitted, quote } from './find-linter.js'
import type { Finding } from './linters.js'

/** A file that is about to be written. */
interface WatchedFile {
  /** With links followed. */
  readonly real: string
  /** The version that is there; `null` for a new file. */
  readonly version: string | null
}

/** Says what the project's linter newly objects to, once the file is written; empty when there is nothing. Never rejects but on abort. */
type LintAfter = (version: string) => Promise<readonly string[]>

const SHOWN = 10
const MAX_REMEMBERED = 200
const OUTPUT_BYTES = 400_000
const NOTHING: LintAfter = async () => []

interface Lint {
  /** Linters that took too long, failed, or may not run: not tried again in this session. */
  readonly input: Set<string>
  /** Linters that are known not to have come with the repository. */
  readonly trusted: Set<string>
  /** What was found in a version of a file. */
  readonly found: Map<string, readonly Finding[]>
}

/** Looks at the file as it is, so that what is wrong with it already is not held against the write. */
export async function watchLint(context: ToolContext, settings: ToolSettings, file: WatchedFile): Promise<LintAfter> {
  if (!settings.lint) return NOTHING
  const found = await findLinter(context, file.real).catch(() => null)
  const lint = context.state.scratch('lint', (): Lint => ({ input: new Set(), trusted: new Set(), found: new Map() }))
  if (!found || lint.input.has(found.linter.name)) return NOTHING
  const run = (version: string) => findings(context, settings, { found, lint, real: file.real, version })
  const before = file.version === null ? [] : await run(file.version)
  if (!before) return NOTHING
  return async (version) => {
    const after = await run(version)
    return after ? describe(found.linter.name, newOnes(before, after)) : []
  }
}

interface LintRun {
  readonly found: FoundLinter
  readonly lint: Lint
  readonly real: string
  readonly version: string
}

/** `null` when the linter is of no use here; it is not asked again. */
async function findings(
  context: ToolContext,
  settings: ToolSettings,
  { found, lint, real, version }: LintRun,
): Promise<readonly Finding[] | null> {
  const key = `${real}\0${version}`
  const known = lint.found.get(key)
  if (known) return known
  try {
    const isTrusted = lint.trusted.has(found.program) || !(await isCommitted(context, found))
    if (isTrusted) lint.trusted.add(found.program)
    else context.progress(`${found.linter.name} came with the repository, so it is not run.`)
    const output = isTrusted ? await runLinter(context, settings.lintTimeoutMs, found, real) : null
    const all = output === null ? null : found.linter.parse(output)
    if (all) {
      if (lint.found.size >= MAX_REMEMBERED) lint.found.clear()
      lint.found.set(key, all)
      return all
    }
  } catch (error) {
    context.signal.throwIfAborted()
    context.progress(`${found.linter.name} does not run here: ${errorLine(error)}`)
  }
  lint.input.add(found.linter.name)
  return null
}

/** What the linter prints about the file; `null` when it took too long or could not run. */
async function runLinter(
  context: ToolContext,
  timeoutMs: number,
  { linter, root, program }: FoundLinter,
  real: string,
): Promise<string | null> {
  const { environment, signal } = context
  const command = [program, ...linter.args, real].map(quote).join(' ')
  const permit = await context.permit({ type: 'spawn', command, cwd: root, backend: environment.backend })
  const done = await environment.exec(permit, command, { cwd: root, timeoutMs, maxOutputBytes: OUTPUT_BYTES, signal })
  signal.throwIfAborted()
  // These linters end with 0 or 1; more means that they could not do their work.
  return done.timedOut || done.exitCode === null || done.exitCode > 1 ? null : done.output
}

/** Lines move with every edit, so that only rule and message tell complaints apart. */
function newOnes(before: readonly Finding[], after: readonly Finding[]): readonly Finding[] {
  const left = before.map(({ rule, message }) => `${rule}\0${message}`)
  return after.filter(({ rule, message }) => {
    const at = left.indexOf(`${rule}\0${message}`)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

function describe(name: string, found: readonly Finding[]): readonly string[] {
  if (found.length === 0) return []
  const lines = found.slice(0, SHOWN).map(({ line, rule, message }) => `  line ${line}: ${message} (${rule})`)
  const more = found.length > SHOWN ? [`  and ${found.length - SHOWN} more`] : []
  return [`New errors of ${name}:`, ...lines, ...more]
}
