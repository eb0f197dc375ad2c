import { isWithin } from '../path/check-path.js'
import type { Word } from '../shell/script.js'
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
  return [...redirected, ...byProgram(invocation), ...byXargs(invocation), ...namedTargets(invocation)]
}

const PROBE: Word = Object.freeze({ text: '\0', mask: 'u', dynamic: false, splits: false, scripts: [] })

/** Of a program that writes what `xargs` adds to its words: the places that the programs before name. */
function byXargs(invocation: Invocation): readonly string[] {
  if (invocation.via !== 'xargs') return []
  if (!byProgram({ ...invocation, args: [...invocation.args, PROBE] }).includes(PROBE.text)) return []
  return invocation.input.from.flatMap(({ args }) => texts(args).filter((word) => /^(?:[/~]|\.\.(?:\/|$))/.test(word)))
}

function byProgram({ name, args, input, redirects }: Invocation): readonly string[] {
  const words = texts(args)
  const options = readOptions(args, Object.hasOwn(PROGRAMS.writers, name) ? PROGRAMS.writers[name] : [])
  const { operands } = options
  switch (name) {
    case 'ed':
      return [...operands, ...filesOfEditor([input.text ?? ''])]
    case 'patch':
      return [...orHere(optionValues(words, 'd', '--directory')), ...operands]
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
      const written = words.flatMap((word) => [...word.matchAll(/%output\{>*([^}]+)\}/g)].map(([, file = '']) => file))
      return [...files, ...written, ...inFolders(optionValues(words, null, '--output-dir'), files)]
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
    case 'psql':
      return optionValues(words, 'L', '--log-file')
    case 'docker':
    case 'podman':
    case 'nerdctl':
    case 'buildah':
      return ['--cidfile', '--iidfile', '--metadata-file', '--pidfile', '--conmon-pidfile'].flatMap((option) =>
        optionValues(words, null, option),
      )
    case 'mysql':
    case 'mariadb':
      return optionValues(words, null, '--tee')
    case 'script':
      return [
        ...readOptions(args, ['-c', '--command', '-E', '--echo', '-m', '-o', '--output-limit']).operands,
        ...valueAfter(words, ['-O', '-I', '-B', '-T', '--log-out', '--log-in', '--log-io', '--log-timing']),
      ]
    case 'tmux': {
      const at = words.findIndex((word) => /^save-?b(?:uffer)?$/.test(word))
      return at === -1 ? [] : words.slice(at + 1).filter((word) => /^[/~.]/.test(word))
    }
    case 'ssh':
      return writtenBySsh(words)
    case 'ssh-keygen':
      return words.some((word) => /^-[a-zA-Z]*[lyeFRBLD]/.test(word)) ? [] : optionValues(words, 'f', null)
    case 'openssl':
      return valueAfter(words, ['-out', '-keyout', '-writerand', '-CAserial'])
    case 'uniq':
    case 'xxd':
      return operands.slice(1)
    case 'git':
      return optionValues(words, null, '--output')
    case 'find':
      return words.filter((_, at) => /^-(?:fprint[f0]?|fls)$/.test(words[at - 1] ?? ''))
    case 'tar':
    case 'bsdtar':
      return isExtracting(words)
        ? [
            ...orHere(optionValues(words, 'C', '--directory')),
            ...anywhere(words, /^-?\w*P|^--absolute-(?:names|paths)$/),
          ]
        : optionValues(words, 'g', '--listed-incremental')
    case 'cpio':
    case 'bsdcpio':
      // It takes names from the root as they are, unless it is told not to.
      if (!words.some((word) => /^-[a-zA-Z]*i|^--extract$/.test(word))) return []
      return words.some((word) => /^-[a-zA-Z]*t|^--(?:list|no-absolute-filenames|to-stdout)$/.test(word)) ? [] : ['/']
    case 'pax':
      return words.some((word) => /^-[a-z]*r/.test(word)) && !words.some((word) => /^-[a-z]*w/.test(word)) ? ['/'] : []
    case '7z':
    case '7za':
    case '7zr':
      return /^[xe]$/.test(operands[0] ?? '') ? anywhere(words, /^-spf/) : []
    case 'jar': {
      const [letters = '', ...rest] = words
      if (/^-?\w*[cu]\w*f/.test(letters) || /^-?\w*f\w*[cu]/.test(letters)) return rest.slice(0, 1)
      return /^-?\w*x/.test(letters) ? anywhere([letters], /P/) : []
    }
    case 'uudecode':
      return words.some((word) => /^-o/.test(word)) ? optionValues(words, 'o', null) : ['/']
    case 'history':
      return words.filter((_, at) => /^-[awn]$/.test(words[at - 1] ?? ''))
    case 'http':
    case 'https':
    case 'xh':
      return [...optionValues(words, 'o', '--output'), ...optionValues(words, null, '--session')]
    case 'info':
      return optionValues(words, 'o', '--output')
    case 'sqlite3':
      return changesTables([...words.slice(1), input.text ?? ''], input) ||
        redirects.some(({ operator }) => operator === '<')
        ? operands.slice(0, 1)
        : []
    case 'unzip':
      if (words.some((word) => /^-[a-zA-Z]*[lptvzZ]/.test(word))) return []
      return [...orHere(optionValues(words, 'd', null)), ...anywhere(words, /^-\w*:/)]
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
    case 'view':
    case 'emacs':
      return [...filesOfEditor([...words, input.text ?? '']), ...openedByScript(name, words, input)]
    default:
      return []
  }
}

