import { isWithin } from '../path/check-path.js'
import { type CommandContext, resolveShellPath } from './context.js'
import { hasOption, type Invocation, readOptions, texts } from './invocation.js'

const TEMPORARY = Object.freeze(['/tmp', '/var/tmp', '/private/tmp', '/dev'])

/** Whether a path, as written, is in none of `folders` and not in a temporary one. */
export function isBeyond(path: string, folders: readonly string[], context: CommandContext): boolean {
  const resolved = resolveShellPath(path, context)
  const roots = folders.map((folder) => resolveShellPath(folder, context))
  return ![...roots, ...TEMPORARY].some((root) => isWithin(resolved, root))
}

/** Paths that the invocation creates, replaces, appends to or removes by name, as written. */
export function writeTargets(invocation: Invocation): readonly string[] {
  const redirected = invocation.redirects
    .filter(({ operator, target }) => operator.includes('>') && !/^(?:\d+-?|-)$/.test(target.text))
    .map(({ target }) => target.text)
  return [...redirected, ...byProgram(invocation)]
}

function byProgram({ name, args }: Invocation): readonly string[] {
  const words = texts(args)
  const options = readOptions(args, ['-t', '--target-directory', '-S', '-m', '-o', '-g', '-s', '-r'])
  const { operands } = options
  switch (name) {
    case 'ed':
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
      return operands
    case 'cp':
    case 'install':
    case 'ln':
    case 'rsync':
    case 'scp':
      return intoFolder(operands, words)
    case 'dd':
      return words.filter((word) => word.startsWith('of=')).map((word) => word.slice(3))
    case 'sed':
    case 'gsed':
      return hasOption(options, 'i', 'in-place') ? operands.slice(1) : []
    case 'perl':
    case 'ruby':
      return /^[^e]*i/.test(options.letters) ? operands : []
    case 'curl':
      return valueAfter(words, ['-o', '--output'])
    case 'wget':
      return valueAfter(words, ['-O', '--output-document'])
    case 'sort':
      return valueAfter(words, ['-o', '--output'])
    case 'find':
      return words.filter((_, at) => /^-(?:fprint[f0]?|fls)$/.test(words[at - 1] ?? ''))
    case 'tar':
    case 'bsdtar':
      return isExtracting(words) ? valueAfter(words, ['-C', '--directory']) : []
    case 'unzip':
      return valueAfter(words, ['-d'])
    case 'awk':
    case 'gawk':
      return valueAfter(words, ['-i', '--include']).includes('inplace') ? operands.slice(1) : []
    default:
      return []
  }
}

function isExtracting(words: readonly string[]): boolean {
  return words.some((word) => /^--(?:extract|get)$|^-[a-zA-Z]*x/.test(word)) || /^[a-zA-Z]*x/.test(words[0] ?? '')
}

/** The last operand, and what the sources would be called inside it. */
function intoFolder(operands: readonly string[], words: readonly string[]): readonly string[] {
  const named = words.find((word) => word.startsWith('--target-directory='))?.slice('--target-directory='.length)
  const folder = named ?? valueAfter(words, ['-t', '--target-directory'])[0] ?? operands.at(-1)
  if (folder === undefined) return []
  return [folder, ...operands.slice(0, -1).map((source) => `${folder}/${source.slice(source.lastIndexOf('/') + 1)}`)]
}

function valueAfter(words: readonly string[], names: readonly string[]): readonly string[] {
  return words.filter((_, index) => names.includes(words[index - 1] ?? ''))
}
