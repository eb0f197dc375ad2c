import { hasOption, type Invocation, readOptions, texts } from './invocation.js'
import type { CommandRule } from './rule.js'

const OPTIONS = /^\$\{?\w*(?:FLAG|OPT|ARG)/i
const GLOBAL_VALUED = [
  '-C',
  '-c',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--exec-path',
  '--config-env',
  '--attr-source',
]

/** The subcommand of a git call and the words after it. */
export function gitCommand(args: Invocation['args']): { readonly verb: string; readonly rest: Invocation['args'] } {
  let at = 0
  while (args[at]?.text.startsWith('-')) at += GLOBAL_VALUED.includes(args[at]!.text) ? 2 : 1
  return { verb: args[at]?.text ?? '', rest: args.slice(at + 1) }
}

function destroys(verb: string, rest: Invocation['args']): boolean {
  const options = readOptions(rest)
  const words = texts(rest)
  const [first = ''] = options.operands
  switch (verb) {
    case 'reset':
      return hasOption(options, '', 'hard', 'merge')
    case 'clean':
      return hasOption(options, 'fxX', 'force') && !hasOption(options, 'n', 'dry-run')
    case 'push':
      return (
        hasOption(options, 'fd', 'force', 'force-with-lease', 'force-if-includes', 'mirror', 'delete', 'prune') ||
        options.operands.slice(1).some((ref) => /^[+:]/.test(ref))
      )
    case 'checkout':
    case 'switch':
      return (
        hasOption(options, 'f', 'force', 'discard-changes') ||
        words.includes('.') ||
        (words.includes('--') && words.indexOf('--') < words.length - 1)
      )
    case 'restore':
      return !(hasOption(options, 'S', 'staged') && !hasOption(options, 'W', 'worktree'))
    case 'branch':
      return hasOption(options, 'D') || (hasOption(options, 'd', 'delete') && hasOption(options, 'f', 'force'))
    case 'stash':
      return first === 'drop' || first === 'clear'
    case 'reflog':
      return first === 'expire' || first === 'delete'
    case 'worktree':
      return first === 'remove' && hasOption(options, 'f', 'force')
    case 'update-ref':
      return hasOption(options, 'd')
    case 'gc':
      return words.some((word) => word.startsWith('--prune=now') || word === '--prune=all')
    case 'rm':
      return hasOption(options, 'rf', 'force') && !hasOption(options, '', 'cached')
    default:
      return verb === 'filter-branch' || verb === 'filter-repo'
  }
}

/** Settings that name a program, or where credentials and other settings come from. */
const RUNS =
  /^(?:core\.(?:hookspath|sshcommand|pager|editor|fsmonitor|askpass|attributesfile|gitproxy)|credential\.(?:.+\.)?helper|alias\..+|filter\..+|(?:diff|merge)\..+\.(?:command|textconv|driver)|diff\.external|(?:diff|merge)tool\..+|gpg\.(?:.+\.)?program|sequence\.editor|pager\..+|include(?:if\..+)?\.path|url\..+\.(?:push)?insteadof|uploadpack\..+|http\.proxy|init\.templatedir|protocol\.ext\.allow|browser\..+|web\.browser|trailer\..+\.c(?:omman)?d|sendemail\..+cmd|submodule\..+\.update|remote\..+\.(?:uploadpack|receivepack|vcs))$/i

/** Whether a setting of git names a program, or where credentials and other settings come from. */
export function namesProgram(key: string): boolean {
  return RUNS.test(key)
}

function setsProgram(rest: Invocation['args']): boolean {
  const { operands, long } = readOptions(rest, ['-f', '--file', '--type', '--default'])
  if (long.some((option) => /^(?:get|list|unset|remove-section|show)/.test(option))) return false
  const words = ['set', 'add'].includes(operands[0] ?? '') ? operands.slice(1) : operands
  return words.length > 1 && RUNS.test(words[0]!)
}

/** Git commands that lose work or rewrite what others have. */
export const GIT_RULES: readonly CommandRule[] = Object.freeze([
  {
    rule: 'git-destructive',
    reason: 'discards work or rewrites history',
    programs: ['git'],
    matches: ({ args }: Invocation) => {
      const { verb, rest } = gitCommand(args)
      const isOpen = ['push', 'reset', 'clean', 'branch', 'checkout'].includes(verb)
      // The name says what the value will be: options.
      return destroys(verb, rest) || (isOpen && rest.some(({ text, splits }) => splits && OPTIONS.test(text)))
    },
  },
  {
    rule: 'git-internals',
    reason: 'changes what git runs',
    programs: ['git'],
    matches: ({ args }: Invocation) => {
      const { verb, rest } = gitCommand(args)
      return verb === 'config' && setsProgram(rest)
    },
  },
  {
    rule: 'git-internals',
    reason: 'has git run by itself from now on',
    programs: ['git'],
    matches: ({ args }: Invocation) => {
      const { verb, rest } = gitCommand(args)
      return verb === 'maintenance' && /^(?:start|register)$/.test(texts(rest)[0] ?? '')
    },
  },
  {
    rule: 'push-elsewhere',
    reason: 'sends the work to an address that is no remote of the project',
    programs: ['git'],
    matches: ({ args }: Invocation) => {
      const { verb, rest } = gitCommand(args)
      const front = texts(args.slice(0, args.length - rest.length))
      const isPush = verb === 'push' || (verb === 'subtree' && rest[0]?.text === 'push') || verb === 'send-pack'
      if (!isPush) return false
      const where = readOptions(rest, ['-o', '--push-option', '-P', '--prefix']).operands
      return (
        where.some((word) => ADDRESS.test(word)) || front.some((word) => /^remote\.[^=]+\.(?:push)?url=/i.test(word))
      )
    },
  },
])

/** `https://…`, `host:path`: not the name of a remote, nor a ref and what it becomes. */
const ADDRESS = /^(?:[a-z][a-z+]*:\/\/|[\w.-]+@[\w.-]+:)/i
