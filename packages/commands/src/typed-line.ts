import { nearestName } from '@hermes/contracts'
import type { Command, CommandCaller, CommandSession } from '@hermes/contracts/extension'
import { LEFT_OUT } from './generated/left-out.js'

/** What a line asks for. `text` is for the model. */
export type TypedLine =
  | { readonly type: 'text' }
  /** `args`: what follows the name, as it was typed. */
  | { readonly type: 'command'; readonly command: Command; readonly args: string }
  /** `nearest` is `null` where no name is near. */
  | { readonly type: 'unknown'; readonly typed: string; readonly nearest: string | null }

/** The commands that a caller may call; without a session those that need none. By name. */
export function offeredTo(
  caller: CommandCaller,
  session: Pick<CommandSession, 'id'> | null,
  commands: readonly Command[],
): readonly Command[] {
  const offered = commands.filter((command) => whyNotOffered(command, caller, session) === null)
  return offered.sort((left, right) => (left.name < right.name ? -1 : 1))
}

/** Why a caller may not call a command, to follow its name; `null` where they may. */
export function whyNotOffered(
  { scope = 'owner', needsSession = true, changes = [] }: Command,
  caller: CommandCaller,
  session: Pick<CommandSession, 'id'> | null,
): string | null {
  if (!caller.isOwner && scope !== 'anyone')
    return 'is for the owner of this Hermes, in the terminal or in an editor; ask them to call it there.'
  if (changes.some((change) => !caller.changes.includes(change))) return 'cannot be carried out here.'
  return session === null && needsSession ? 'needs a conversation; say something first.' : null
}

/**
 * Reads a line. A path is text, and so is a sentence that happens to begin with a slash. The beginning of only one name stands for it, unless `takesBeginnings` is `false`.
 * A name of `all` that is not among `commands` counts where it is whole: to call it says why it is not offered.
 */
export function readLine(
  line: string,
  commands: readonly Command[],
  all: readonly Command[] = commands,
  { takesBeginnings = true }: { readonly takesBeginnings?: boolean } = {},
): TypedLine {
  const [, typed, rest] = /^\/([a-z][a-z0-9-]*)(?:\s+(.*))?$/is.exec(line.trim()) ?? []
  if (typed === undefined || all.length === 0) return { type: 'text' }
  const wanted = typed.toLowerCase()
  const command =
    findCommand(commands, wanted) ??
    findCommand(all, wanted) ??
    (takesBeginnings ? onlyOne(commands.filter(({ name }) => name.startsWith(wanted))) : undefined)
  if (command) return { type: 'command', command, args: rest?.trim() ?? '' }
  const nearest = nearestName(wanted, commandNames(commands))
  if (rest !== undefined && nearest === null && !LEFT_OUT.has(wanted)) return { type: 'text' }
  return { type: 'unknown', typed: `/${typed}`, nearest: nearest === null ? null : `/${nearest}` }
}

/** What is said of a line that no command has; what other systems call it is answered with what there is instead, or why it is not here. */
export function unknownLine({ typed, nearest }: TypedLine & { readonly type: 'unknown' }): string {
  const leftOut = LEFT_OUT.get(typed.slice(1).toLowerCase())
  if (leftOut !== undefined) return leftOut
  return `Unknown command ${typed}. ${nearest === null ? '' : `Did you mean ${nearest}? `}/help lists all.`
}

/** The command of that name or alias, in lower case. */
export function findCommand(commands: readonly Command[], name: string): Command | undefined {
  return commands.find((command) => command.name === name || command.aliases?.includes(name))
}

/** Names and aliases, without slash. */
function commandNames(commands: readonly Command[]): readonly string[] {
  return commands.flatMap(({ name, aliases = [] }) => [name, ...aliases])
}

function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined
}
