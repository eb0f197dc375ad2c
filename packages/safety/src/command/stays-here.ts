import { posix } from 'node:path'
import { collectInvocations } from './collect.js'
import { type CommandContext, resolveShellPath } from './context.js'
import { isIdle } from './harmless.js'
import { type Invocation, texts } from './invocation.js'
import { isActivation } from './kept-variables.js'
import { formOf } from './needs-network.js'
import { PROGRAMS } from './program-tables.js'
import { readsSecret } from './reads-secrets.js'
import { gitCommand } from './rules-git.js'
import { runsShell } from './sed-script.js'

/** Where what a command line prints may come from, by its form alone. */
interface OutputSources {
  /** Every program is known to keep to this machine: builds and tests of the project, and what looks at and moves files. */
  readonly staysHere: boolean
  /** Absolute paths that it names beyond the folder it is run in. */
  readonly beyond: readonly string[]
  /** Absolute paths of files that it may name in the folder it is run in: links there may lead anywhere. */
  readonly within: readonly string[]
  /** A program reads a file of keys. */
  readonly readsKeys: boolean
  /** A program may be given files whose names are known only when it runs. */
  readonly readsUnknown: boolean
}

const MOST_PATHS = 20

/** Looks at a command line; what is not known, or cannot be followed, does not keep to this machine. Never throws. */
export function outputSources(command: string, context: CommandContext & { readonly cwd: string }): OutputSources {
  const { invocations, complete, isTooLong } = collectInvocations(command, context)
  const staysHere = complete && invocations.every(keepsToMachine)
  const paths = invocations.flatMap((invocation) => pathsOf(invocation, context))
  const isHere = (path: string) => path === context.cwd || path.startsWith(`${context.cwd.replace(/\/$/, '')}/`)
  const beyond = [...new Set(paths)].filter((path) => !isHere(path) && !path.startsWith('/dev/'))
  const within = [...new Set(invocations.flatMap((invocation) => operandsOf(invocation, context)))].filter(isHere)
  return {
    staysHere,
    beyond: beyond.slice(0, MOST_PATHS),
    within: within.slice(0, MOST_PATHS),
    readsKeys: invocations.some(readsSecret),
    readsUnknown: isTooLong || invocations.some(readsUnknown),
  }
}

/** Programs that name files of the folder they are given, and nothing that stands in one of them. */
const NAMES_HERE = /^(?:git|find|fd|ls|pwd|rg|basename|dirname|date|nproc|seq|mktemp|which|wc|hostname|uname)$/

/** Whether words that become names of files come out of a variable or out of another file. */
function readsUnknown(invocation: Invocation): boolean {
  const { name, args, redirects, via, inner, input } = invocation
  if (name === '' || name === 'git' || PROGRAMS.sayNames.has(name) || SETS_NAMES.test(name)) return false
  const isListed = (from: readonly Invocation[]) => NAMES_HERE.test(from[0]?.name ?? '')
  if (via === 'xargs') return !isListed(input.from)
  const targets = redirects.filter(({ operator }) => operator === '<').map(({ target }) => target)
  const unknown = [...args, ...targets].filter(({ dynamic }) => dynamic)
  // In a loop over what a program lists, variables are its words.
  return unknown.some((word) => !isListed(word.scripts.length > 0 ? inner : input.from))
}

/** Builtins that do not open what they are given. */
const SETS_NAMES =
  /^(?:read|export|declare|local|test|\[|\[\[|exit|return|kill|sleep|cd|true|false|:|mkdir|touch|rm|unset|set|shift|wait)$/

/** What a program is given that may be a file. */
function operandsOf({ name, args, redirects, context: at }: Invocation, context: CommandContext): readonly string[] {
  if (name === 'git' || PROGRAMS.sayNames.has(name) || SETS_NAMES.test(name)) return []
  const inputs = redirects.filter(({ operator }) => operator === '<').map(({ target }) => target)
  const words = [...args, ...inputs].filter(({ text, dynamic }) => !dynamic && text !== '' && !text.startsWith('-'))
  const full = (path: string) => path.replace(/^~(?=\/|$)/, context.userHome ?? '~')
  return words.map(({ text }) => full(resolveShellPath(text, { ...context, ...at })))
}

/** A shell's way to a connection. */
const SOCKET = /\/(?:dev\/(?:tcp|udp)|inet[46]?)\//
/** Where programs of the system and those that a project installed for itself lie. */
const KNOWN_PATH =
  /^(?:\/(?:usr\/)?(?:local\/)?bin\/[^/]+|(?:\.\/)?node_modules\/\.bin\/[^/]+|\.?\/?(?:\.venv|venv)\/bin\/[^/]+)$/
/** What has awk start a program, or may. */
const AWK_STARTS = /\bsystem\s*\(|\bgetline\b|\|&?\s*"/

function keepsToMachine(invocation: Invocation): boolean {
  const { name, program, args, redirects, elevated } = invocation
  if (elevated || program.dynamic) return false
  const words = texts(args)
  if ([...words, ...redirects.map(({ target }) => target.text)].some((word) => SOCKET.test(word))) return false
  if (name === '' || isIdle(invocation)) return true
  if (program.text.includes('/') && !KNOWN_PATH.test(program.text)) return false
  if (name === 'git') {
    const { verb } = gitCommand(args)
    return PROGRAMS.localGit.has(verb) || PROGRAMS.lookingGit.has(verb)
  }
  if (name === 'source' || name === '.') return isActivation(invocation)
  if (/^[gmn]?awk$/.test(name)) return !words.some((word) => word === '-f' || AWK_STARTS.test(word))
  if (name === 'sed') return !runsShell(args)
  if (/^python[\d.]*$/.test(name) && words[0] === '-m')
    return words[1] !== 'pip' && PROGRAMS.plainModules.has(words[1]!)
  if (words.length === 1 && /^(?:--version|-[vV]|version)$/.test(words[0]!)) return true
  return PROGRAMS.keepToMachine.has(name) || PROGRAMS.keepToMachine.has(formOf(invocation))
}

/** The paths that its words name, and the folder that it is in by then. */
function pathsOf({ args, redirects, context: at, name }: Invocation, context: CommandContext): readonly string[] {
  const isGit = name === 'git'
  if (PROGRAMS.sayNames.has(name) && !isGit) return []
  const place = { ...context, ...at }
  const words = [
    ...(isGit ? otherTrees(texts(args)) : texts(args)),
    ...redirects.filter(({ operator }) => operator === '<').map(({ target }) => target.text),
  ]
  const named = words
    .map((word) => word.replace(/^--?[\w-]+=/, ''))
    .filter((word) => /^[~/.]|\//.test(word) && !/^[a-z][\w+.-]*:\/\//i.test(word))
  const full = (path: string) => path.replace(/^~(?=\/|$)/, context.userHome ?? '~')
  return [...named, '.'].map((word) => full(resolveShellPath(word, place))).filter((path) => posix.isAbsolute(path))
}

/** Where git is told to look: another repository than this one has words of other people. */
function otherTrees(words: readonly string[]): readonly string[] {
  const named = words.filter((_, at) => /^(?:-C|--git-dir|--work-tree)$/.test(words[at - 1] ?? ''))
  return [...named, ...words.filter((word) => /^--(?:git-dir|work-tree)=/.test(word) || words.includes('--no-index'))]
}
