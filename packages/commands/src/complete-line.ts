import type { Command, CommandContext } from '@hermes/contracts/extension'
import { isComplete, shownCommand, switchesOf, valuesOf, wordsOf } from './arguments.js'
import { findCommand } from './typed-line.js'

/** What the last word of a line may become. */
export interface LineCandidate {
  /** In place of the word; a blank at the end where more may follow. */
  readonly text: string
  /** What it is, for a list. */
  readonly label: string
  /** More about it; empty for nothing. */
  readonly detail: string
  /** Whether the line can be sent with it. Arguments always can. */
  readonly isWhole: boolean
}

/**
 * What may stand in place of the last word of a line: names of commands, by name, or arguments of one; none for a line that is no command.
 * What fits the word is for the caller to find. Never rejects.
 */
export async function completeLine(line: string, context: CommandContext): Promise<readonly LineCandidate[]> {
  if (!line.startsWith('/')) return []
  const [name = '', ...words] = line.slice(1).split(/\s+/)
  if (words.length === 0) return context.commands.flatMap((command) => namesOf(command, name.toLowerCase()))
  const command = findCommand(context.commands, name.toLowerCase())
  if (!command) return []
  const before = words.slice(0, -1).filter((typed) => !typed.startsWith('--'))
  const named = valuesOf(wordsOf(command)[before.length]?.schema ?? {})
  const switches = words.at(-1)!.startsWith('-') ? switchesOf(command) : []
  const candidates = [...named, ...switches, ...(await ownCandidates(command, before, context))]
  const byValue = new Map(
    candidates.map((found) => (typeof found === 'string' ? [found, ''] : [found.value, found.detail])),
  )
  return [...byValue].map(([value, detail]) => ({ text: `${value} `, label: value, detail, isWhole: true }))
}

/** An alias counts where it is what is being typed. */
function namesOf(command: Command, typed: string): readonly LineCandidate[] {
  const alias = command.name.startsWith(typed) ? undefined : command.aliases?.find((other) => other.startsWith(typed))
  const { summary, name } = command
  return [
    {
      text: `/${alias ?? name} `,
      label: shownCommand(alias === undefined ? command : { ...command, name: alias }),
      detail: summary,
      isWhole: isComplete(command),
    },
  ]
}

async function ownCandidates(
  command: Command,
  words: readonly string[],
  context: CommandContext,
): Promise<Awaited<ReturnType<NonNullable<Command['complete']>>>> {
  try {
    return (await command.complete?.(words, context)) ?? []
  } catch {
    return []
  }
}