const orHere = (folders: readonly string[]): readonly string[] => (folders.length > 0 ? folders : ['.'])

/** Where ssh itself, not what it runs there, puts what it logs and learns. */
function writtenBySsh(words: readonly string[]): readonly string[] {
  let host = 0
  while (words[host]?.startsWith('-')) host += /^-[BbcDEeFIiJLlmOopQRSWw]$/.test(words[host]!) ? 2 : 1
  const own = words.slice(0, host)
  const files = own.flatMap((word) => /^(?:-o)?UserKnownHostsFile[\s=]+(.+)$/i.exec(word)?.[1] ?? [])
  return [...valueAfter(own, ['-E']), ...files.filter((file) => !/^(?:\/dev\/null|none)$/.test(file))]
}

/** The command `w` of sed, and the flag `w` of its `s`, write to the rest of their line. */
function filesOfSed(script: string): readonly string[] {
  const files = /(?:^|[;\n{}\d$/|#,!gpI])\s*[wW]\s+([^\n;}]+)|(?:^|[;\n{}])\s*(?:\d+|\$)?\s*[wW](\/[^\n;}]+)/g
  return [...script.matchAll(files)].map(([, file, close = '']) => (file ?? close).trim())
}

const filesOfAwk = (program: string): readonly string[] =>
  [...program.matchAll(/(?:>>?|\|&?\s*"(?:tee|cat\s*>)\s*)\s*"([^"]+)"/g)].map(([, file = '']) => file)

/** What editors are told to write, line by line. */
function filesOfEditor(input: readonly string[]): readonly string[] {
  const lines = input.flatMap((text) => text.slice(0, MAX_CHARS).split(/[\n|]/))
  return lines.flatMap(
    (line) => /^\s*\+?:?[%\d,$.]*(?:w|W|wq|sav|saveas|write)!?(?:\s*>>\s*|\s+)([^\s!]\S*)/.exec(line)?.[1] ?? [],
  )
}

const MAX_CHARS = 20_000

/** Options of editors whose next word is what they do, by themselves and before anybody types. */
const EDITS = /^(?:-c|--cmd|-S|-s|-u|-W|-l|--load|--eval|--execute|-eval|-f|--funcall)$/
const BY_SCRIPT = /^(?:\+.+|-[a-zA-Z]*[eEs]|-c|-S|-l|--cmd|--headless|-?-batch|-?-script)$/

/** The files that an editor is told to open, where it does something to them that nobody types. */
function openedByScript(name: string, words: readonly string[], input: Invocation['input']): readonly string[] {
  const isScript = name === 'ex' || input.text !== null || input.from.length > 0
  if (!isScript && !words.some((word) => BY_SCRIPT.test(word))) return []
  // Behind `ex`, and behind `-e`, `-s` is a switch.
  const isEx = name === 'ex' || words.some((word) => /^-[a-zA-Z]*[eE]/.test(word))
  const isValue = (before: string) => EDITS.test(before) && !(isEx && before === '-s')
  const files = words.filter((word, at) => !/^[-+]/.test(word) && !isValue(words[at - 1] ?? ''))
  const named = words.flatMap((word) =>
    [
      ...word
        .slice(0, MAX_CHARS)
        .matchAll(
          /\b(?:redir|writefile|delete|rename|mkdir|mksession|e|edit|sp|split|vs|vsplit|tabe|tabedit|tabnew|open|args?|n|next)\b[^~/]{0,80}([~/][^\s"'|,)]*)/g,
        ),
    ].map(([, path = '']) => path),
  )
  return [...files, ...named]
}

/** What an archive holds may lie anywhere. */
const anywhere = (words: readonly string[], option: RegExp): readonly string[] =>
  words.some((word) => option.test(word)) ? ['/'] : []

const CHANGES_TABLES =
  /\b(?:insert|update|delete|replace|drop|alter|create|vacuum|reindex)\b|\bpragma\s+\w+\s*=|^\s*\.(?:import|restore|read|load|clone)\b/im

/** Whether SQL, as far as it is known, changes what a database holds. */
const changesTables = (sql: readonly string[], { from, text }: Invocation['input']): boolean =>
  (text === null && from.length > 0) || sql.some((one) => CHANGES_TABLES.test(one.slice(0, MAX_CHARS)))

/** Where a program of awk writes to what a variable or an operand says, each path among those. */
function handedToAwk(words: readonly string[]): readonly string[] {
  const programs = words.filter((word) => /\bprintf?\b[^;}\n]*>\s*[A-Za-z_(]/.test(word))
  if (programs.length === 0) return []
  const texted = programs.flatMap((word) => [...word.matchAll(/"([~/][^"\s]*)"/g)].map(([, text = '']) => text))
  const isOfHome = programs.some((word) => word.includes('ENVIRON'))
  const values = [
    ...words.flatMap((word) => [/^(?:-v)?\w+=(.*)$/s.exec(word)?.[1] ?? [], word].flat()),
    ...texted.flatMap((text) => (isOfHome && text.startsWith('/') ? [text, `~${text}`] : [text])),
  ]
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
  const logs = [...optionValues(words, 'o', '--output-file'), ...optionValues(words, 'a', '--append-output')]
  const named = optionValues(words, 'O', '--output-document')
  if (named.length > 0) return [...named, ...logs]
  const folders = optionValues(words, 'P', '--directory-prefix')
  return [...logs, ...(folders.length === 0 ? fetchedNames(words) : inFolders(folders, fetchedNames(words)))]
}
