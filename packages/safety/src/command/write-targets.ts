import { isWithin } from '../path/check-path.js'
import { type CommandContext, resolveShellPath } from './context.js'
import { hasOption, type Invocation, readOptions, texts } from './invocation.js'
import { namedTargets } from './named-targets.js'
import { PROGRAMS } from './program-tables.js'

const TEMPORARY = Object.freeze(['/tmp', '/var/tmp', '/private/tmp', '/dev'])

/** Whether a path, as written, is in none of `folders` and not in a temporary one. */
export function isBeyond(path: string, folders: readonly string[], context: CommandContext): boolean {
  const resolved = resolveShellPath(path, context)
  const roots = folders.map((folder) => resolveShellPath(folder, context))
  return ![...roots, ...TEMPORARY].some((root) => isWithin(resolved, root))
}

/**
 * Those of `paths` that are in none of the folders of the session, nor in a temporary one, resolved; what is not known beforehand is not
 * among them.
 */
export function outsideWorkspace(paths: readonly string[], context: CommandContext): readonly string[] {
  const { workspace = [] } = context
  if (workspace.length === 0) return []
  return paths.flatMap((path) => {
    const resolved = resolveShellPath(path, context)
    return path !== '' && /^[/~]/.test(resolved) && isBeyond(path, workspace, context) ? [resolved] : []
  })
}

/** Paths that the invocation creates, replaces, appends to or removes by name, as written. */
export function writeTargets(invocation: Invocation): readonly string[] {
  const redirected = invocation.redirects
    .filter(({ operator, target }) => operator.includes('>') && !/^(?:\d+-?|-)$/.test(target.text))
    .map(({ target }) => target.text)
  return [...redirected, ...byProgram(invocation), ...namedTargets(invocation)]
}

function byProgram({ name, args, input }: Invocation): readonly string[] {
  const words = texts(args)
  const options = readOptions(args, Object.hasOwn(PROGRAMS.writers, name) ? PROGRAMS.writers[name] : [])
  const { operands } = options
  switch (name) {
    case 'ed':
      return [...operands, ...filesOfEditor([input.text ?? ''])]
    case 'patch':
    case 'tee':
    case 'truncate':
    case 'shred':
    case 'touch':
    case 'chattr':
      return operands
    case 'rm':
    case 'unlink':
    case 'rmdir':
      return operands
    case 'mv':
    case 'cp':
    case 'install':
    case 'ln': {
      const folder = optionValues(words, 't', '--target-directory')[0]
      const made = folder === undefined ? intoFolder(operands) : intoFolder([...operands, folder])
      return name === 'mv' ? [...operands, ...made] : made
    }
    case 'rsync':
    case 'scp':
      return intoFolder(operands)
    case 'dd':
      return words.filter((word) => word.startsWith('of=')).map((word) => word.slice(3))
    case 'sed':
    case 'gsed':
      return [...(hasOption(options, 'i', 'in-place') ? operands.slice(1) : []), ...words.flatMap(filesOfSed)]
    case 'perl':
    case 'ruby':
      return /^[^e]*i/.test(options.letters) ? operands : []
    case 'curl': {
      const isNamedAlike = words.some((word) => /^-[a-zA-Z]*O|^--remote-name/.test(word))
      const files = [...optionValues(words, 'o', '--output'), ...(isNamedAlike ? fetchedNames(words) : [])]
      return [...files, ...inFolders(optionValues(words, null, '--output-dir'), files)]
    }
    case 'wget':
      return wgetTargets(words)
    case 'sort':
    case 'iconv':
    case 'pandoc':
    case 'gpg':
    case 'gpg2':
    case 'age':
      return optionValues(words, 'o', '--output')
    case 'ssh-keygen':
      return words.some((word) => /^-[a-zA-Z]*[lyeFRBLD]/.test(word)) ? [] : optionValues(words, 'f', null)
    case 'openssl':
      return valueAfter(words, ['-out'])
    case 'uniq':
    case 'xxd':
      return operands.slice(1)
    case 'git':
      return optionValues(words, null, '--output')
    case 'find':
      return words.filter((_, at) => /^-(?:fprint[f0]?|fls)$/.test(words[at - 1] ?? ''))
    case 'tar':
    case 'bsdtar':
      return isExtracting(words) ? optionValues(words, 'C', '--directory') : []
    case 'unzip':
      return optionValues(words, 'd', null)
    case 'awk':
    case 'gawk':
    case 'mawk':
    case 'nawk': {
      const isInPlace = valueAfter(words, ['-i', '--include']).includes('inplace')
      return [...(isInPlace ? operands.slice(1) : []), ...words.flatMap(filesOfAwk), ...handedToAwk(words)]
    }
    case 'ex':
    case 'vi':
    case 'vim':
    case 'nvim':
      return filesOfEditor([...words, input.text ?? ''])
    default:
      return []
  }
}

