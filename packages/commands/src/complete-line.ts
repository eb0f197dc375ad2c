import type { Command, CommandContext } from '@hermes/contracts/extension'
import { switchesOf, valuesOf, wordsOf } from './arguments.js'
import { commandNames, findCommand } from './typed-line.js'

/**
 * What the last word of an unfinished line may become, sorted, a blank at the end where more may follow; none for a line that is no command.
 * Never rejects.
 */
export async function completeLine(line: string, context: CommandContext): Promise<readonly string[]> {
  if (!line.startsWith('/')) return []
  const [name = '', ...words] = line.slice(1).split(/\s+/)
  const { commands } = context
  if (words.length === 0)
    return fitting(
      commandNames(commands).map((known) => `/${known} `),
      line,
    )
  const command = findCommand(commands, name.toLowerCase())
  if (!command) return []
  const word = words.at(-1)!
  const before = words.slice(0, -1).filter((typed) => !typed.startsWith('--'))
  const named = valuesOf(wordsOf(command)[before.length]?.schema ?? {})
  const more = await ownCandidates(command, before, context)
  return fitting(
    [...named, ...(word.startsWith('-') ? switchesOf(command) : []), ...more].map((value) => `${value} `),
    word,
  )
}

async function ownCandidates(
  command: Command,
  words: readonly string[],
  context: CommandContext,
): Promise<readonly string[]> {
  try {
    return (await command.complete?.(words, context)) ?? []
  } catch {
    return []
  }
}

function fitting(candidates: readonly string[], word: string): readonly string[] {
  return [...new Set(candidates.filter((candidate) => candidate.startsWith(word)))].sort()
}
