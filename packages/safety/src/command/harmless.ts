import type { Word } from '../shell/script.js'
import { classifyCollected } from './classify-command.js'
import type { CommandContext } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'
import { readsSecret } from './reads-secrets.js'
import { isBeyond, writeTargets } from './write-targets.js'

/** Where commands run: `workspace` are the folders that may be read without further thought. */
interface HarmlessContext extends CommandContext {
  readonly workspace: readonly string[]
}

/**
 * The commands of a line that a rule has to speak about: those that only look around in the workspace do not count beside others, nor does
 * what git does there beside another command of git.
 */
export function actingParts(parts: readonly Invocation[], context: HarmlessContext): readonly Invocation[] {
  const others = parts.filter((part) => !isHarmless(part, context) && !isLocalGit(part, context))
  const besideGit = others.some(({ name }) => name === 'git')
  const acting = besideGit ? others : parts.filter((part) => !isHarmless(part, context))
  return acting.length > 0 ? acting : parts
}

/** Whether a command does nothing by itself, nor changes what the programs after it are or find. */
export function isIdle({ name, args }: Invocation): boolean {
  if (!PROGRAMS.idle.has(name) || args.some(mayAssign)) return false
  const words = texts(args)
  if (name === 'printf') return !words[0]?.startsWith('-v')
  return name !== 'set' || words.every((word) => OPTION_OF_SET.test(word))
}

/** Not those that pass variables on, such as `-a` and `-k`. */
const OPTION_OF_SET =
  /^(?:[-+][efuxvCE]*o?|errexit|nounset|pipefail|xtrace|verbose|noglob|noclobber|errtrace|functrace)$/

/** Arithmetic and `${NAME:=…}` set variables. */
export const mayAssign = ({ text, dynamic }: Word): boolean =>
  dynamic && /\(\(|\$\[|\$\{(?:[^}$]|\$(?!\{))*[=@]/.test(text)

function isHarmless(part: Invocation, context: HarmlessContext): boolean {
  if (isIdle(part)) return isPlain(part)
  return PROGRAMS.look.has(part.name) && !calculates(part) && staysInside(part, part.args, context)
}

/** Whether a test reads its words as arithmetic, which sets variables and runs what is in brackets, or as the name of a variable. */
export const calculates = ({ name, args }: Invocation): boolean =>
  /^(?:test|\[\[?)$/.test(name) && texts(args).some((word) => /^-(?:eq|ne|lt|le|gt|ge|v|R)$/.test(word))

function isLocalGit(part: Invocation, context: HarmlessContext): boolean {
  const { name, args } = part
  if (name !== 'git' || !PROGRAMS.localGit.has(args[0]?.text ?? '')) return false
  // A message says nothing but itself.
  const words = args.filter((_, at) => !/^(?:-[a-z]*m|--message)$/.test(args[at - 1]?.text ?? ''))
  return staysInside(part, words, context)
}

function staysInside(part: Invocation, words: Invocation['args'], context: HarmlessContext): boolean {
  if (!isPlain(part) || words.some(({ dynamic }) => dynamic) || readsSecret(part)) return false
  const place = { ...context, ...part.context }
  const inputs = part.redirects.filter(({ operator }) => operator === '<').map(({ target }) => target.text)
  const paths = [...texts(words), ...inputs].flatMap((word) => [word, word.replace(/^(?:--?[\w-]+=|-\w)/, '')])
  if (paths.some((path) => isBeyond(path, context.workspace, place))) return false
  return (
    classifyCollected({
      invocations: [part],
      supposed: [],
      forkBombs: [],
      functions: [],
      complete: true,
      isTooLong: false,
      unfollowed: [],
    }).level === 'safe'
  )
}

/** Neither with more rights, nor with arguments from elsewhere, nor into a file; no wrapper, no variable, no program of a folder. */
function isPlain(part: Invocation): boolean {
  const { name, args, redirects, written, via, elevated } = part
  if (via !== null || elevated || written !== [name, ...texts(args)].join(' ')) return false
  if (redirects.some(({ target, body }) => target.dynamic || /\$[({[]|`/.test(body ?? ''))) return false
  return writeTargets(part).every((path) => path === '/dev/null')
}