/** The command `w` of sed, and the flag `w` of its `s`, write to the rest of their line. */
function filesOfSed(script: string): readonly string[] {
  return [...script.matchAll(/(?:^|[;\n{}\d$/|#,!gpI])\s*[wW]\s+([^\n;}]+)/g)].map(([, file = '']) => file.trim())
}

const filesOfAwk = (program: string): readonly string[] =>
  [...program.matchAll(/(?:>>?|\|&?\s*"(?:tee|cat\s*>)\s*)\s*"([^"]+)"/g)].map(([, file = '']) => file)

/** What editors are told to write, line by line. */
function filesOfEditor(input: readonly string[]): readonly string[] {
  const lines = input.flatMap((text) => text.slice(0, MAX_CHARS).split(/[\n|]/))
  return lines.flatMap(
    (line) => /^\s*\+?:?[%\d,$.]*(?:w|W|wq|sav|saveas|write)!?\s+(?:>>\s*)?([^\s!]\S*)/.exec(line)?.[1] ?? [],
  )
}

const MAX_CHARS = 20_000

/** Where a program of awk writes to what a variable or an operand says, each path among those. */
function handedToAwk(words: readonly string[]): readonly string[] {
  if (!words.some((word) => /\bprintf?\b[^;}\n]*>\s*[A-Za-z_]/.test(word))) return []
  const values = words.flatMap((word) => [/^(?:-v)?\w+=(.*)$/s.exec(word)?.[1] ?? [], word].flat())
  return values.filter((value) => /^[/~]/.test(value) && !/[\s{]/.test(value))
}

function isExtracting(words: readonly string[]): boolean {
  return words.some((word) => /^--(?:extract|get)$|^-[a-zA-Z]*x/.test(word)) || /^[a-zA-Z]*x/.test(words[0] ?? '')
}

/** The last operand, and what the sources would be called inside it. */
function intoFolder(operands: readonly string[]): readonly string[] {
  const folder = operands.at(-1)
  if (folder === undefined) return []
  return [folder, ...operands.slice(0, -1).map((source) => `${folder}/${source.slice(source.lastIndexOf('/') + 1)}`)]
}

function valueAfter(words: readonly string[], names: readonly string[]): readonly string[] {
  return words.filter((_, index) => names.includes(words[index - 1] ?? ''))
}

/** What an option is given: in the next word, behind its letter, which may be the last of several, or behind `=`. */
function optionValues(words: readonly string[], letter: string | null, long: string | null): readonly string[] {
  const short = letter === null ? null : new RegExp(`^-(?:[a-zA-Z](?<!${letter}))*${letter}(.*)$`)
  return words.flatMap((word, at) => {
    if (long !== null && word.startsWith(`${long}=`)) return [word.slice(long.length + 1)]
    const joined = short?.exec(word)?.[1]
    if (joined !== undefined && joined !== '') return [joined]
    return (joined === '' || word === long) && at + 1 < words.length ? [words[at + 1]!] : []
  })
}

/** What the files at the addresses are called. */
const fetchedNames = (words: readonly string[]): readonly string[] =>
  words.flatMap((word) => /^[a-z]+:\/\/[^/?#]+(?:\/[^?#]*)?\/([^/?#]+)/.exec(word)?.[1] ?? [])

/** So many are not told apart any more. */
const MAX_PLACES = 10_000

/** The folders, and files of those names in them. */
function inFolders(folders: readonly string[], files: readonly string[]): readonly string[] {
  if (folders.length * files.length > MAX_PLACES) return folders
  return folders.flatMap((folder) => [folder, ...files.map((file) => `${folder}/${file}`)])
}

function wgetTargets(words: readonly string[]): readonly string[] {
  const named = optionValues(words, 'O', '--output-document')
  if (named.length > 0) return named
  const folders = optionValues(words, 'P', '--directory-prefix')
  return folders.length === 0 ? fetchedNames(words) : inFolders(folders, fetchedNames(words))
}
