import { matchGlob } from '../glob.js'
import { resolveShellPath } from './context.js'
import { type Invocation, texts } from './invocation.js'
import { PROGRAMS } from './program-tables.js'

/** What the kernel shows of a process: its variables, its memory, and where that lies. */
const VIEWS = Object.freeze(['environ', 'mem', 'maps', 'smaps', 'numa_maps', 'pagemap', 'auxv', 'map_files'])

/** A process as code names it: by itself, by number, or by a placeholder. */
const PROCESS = '(?:self|thread-self|\\d+|[^\\s"\'`]{0,80}[%{$*][^\\s"\'`]{0,80})'
const VIEW = '(?:environ|mem|maps|smaps|auxv)'
/** The end of a text that names `/proc` or a process in it, where the code adds the rest. A relative `../proc` is a folder of the project. */
const ROOT = `(?<![\\w.])/proc(?:/${PROCESS})?/?["'\`]`
/** In code: the path as it is, or its two ends. */
const IN_CODE = new RegExp(
  [
    `(?<![\\w.])/proc/[^\\s"'\`]{0,160}/${VIEW}\\b`,
    `(?<=\\.\\.)/proc/${PROCESS}/${VIEW}\\b`,
    `${ROOT}[\\s\\S]{0,200}["'\`/]${VIEW}["'\`]`,
    // Libraries that read it for whoever asks.
    `\\bpsutil\\b[\\s\\S]{0,2000}(?:\\.(?:environ|memory_maps)\\s*\\(|["'\`](?:environ|memory_maps)["'\`])`,
    `["'\`/](?:environ|smaps|maps|auxv)["'\`][\\s\\S]{0,200}${ROOT}`,
  ].join('|'),
)

/**
 * Whether a program is given the environment or memory of a process to read: by path, by pattern, by a path whose middle is only known
 * later, by a folder above that it goes through, by `ps e`, or in the text of a program.
 */
export function viewsProcess(invocation: Invocation, code: readonly string[]): boolean {
  const { name, args, redirects } = invocation
  const words = [...(PROGRAMS.sayNames.has(name) ? [] : texts(args)), ...redirects.map(({ target }) => target.text)]
  if (words.some((word) => namesView(word.replace(/^(?:--?[\w-]+=|[a-z]+=|@)/, ''), invocation))) return true
  if (name === 'ps') return showsVariables(texts(args))
  if (PROGRAMS.goThrough.has(name) && goesThrough(invocation)) return true
  return code.some((text) => IN_CODE.test(text))
}

function namesView(word: string, { context }: Invocation): boolean {
  if (word.length > 400 || !(/[/$*?[]/.test(word) || context.cwd?.startsWith('/proc'))) return false
  // A variable with a substitution in it may hold slashes.
  const path = resolveShellPath(word.replace(/\$\([^)]*\)|`[^`]*`/g, '$X'), context)
  const [root, top = '', process, ...rest] = path.split('/')
  if (root !== '' || process === undefined || !mayBe(top, 'proc')) return false
  const view = rest[0] === 'task' && rest.length > 2 ? rest[2] : rest[0]
  if (view === undefined || (/^\d+$/.test(process) === false && /^(?:sys|net|bus|fs|irq)$/.test(process))) return false
  return VIEWS.some((known) => mayBe(view, known))
}

/** Whether part of a path is `name`, or a pattern or variable that may stand for it. A lone star stands for many, and counts. */
function mayBe(part: string, name: string): boolean {
  if (part === name) return true
  if (/[$`]/.test(part)) return name !== 'proc'
  return /[*?[]/.test(part) && matchGlob(part.replace(/\[[^\]]*\]/g, '?'), name)
}

/** In the options that ps has from BSD `e` shows variables; a word behind an option of the other kind is its value. */
function showsVariables(words: readonly string[]): boolean {
  let before = ''
  return words.some((word) => {
    const isValue = /^-[a-zA-Z]*[oOpCuUtgGsqkN]$|^--(?!no-headers|forest|cumulative|headers)[a-z-]+$|^[a-zA-Z]*o$/.test(
      before,
    )
    // A value names no option: in `-C foo e` the letters of `foo` mean nothing.
    before = isValue ? '' : word
    return /^-[a-zA-Z]*E/.test(word) || (!isValue && /^[a-zA-Z]*e[a-zA-Z]*$/.test(word) && !/^[pUtq]/.test(word))
  })
}

function goesThrough({ args, context }: Invocation): boolean {
  const words = texts(args)
  const roots = words.filter((word) =>
    /^\/proc(?:\/(?:self|thread-self|\d+|[^/]*[$*?[][^/]*))?$/.test(resolveShellPath(word, context)),
  )
  if (roots.length === 0) return false
  return words.some(
    (word) =>
      VIEWS.some((view) => mayBe(word, view)) ||
      /^(?:-[a-zA-Z]*[rRac][a-zA-Z]*|--recursive|--archive|c[a-z]*f)$/.test(word),
  )
}
