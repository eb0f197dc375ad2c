import { posix } from 'node:path'
import type { Action } from '@hermes/contracts/policy'
import { type CommandContext, resolveShellPath } from './command/context.js'
import { type Invocation, texts } from './command/invocation.js'
import { writeTargets } from './command/write-targets.js'
import type { AnalyzedAction } from './match-rules.js'
import { afterOutside } from './outside-text.js'
import { mentionsLifecycle, type Surface, surfaceOf } from './path/surfaces.js'

/** A question about one file that runs or instructs later. */
interface SurfaceAsk {
  readonly rule: string
  readonly reason: string
}

/**
 * What an action changes of what runs or instructs later, a question for each file; a grant is for that file. Once text from outside was
 * read the questions have names of their own, so that grants given before cover none of them.
 */
export function surfaceAsks(
  { action, subject, command }: AnalyzedAction,
  context: CommandContext,
): readonly SurfaceAsk[] {
  if (subject.origin === 'operator') return []
  const found =
    action.type === 'spawn'
      ? inCommand(command?.text ?? '', command?.collected.invocations ?? [])
      : inAction(action, context)
  const all = [...new Set(found.map((path) => resolveShellPath(path, context)))]
  const [paths, more] = [all.slice(0, MAX_FILES), all.length - MAX_FILES]
  const name = subject.tainted ? 'outside-text-instructions' : 'runs-later'
  const after = subject.tainted ? `, after ${afterOutside(subject)}` : ''
  const asks = paths.map((path) => ({
    rule: `${name}:${path}`,
    reason: `it changes what later runs or is told to do (${aboutOf(path, context)})${after}`,
  }))
  if (more <= 0) return asks
  return [...asks, { rule: name, reason: `it changes ${more} more files of what later runs or is told to do${after}` }]
}

/** What is beyond them is asked about together, for the same action alone. */
const MAX_FILES = 20

function inAction(action: Action, context: CommandContext): readonly string[] {
  if (action.type !== 'write' || action.operation !== 'write') return []
  return surfaceAt(action.path, context) || action.runsLater ? [action.path] : []
}

function inCommand(text: string, invocations: readonly Invocation[]): readonly string[] {
  return invocations.flatMap((invocation) => {
    const { name, args, context } = invocation
    const targets = writeTargets(invocation).map((path) => resolveShellPath(path, context))
    const manifests = targets.filter((path) => /(?:^|\/)package\.json$/.test(path))
    const isCopied = /^(?:cp|mv|install|ln|rsync|curl|wget|tar|unzip|dd)$/.test(name) && !text.includes('jq ')
    const isSet =
      /^(?:npm|pnpm|yarn|bun)$/.test(name) && texts(args).includes('pkg') && mentionsLifecycle(texts(args).join(' '))
    return [
      ...targets.filter((path) => surfaceAt(path, context) !== null),
      ...(isCopied || mentionsLifecycle(text) ? manifests : []),
      ...(isSet ? [resolveShellPath('package.json', context)] : []),
    ]
  })
}

/** Names of folders above the workspace do not count: a worktree in `.claude/worktrees` holds ordinary files. */
function surfaceAt(path: string, context: CommandContext): Surface | null {
  const full = resolveShellPath(path, context)
  const roots = (context.workspace ?? []).map((folder) => resolveShellPath(folder, context))
  const root = roots.find((folder) => full.startsWith(`${folder}/`))
  return surfaceOf(root === undefined ? full : posix.relative(posix.dirname(root), full))
}

function aboutOf(path: string, context: CommandContext): string {
  const surface = surfaceAt(path, context)
  const does = path.endsWith('package.json') ? 'npm runs parts of it by itself' : 'a Makefile includes it'
  return `${path}: ${surface?.does ?? does}`
}
