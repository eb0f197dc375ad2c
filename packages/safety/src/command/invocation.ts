import type { Assignment, Redirect, Word } from '../shell/script.js'
import type { CommandContext } from './context.js'

/** What a program reads from standard input. */
export interface Input {
  /** The programs at the other end of the pipe. */
  readonly from: readonly Invocation[]
  /** The text itself where it is known: a here-document, or `echo` of known words. */
  readonly text: string | null
}

/** One program that a command line runs, freed of `sudo`, `env`, `xargs` and the like. */
export interface Invocation {
  /** Base name, for example `rm` for `/bin/rm`. */
  readonly name: string
  readonly program: Word
  /** As it was written: assignments, wrappers and all. */
  readonly written: string
  /**
   * The same from each wrapper on, such as `sudo`, by its base name, and for git without the options before its command: neither a path nor
   * what stands in front hides it.
   */
  readonly layers: readonly string[]
  readonly args: readonly Word[]
  /** Variables it is given or sets, in front of it, by `env`, or by `export` and its kin. */
  readonly variables: readonly Assignment[]
  readonly redirects: readonly Redirect[]
  readonly input: Input
  /** Programs whose output becomes part of its words. */
  readonly inner: readonly Invocation[]
  readonly elevated: boolean
  /** Who hands it further arguments. */
  readonly via: 'xargs' | 'find' | null
  readonly context: CommandContext
  /** Files that earlier commands of the same line downloaded. */
  readonly downloads: ReadonlySet<string>
  /** Files that earlier commands of the same line put all their variables into. */
  readonly exposed: ReadonlySet<string>
  /** Whether variables or open files of the shell may hold, by earlier commands of the same line, what files of the person hold. */
  readonly carriesPrivate: boolean
  /** Files that earlier commands of the same line wrote, with the text where it is known. */
  readonly made: ReadonlyMap<string, string>
}

/** Arguments split into options and the rest, as GNU programs read them. */
interface Options {
  /** Letters of clusters such as `-rf`, in order. */
  readonly letters: string
  /** Long names without `--` and without `=value`. */
  readonly long: readonly string[]
  readonly operands: readonly string[]
}

/** Reads options anywhere before `--`. Options that take a value in the next word are named in `valued`, with their dashes. */
export function readOptions(args: readonly Word[], valued: readonly string[] = []): Options {
  let letters = ''
  const long: string[] = []
  const operands: string[] = []
  for (let at = 0; at < args.length; at++) {
    const text = args[at]!.text
    if (text === '--') {
      operands.push(...args.slice(at + 1).map((word) => word.text))
      break
    }
    if (text.startsWith('--')) long.push(text.slice(2).split('=')[0]!)
    else if (text.length > 1 && text.startsWith('-')) letters += text.slice(1)
    else operands.push(text)
    if (valued.includes(text)) at++
  }
  return { letters, long, operands }
}

/** Whether an option was given by letter, or by a long name that may be shortened as GNU allows. */
export function hasOption(options: Options, letters: string, ...names: readonly string[]): boolean {
  if ([...letters].some((letter) => options.letters.includes(letter))) return true
  return options.long.some((input) => names.some((name) => name.startsWith(input) && input.length > 1))
}

/** The texts of `args`. */
export function texts(args: readonly Word[]): string[] {
  return args.map((word) => word.text)
}
