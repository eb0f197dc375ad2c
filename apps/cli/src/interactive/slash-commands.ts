import { closest, distance } from 'fastest-levenshtein'

/** A command typed into a conversation. */
export interface SlashCommand {
  /** Without the slash. */
  readonly name: string
  readonly aliases: readonly string[]
  /** What follows the name, as help shows it; empty for nothing. */
  readonly args: string
  readonly summary: string
  /** Carried out at once while a run is under way; the others wait for its end. */
  readonly whileBusy: boolean
}

/** Every command there is, in the order of the help text. */
export const SLASH_COMMANDS = [
  { name: 'help', aliases: [], args: '', summary: 'this text', whileBusy: true },
  { name: 'new', aliases: ['reset'], args: '', summary: 'start a new session', whileBusy: false },
  { name: 'resume', aliases: [], args: 'NAME', summary: 'go on with another session', whileBusy: false },
  { name: 'sessions', aliases: [], args: '', summary: 'the newest sessions', whileBusy: true },
  { name: 'title', aliases: [], args: 'TEXT', summary: 'name this session, or show its name', whileBusy: true },
  { name: 'model', aliases: [], args: '[ID] [--force]', summary: 'show or change the model', whileBusy: false },
  { name: 'tools', aliases: [], args: '', summary: 'what the agent can use', whileBusy: true },
  {
    name: 'compress',
    aliases: ['compact'],
    args: '[TOPIC | here N]',
    summary: 'compact the conversation, or what is before your last N messages; --dry-run',
    whileBusy: false,
  },
  { name: 'usage', aliases: [], args: '', summary: 'tokens and money so far', whileBusy: true },
  { name: 'stop', aliases: [], args: '', summary: 'stop the run (also Ctrl-C)', whileBusy: true },
  { name: 'steer', aliases: [], args: 'TEXT', summary: 'tell the run something (also Alt-S)', whileBusy: true },
  { name: 'queue', aliases: ['q'], args: 'TEXT', summary: 'send once the run has ended', whileBusy: true },
  { name: 'retry', aliases: [], args: '', summary: 'send your last message again', whileBusy: false },
  {
    name: 'undo',
    aliases: [],
    args: '[N]',
    summary: 'take back your last message and what followed',
    whileBusy: false,
  },
  { name: 'branch', aliases: ['fork'], args: '[NAME]', summary: 'go on in a copy of this session', whileBusy: false },
  { name: 'checkpoint', aliases: [], args: '[NAME]', summary: 'keep the files as they are now', whileBusy: false },
  {
    name: 'rollback',
    aliases: [],
    args: '[N [--all] [FILE] | diff N]',
    summary: 'list checkpoints; bring files and conversation back to one',
    whileBusy: false,
  },
  {
    name: 'approvals',
    aliases: [],
    args: '[ID CHOICE | revoke ID]',
    summary: 'what waits for an answer; answer it, or revoke grants',
    whileBusy: true,
  },
  {
    name: 'plan',
    aliases: [],
    args: '[TASK | accept | off]',
    summary: 'look and plan, change nothing; then accept',
    whileBusy: false,
  },
  {
    name: 'agents',
    aliases: ['children'],
    args: '[kill N | pause [N] | resume [N] | steer N TEXT]',
    summary: 'the delegated tasks',
    whileBusy: true,
  },
  { name: 'yolo', aliases: [], args: '', summary: 'stop or go on asking for approval', whileBusy: true },
  { name: 'exit', aliases: ['quit'], args: '', summary: 'leave (also Ctrl-D)', whileBusy: true },
] as const satisfies readonly SlashCommand[]

export type SlashName = (typeof SLASH_COMMANDS)[number]['name']

/** What a line asks for. `text` is for the model. */
export type ParsedLine =
  | { readonly type: 'text' }
  | { readonly type: 'command'; readonly name: SlashName; readonly args: string; readonly whileBusy: boolean }
  | { readonly type: 'unknown'; readonly typed: string; readonly nearest: string }

/** A typing error touches at most so much of a word. */
const NEAR = 0.4

/** Reads a line. A path is text, and so is a sentence that happens to begin with a slash. */
export function parseLine(line: string): ParsedLine {
  const [, typed, rest] = /^\/([a-z][a-z-]*)(?:\s+(.*))?$/is.exec(line.trim()) ?? []
  if (typed === undefined) return { type: 'text' }
  const wanted = typed.toLowerCase()
  const command =
    SLASH_COMMANDS.find(({ name, aliases }) => name === wanted || (aliases as readonly string[]).includes(wanted)) ??
    onlyOne(SLASH_COMMANDS.filter(({ name }) => name.startsWith(wanted)))
  if (command) return { type: 'command', name: command.name, args: rest?.trim() ?? '', whileBusy: command.whileBusy }
  const nearest = closest(wanted, commandNames())
  if (rest !== undefined && distance(wanted, nearest) > wanted.length * NEAR) return { type: 'text' }
  return { type: 'unknown', typed: `/${typed}`, nearest: `/${nearest}` }
}

/** Names and aliases, without slash. */
export function commandNames(): readonly string[] {
  return SLASH_COMMANDS.flatMap(({ name, aliases }) => [name, ...aliases])
}

function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined
}
