import { toAssignment } from '../shell/parse.js'
import type { Assignment, Word } from '../shell/script.js'
import { PROGRAMS, type Wrapper } from './program-tables.js'

/** Beyond so many nobody means well. */
export const MAX_LAYERS = 30

/** A command without the programs that only run another one. */
interface Unwrapped {
  readonly words: readonly Word[]
  readonly elevated: boolean
  readonly xargs: boolean
  /** Each of those programs with all behind it, the outermost first. */
  readonly layers: readonly (readonly Word[])[]
  /** Folders that they go to, one from the other. */
  readonly folders: readonly Word[]
  /** Text that `env -S` splits into a command. */
  readonly splitText: string | null
}

/** The variables that wrappers such as `env` set, and those of `export` and its kin, as far as they are written there. */
export function assignedVariables({ layers, words }: Pick<Unwrapped, 'layers' | 'words'>): readonly Assignment[] {
  const setting = /^(?:export|declare|typeset|local|readonly|setenv)$/.test(words[0]?.text ?? '') ? words : []
  const outer = layers.map((layer, at) => layer.slice(0, layer.length - (layers[at + 1] ?? words).length))
  return [...outer, setting].flatMap((each) => each.slice(1).flatMap((word) => toAssignment(word) ?? []))
}

/** Options of wrappers that name a file which they write themselves. */
const WRITTEN_BY: Readonly<Record<string, RegExp>> = Object.freeze({
  time: /^(?:-\w*o|--output)$/,
  gtime: /^(?:-\w*o|--output)$/,
  strace: /^(?:-\w*o|--output)$/,
  ltrace: /^(?:-\w*o|--output)$/,
  perf: /^(?:-\w*o|--output|--log-fd)$/,
  valgrind: /^--(?:log-file|xml-file|\w+-out-file)$/,
  parallel: /^--(?:results|joblog|res|jl)$/,
})

/** The same for a file that they read. */
const READ_BY: Readonly<Record<string, RegExp>> = Object.freeze({
  xargs: /^(?:-\w*a|--arg-file)$/,
  parallel: /^(?:-\w*a|--arg-file|::::\+?)$/,
  dotenv: /^-[ef]$/,
})

/** Files that wrappers write, or read, by themselves, beside what they run. */
export function wrapperFiles(
  { layers, words }: Pick<Unwrapped, 'layers' | 'words'>,
  nameOf: (word: Word) => string,
  access: 'read' | 'write',
): readonly Word[] {
  const table = access === 'read' ? READ_BY : WRITTEN_BY
  return layers.flatMap((layer, at) => {
    const [program, ...own] = layer.slice(0, layer.length - (layers[at + 1] ?? words).length)
    const option = program && Object.hasOwn(table, nameOf(program)) ? table[nameOf(program)]! : null
    if (option === null) return []
    return own.flatMap((word, index) => {
      if (option.test(own[index - 1]?.text ?? '')) return [word]
      const [, name = '', value] = /^(--[\w-]+)=(.+)$/s.exec(word.text) ?? []
      if (value !== undefined && option.test(name))
        return [{ ...word, text: value, mask: word.mask.slice(name.length + 1) }]
      const [, letter = '', hanging] = /^(-[oa])(.+)$/s.exec(word.text) ?? []
      return hanging !== undefined && option.test(letter) ? [{ ...word, text: hanging, mask: word.mask.slice(2) }] : []
    })
  })
}

/** The folders that a program is told to go to by its own words, in order. */
export function namedFolders(name: string, words: readonly Word[]): readonly Word[] {
  if (/^(?:su|runuser)$/.test(name))
    return words.some(({ text }) => /^(?:-|-[a-zA-Z]*l|--login)$/.test(text)) ? [HOME_OF_ROOT] : []
  const options = optionsOfFolder(name)
  if (options.length === 0) return []
  const letters = options.flatMap((option) => (option.length === 2 ? [option[1]!] : [])).join('')
  // The last of several letters may be the one, and its value may hang on it.
  const hanging = letters === '' ? null : new RegExp(`^-[a-zA-Z]*?[${letters}](.+)$`, 's')
  return words.flatMap((word, at) => {
    const before = words[at - 1]?.text ?? ''
    if (isOption(options, /^-[a-zA-Z]{2,}$/.test(before) ? `-${before.at(-1)}` : before)) return [word]
    const [, option = '', long] = /^(--[\w-]+)=(.+)$/s.exec(word.text) ?? []
    const value =
      (isOption(options, option) ? long : undefined) ??
      hanging?.exec(word.text)?.[1] ??
      (name === 'systemd-run' ? /^(?:--property=|-p)?WorkingDirectory=(.+)$/s.exec(word.text)?.[1] : undefined)
    if (value === undefined) return []
    return [{ ...word, text: value, mask: word.mask.slice(word.text.length - value.length) }]
  })
}

