import type { Action } from '@hermes/contracts/policy'
import type { Redirect, Word } from '../shell/script.js'
import { collectInvocations, MAX_COMMAND_CHARS } from './collect.js'
import { calculates, isIdle, mayAssign } from './harmless.js'
import type { Invocation } from './invocation.js'
import { texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'
import { gitCommand } from './rules-git.js'
import { writeTargets } from './write-targets.js'

const ADDRESS = String.raw`(?:\d+|\$|/[^/\\\n]*/I?)`
/** Printing, deleting from the output, quitting, line numbers; with an address of one or two lines. Without blanks. */
const PLAIN = new RegExp(`^(?:${ADDRESS}(?:,\\+?${ADDRESS})?)?!?[pdqPDN=lG]?$`)
/** A replacement whose flags neither write nor run. */
const REPLACEMENT = /^s([/|#,!@:])((?:(?!\1)[^\\\n]|\\[^\n])*)\1((?:(?!\1)[^\\\n]|\\[^\n])*)\1[gpIim\d]*$/

/** Whether `sed` with these arguments only prints: every command of its script is known to, and nothing is edited in place. */
function looksWithSed(args: readonly Word[]): boolean {
  const scripts: Word[] = []
  let hasScript = false
  for (let at = 0; at < args.length; at++) {
    const { text } = args[at]!
    if (/^-[nErsuz]*e$/.test(text) || text === '--expression') {
      scripts.push(...args.slice(++at, at + 1))
      hasScript = true
    } else if (/^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|debug|posix))$/.test(text)) continue
    else if (text.startsWith('-') && text !== '-') return false
    else if (!hasScript) {
      scripts.push(args[at]!)
      hasScript = true
    }
  }
  return scripts.length > 0 && scripts.every(({ text, dynamic }) => !dynamic && isHarmlessScript(text))
}

function isHarmlessScript(script: string): boolean {
  if (REPLACEMENT.test(script.trim())) return true
  return script
    .split(/[;\n]/)
    .every((command) => PLAIN.test(command.replace(/\s+/g, '')) || REPLACEMENT.test(command.trim()))
}

/** What a program does with its arguments: it looks whatever they are, or unless `refuse` matches one, or if `looks` says so. */
type Entry =
  | { readonly type: 'always' }
  | { readonly type: 'unless'; readonly refuse: RegExp; readonly maxOperands?: number }
  | { readonly type: 'if'; readonly looks: (args: readonly Word[]) => boolean }

const always: Entry = { type: 'always' }
const unless = (refuse: RegExp, maxOperands?: number): Entry => ({
  type: 'unless',
  refuse,
  ...(maxOperands === undefined ? {} : { maxOperands }),
})

/** The commands known only to look. What is not here may change something. */
const TABLE: ReadonlyMap<string, Entry> = new Map<string, Entry>([
  ...PROGRAMS.onlyLook.map((name) => [name, always] as const),
  ...PROGRAMS.showVersion.map((name) => [name, { type: 'if', looks: asksVersion }] as const),
  ['rg', unless(/^--(?:pre|hostname-bin)(?:=|$)/)],
  ['find', unless(/^-(?:delete|fprint[f0]?|fls)$/)],
  ['fd', unless(/^(?:-[a-zA-Z]*[xX]|--exec)/)],
  ['sort', unless(/^(?:-[a-zA-Z]*[oT]|--[otc])/)],
  ['uniq', unless(/$^/, 1)],
  ['tree', unless(/^(?:-[a-zA-Z]*[oR]|--output)/)],
  ['date', unless(/^(?:-[a-zA-Z]*s|--s|[^-+])/)],
  ['hostname', unless(/^(?:[^-]|-[bF])/)],
  ['file', unless(/^(?:-[a-zA-Z]*[Cmz]|--)/)],
  ['xxd', unless(/^-[a-z]*r/, 1)],
  ['awk', { type: 'if', looks: looksWithAwk }],
  ['gawk', { type: 'if', looks: looksWithAwk }],
  ['mawk', { type: 'if', looks: looksWithAwk }],
  ['sed', { type: 'if', looks: looksWithSed }],
  ['git', { type: 'if', looks: looksWithGit }],
])

/** Programs that only run another one and change nothing about what it does. */
const TRANSPARENT = /^(?:time|timeout|gtimeout|nice|ionice|stdbuf|command|builtin|env|xargs)(?: |$)/
/** Variables that change nothing but what output looks like. */
const OF_LOOKS = /^(?:LC_\w+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|COLUMNS|LINES|[a-z_][a-z0-9_]*)$/
/** Variables that say which programs run, or what they run. */
const STEERS =
  /(?<![\w-])(?:PATH|IFS|ENV|BASH_ENV|PAGER|LESSOPEN|RIPGREP_CONFIG_PATH|AWK(?:LIB)?PATH|(?:LD|DYLD|GIT)_\w+)[:+]?=/
/** Where programs of the system lie; a program of another folder is not known by its name. */
const SYSTEM_PATH = /^\/(?:usr\/)?(?:local\/)?bin\/[^/]+$/

/**
 * Whether everything that a command line runs is known only to look: no file changes, no program starts that is not known, nothing is sent.
 * Whatever is not known, cannot be followed or is put together while it runs counts as more. git runs what the repository's own settings
 * name, as it does for every command. Says nothing about whether the command may run. Never throws.
 */
export function onlyLooks(command: string): boolean {
  if (command.length > MAX_COMMAND_CHARS) return false
  // Wherever it stands, since wrappers may hide whose it is.
  if (STEERS.test(command.replace(/['"\\]/g, ''))) return false
  const { invocations, forkBombs, complete } = collectInvocations(command, {})
  return complete && forkBombs.length === 0 && invocations.every(looks)
}

/** Whether an action may change files: a write, a program that is given as such, and a command line that is not known only to look. */
export function mayChangeFiles(action: Action): boolean {
  if (action.type === 'spawn') return action.argv !== undefined || !onlyLooks(action.command)
  return action.type === 'write' && action.operation !== 'mkdir'
}

const KEPT_BY_SHELL: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd', 'set', 'read', 'exit', 'return', ''])

/**
 * Whether a command line only looks and leaves directory and variables of its shell as they were, so that a copy of them serves it as
 * well and other such commands may run at the same time.
 */
export function looksAlone(command: string): boolean {
  if (!onlyLooks(command)) return false
  const { invocations } = collectInvocations(command, {})
  return invocations.length > 0 && !invocations.some(({ name }) => KEPT_BY_SHELL.has(name))
}

function looks(invocation: Invocation): boolean {
  const { name, program, args, via, elevated, layers } = invocation
  if (elevated || program.dynamic || invocation.redirects.some(opensUnknown)) return false
  if (!writeTargets(invocation).every((path) => /^\/dev\/(?:null|stdout|stderr)$/.test(path))) return false
  if (!layers.every((layer) => TRANSPARENT.test(layer) || layer.startsWith('git '))) return false
  if (calculates(invocation) || args.some(mayAssign)) return false
  if (!assignments(invocation.written).every((variable) => OF_LOOKS.test(variable))) return false
  // A statement that only sets variables, or only redirects.
  if (name === '') return args.length === 0
  if (program.text.includes('/') && !SYSTEM_PATH.test(program.text)) return false
  if (isIdle(invocation)) return true
  if (PROGRAMS.shells.includes(name)) return isKnownScript(args)
  const entry = TABLE.get(name)
  if (entry === undefined) return false
  if (entry.type === 'always') return true
  // What is not known yet may be an option, and so may the name of a file.
  if (via === 'xargs' || args.some(mayBeOption)) return false
  if (entry.type === 'if') return entry.looks(args)
  const words = texts(args)
  const operands = words.filter((word) => !word.startsWith('-') || word === '-')
  return !words.some((word) => entry.refuse.test(word)) && operands.length <= (entry.maxOperands ?? Infinity)
}

const opensUnknown = ({ operator, target }: Redirect): boolean => operator.includes('>') && target.dynamic

/** Its script was collected; it holds nothing that comes from elsewhere. */
const isKnownScript = (args: readonly Word[]): boolean =>
  args.length === 2 && /^-l?c$/.test(args[0]!.text) && !args[1]!.dynamic

/** Names that are set in front of a command, as far as values without blanks go. */
function assignments(written: string): readonly string[] {
  const words = written.split(' ')
  const end = words.findIndex((word) => !/^\w+\+?=/.test(word))
  return words.slice(0, end < 0 ? words.length : end).map((word) => word.replace(/\+?=.*$/s, ''))
}

/** Whether a word becomes an option, or several words, only when it is read: an expansion, or a pattern that a file name may match. */
function mayBeOption({ text, mask, dynamic, splits }: Word): boolean {
  if (dynamic && (splits || mask.startsWith('d'))) return true
  return /^[*?[]/.test(text) && mask.startsWith('u')
}

function asksVersion(args: readonly Word[]): boolean {
  return args.length === 1 && /^(?:--version|-[vV]|version)$/.test(args[0]!.text)
}

/** A program that is all there, writes nowhere, starts nothing and reads no program from elsewhere. */
function looksWithAwk(args: readonly Word[]): boolean {
  let at = 0
  for (; args[at]?.text.startsWith('-'); at++) {
    const { text } = args[at]!
    if (!/^-[Fv]/.test(text)) return false
    if (text.length === 2) at++
  }
  const program = args[at]
  return program !== undefined && !program.dynamic && !/[>|@]|system|getline|\\\n/.test(program.text)
}

/** Options that write, or start a program; git takes the beginnings of long ones too. */
const GIT_DOES = /^(?:-[a-zA-Z]*O|--ou|--op|--ext?(?!clude|it)|--textc|--filters|--show-s)/
const GIT_GLOBAL = /^(?:-C|--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/
const GIT_SETTING = /^(?:core\.fsmonitor=false|core\.pager=cat|core\.quote[pP]ath=\w+|color\.\w+=\w+)$/

function looksWithGit(args: readonly Word[]): boolean {
  const { verb, rest } = gitCommand(args)
  const front = texts(args.slice(0, args.length - rest.length - 1))
  const isPlain = front.every((word, at) => {
    const before = front[at - 1]
    return GIT_GLOBAL.test(word) || word === '-c' || before === '-C' || (before === '-c' && GIT_SETTING.test(word))
  })
  const words = texts(rest)
  if (!isPlain || words.some((word) => GIT_DOES.test(word))) return false
  if (PROGRAMS.lookingGit.has(verb)) return true
  const [first = ''] = words
  switch (verb) {
    case 'branch':
      return words.every((word) =>
        /^(?:-[avr]+|-vv|--show-current|--list|--all|--remotes|--verbose|--no-color)$/.test(word),
      )
    case 'tag':
      return words.length === 0 || /^(?:-l|--list)$/.test(first)
    case 'remote':
      return words.length === 0 || first === 'get-url' || (words.length === 1 && /^(?:-v|--verbose)$/.test(first))
    case 'stash':
    case 'worktree':
      return first === 'list'
    case 'config':
      return /^(?:--get|--get-all|--list|-l)$/.test(first)
    case 'reflog':
      return words.length === 0 || first === 'show' || /^-/.test(first)
    default:
      return false
  }
}
