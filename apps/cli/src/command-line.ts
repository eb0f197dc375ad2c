import { nearestName } from '@hermes/contracts'
import type { Command } from 'commander'
import { UsageError } from './errors.js'
import { LEFT_OUT } from './generated/left-out.js'

/**
 * A command line with its command first: options may stand before it, and a text with a blank, or after `--`, is something to ask.
 * `chat` knows the options of a conversation; `table`, which loads those of all commands, is asked only when a word may be a command.
 * @throws UsageError for a single word that is no command.
 */
export async function commandFirst(
  argv: readonly string[],
  { chat, table }: { readonly chat: Command; readonly table: () => Promise<Command> },
): Promise<readonly string[]> {
  const ofChat = takingValues(chat)
  const place = firstWord(argv, ofChat)
  if (place === null) return argv
  if (isText(argv, place)) return ['chat', ...argv]
  const program = await table()
  const names = [...program.commands.map((command) => command.name()), 'help']
  const valued = new Set([...ofChat, ...takingValues(program)])
  for (let at = firstWord(argv, valued); at !== null; at = firstWord(argv, valued, at + 1)) {
    if (isText(argv, at)) return ['chat', ...argv]
    const word = argv[at]!
    if (names.includes(word)) return movedTo(argv, at)
    // It may be the value of an option that only the command itself knows.
    if (!argv[at - 1]?.startsWith('-')) throw new UsageError(unknownCommand(word, names))
  }
  throw new UsageError(unknownCommand(argv[place]!, names))
}

function firstWord(argv: readonly string[], valued: ReadonlySet<string>, from = 0): number | null {
  for (let at = from; at < argv.length; at++) {
    const word = argv[at]!
    if (word === '--' || word === '-' || !word.startsWith('-')) return at
    if (valued.has(word)) at++
  }
  return null
}

function isText(argv: readonly string[], place: number): boolean {
  return argv[place] === '--' || /\s/.test(argv[place]!.trim())
}

/** What was said before the command is said at the end of its own words, where it counts for the whole of it. */
function movedTo(argv: readonly string[], place: number): readonly string[] {
  const [before, rest] = [argv.slice(0, place), argv.slice(place)]
  const end = rest.includes('--') ? rest.indexOf('--') : rest.length
  return [...rest.slice(0, end), ...before, ...rest.slice(end)]
}

/** The options of a command and of all below it that are followed by a value. */
function takingValues(command: Command): ReadonlySet<string> {
  const own = command.options.filter((option) => option.required || option.optional)
  const names = own.flatMap(({ long, short }) => [long, short].filter((name) => name !== undefined))
  return new Set([...names, ...command.commands.flatMap((inner) => [...takingValues(inner)])])
}

/** The line for a word that is no command; of what is left out on purpose it says what there is instead, or why. */
export function unknownCommand(word: string, names: readonly string[]): string {
  const leftOut = LEFT_OUT.get(word)
  if (leftOut !== undefined) return leftOut
  const meant = nearestName(word, names)
  const hint = meant === null ? `Valid commands: ${names.join(', ')}.` : `Did you mean ${meant}?`
  const text = /^[\w.-]+$/.test(word) ? word : '"…"'
  return `Unknown command "${word}". ${hint} To ask the agent: hermes chat ${text}`
}

/** The line for a word that no command of `command` has. */
export function unknownPart(command: string, word: string, parts: string): string {
  return LEFT_OUT.get(`${command} ${word}`) ?? `Unknown command "${command} ${word}". Valid commands: ${parts}.`
}