const optionsOfFolder = (name: string): readonly string[] =>
  Object.hasOwn(PROGRAMS.folderOptions, name) ? PROGRAMS.folderOptions[name]! : []

/** A long one may be shortened. */
const isOption = (options: readonly string[], text: string): boolean =>
  options.some((option) => option === text || (/^--\w../.test(text) && option.startsWith(text)))

/** Takes off `sudo`, `env`, `timeout`, `xargs` and their kind with their own options, any number of them. */
export function unwrap(words: readonly Word[], nameOf: (word: Word) => string): Unwrapped {
  let at = 0
  let elevated = false
  let xargs = false
  const layers: (readonly Word[])[] = []
  const folders: Word[] = []
  for (;;) {
    const name = words[at] ? nameOf(words[at]!) : ''
    const wrapper = Object.hasOwn(PROGRAMS.wrappers, name) ? PROGRAMS.wrappers[name] : undefined
    if (!wrapper) return { words: words.slice(at), elevated, xargs, layers, folders, splitText: null }
    if (layers.length <= MAX_LAYERS) layers.push(words.slice(at))
    const inner = afterOptions(words, at, { ...wrapper, valued: [...(wrapper.valued ?? []), ...optionsOfFolder(name)] })
    const own = words.slice(at + 1, inner)
    const gone = [
      ...(own.some(({ text }) => wrapper.login?.test(text)) ? [HOME_OF_ROOT] : []),
      ...(name === 'chdir' ? own.slice(0, 1) : namedFolders(name, own)),
    ]
    const split = name === 'env' ? splitOption(words, at, inner) : null
    if (split !== null) {
      const text = words.slice(split).map((word) => word.text)
      return {
        ...{ words: [], elevated, xargs, layers, folders: [...folders, ...gone] },
        splitText: text.join(' ').replace(/^(?:-S|--split-string=?)\s*/, ''),
      }
    }
    elevated ||= wrapper.elevates ?? false
    xargs ||= name === 'xargs' || name === 'parallel'
    // Nothing to run, or a text: the wrapper itself is the command.
    if (inner >= words.length || words[inner]!.text === '-c')
      return { words: words.slice(at), elevated, xargs, layers, folders, splitText: null }
    folders.push(...gone)
    at = inner
  }
}

/** Whoever the account is of: it is a home folder. */
const HOME_OF_ROOT: Word = Object.freeze({ text: '~root', mask: 'uuuuu', dynamic: false, splits: false, scripts: [] })

/** Where `env` is told to split a text, among its own options. */
function splitOption(words: readonly Word[], start: number, end: number): number | null {
  for (let at = start + 1; at < Math.min(end, words.length); at++)
    if (/^(?:-S|--split-string)/.test(words[at]!.text)) return at
  return null
}

/** Where the command begins that the wrapper at `start` runs; the end of `words` where it runs none. */
function afterOptions(words: readonly Word[], start: number, wrapper: Wrapper): number {
  const isValued = (text: string) => isOption(wrapper.valued ?? [], text)
  let at = start + 1
  if (wrapper.verbs) {
    // Options may stand in front of the verb.
    while (words[at]?.text.startsWith('-')) at += isValued(words[at]!.text) ? 2 : 1
    if (!wrapper.verbs.includes(words[at]?.text ?? '')) return words.length
    at++
  }
  for (; at < words.length; at++) {
    const text = words[at]!.text
    if (text === '--') {
      at++
      break
    }
    if (wrapper.query?.includes(text)) return words.length
    if ((wrapper.assignments && /^\w+=/.test(text)) || wrapper.own?.test(text)) continue
    if (!text.startsWith('-') || text === '-') break
    // The last of several letters may be the one that takes a value.
    if (isValued(/^-[a-zA-Z]{2,}$/.test(text) ? `-${text.at(-1)}` : text)) at++
  }
  while (wrapper.assignments && /^\w+=/.test(words[at]?.text ?? '')) at++
  at += wrapper.positional ?? 0
  // `coproc NAME { …; }`
  at += words.slice(at, at + 2).findIndex(({ text }) => text === '{') + 1
  return words[at]?.text === '--' ? at + 1 : at
}
