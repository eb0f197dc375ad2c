import type { Action, ApprovalQuestion } from '@hermes/contracts/policy'
import type { CommandContext } from './command/context.js'
import { resolveShellPath } from './command/context.js'
import type { Invocation } from './command/invocation.js'
import { texts } from './command/invocation.js'
import type { AnalyzedAction } from './match-rules.js'
import { isWithin } from './path/check-path.js'

/** What a reviewer says about one question. */
export interface Review {
  /** `escalate` leaves it to a person, and where nobody listens that is a no. */
  readonly verdict: 'approve' | 'deny' | 'escalate'
  /** Who says so, for the audit trail. */
  readonly by: string
}

/** Answers questions in a person's place, as far as it is sure. */
export interface Reviewer {
  /** Sees the question with its secrets taken out. Never rejects: whatever goes wrong is an `escalate`. Abort ends it at once. */
  review(question: ApprovalQuestion, options?: { readonly signal?: AbortSignal }): Promise<Review>
}

/** Questions about Hermes itself, about rights beyond those of the user, and about leaving the isolation for no known reason. */
const FOR_A_PERSON =
  /^(?:rule:|hermes-|env-file:|outside-text|unisolated-[0-9a-f]{12}$|files-in:|self-approval$|elevated$|kill-own$)/

/**
 * Whether a reviewer may answer: not where a rule of the user asks, Hermes' own settings or the isolation are at stake. Once text from outside is in
 * the conversation the agent may speak for it, to the reviewer too: then only about what is lost in the workspace, in plain words.
 */
export function reviewable(
  analyzed: AnalyzedAction,
  rules: readonly string[],
  options: HarmlessDeletionOptions,
): boolean {
  if (rules.some((rule) => FOR_A_PERSON.test(rule))) return false
  return !analyzed.subject.tainted || isHarmlessDeletion(analyzed, rules, options)
}

/**
 * Rules about things that are lost. Within the workspace a session may overwrite every file without being asked, so that text from
 * outside gains nothing here that it could not have; what leaves, what is reached and what comes to run has rules of its own.
 */
const LOSSES: readonly string[] = Object.freeze(['recursive-delete', 'bulk-delete', 'git-destructive', 'force-kill'])

/** Names, options, paths and what joins commands: no comment and no expansion but of file names. */
const PLAIN = /^[\w@%+=:,.~^[\]*?/\\ \t\n;&|<>!()'"-]{1,500}$/
/** Words with spaces in them, here-documents, and patterns such as `.?/x`, which may stand for `../x`. */
const NOT_PLAIN = /'[^']*\s[^']*'|"[^"]*\s[^"]*"|\\\s|<<|(?:^|[\s/'"=])\.[^\s/]*[*?[]/
const TEMPORARY = Object.freeze(['/tmp', '/var/tmp', '/private/tmp', '/dev/null'])

/** What {@link isHarmlessDeletion} goes by. */
interface HarmlessDeletionOptions extends CommandContext {
  readonly workspace: readonly string[]
}

/**
 * Whether a command does no more than lose things in the workspace, and is written so plainly that nothing in it can talk to whoever
 * reviews it.
 */
function isHarmlessDeletion(
  { action, command }: AnalyzedAction,
  rules: readonly string[],
  options: HarmlessDeletionOptions,
): boolean {
  if (action.type !== 'spawn' || command === null || action.outside) return false
  if (!rules.every((rule) => LOSSES.includes(rule))) return false
  const { text, collected } = command
  if (!collected.complete || !PLAIN.test(text) || NOT_PLAIN.test(text)) return false
  return collected.invocations.every((invocation) => staysInside(action, invocation, options))
}

/** The history of a project, which nothing makes again. */
const HISTORY = /(?:^|\/)\.git(?:\/|$)/
/** Everything in a folder. */
const ALL = /(?:^|\/)\*+$/

type Spawn = Extract<Action, { type: 'spawn' }>

/** Names that come from elsewhere are not known; paths on other machines can only be told from their being relative. */
function staysInside(action: Spawn, invocation: Invocation, options: HarmlessDeletionOptions): boolean {
  const { args, redirects, via, context } = invocation
  if (via === 'xargs' || [...args, ...redirects.map(({ target }) => target)].some((word) => word.dynamic)) return false
  const written = [...texts(args), ...redirects.map(({ target }) => target.text)]
  const paths = written.map((word) => word.slice(word.indexOf('=') + 1))
  if (paths.some((path) => HISTORY.test(path))) return false
  if (action.backend !== 'local') return paths.every((path) => !/^[/~-].*\/|^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path))
  const roots = [...options.workspace, ...TEMPORARY].map((root) => resolveShellPath(root, options))
  const isInside = (path: string) => {
    const resolved = resolveShellPath(path, context)
    return roots.some((root) => isWithin(resolved, root))
  }
  const isWhole = (path: string) => roots.includes(resolveShellPath(path.replace(ALL, '') || '.', context))
  if (invocation.name === 'rm' && paths.some(isWhole)) return false
  // A path that hangs on an option, as in `-C/srv`, is not taken apart.
  return isInside('.') && paths.every((path) => (path.startsWith('-') ? !path.includes('/') : isInside(path)))
}
