import type { CompactOutcome, CompactPlan } from '../context.js'
import type { Entry, ReasoningEffort, ServiceTier } from '../conversation.js'
import type { JsonObject } from '../json.js'
import type { JsonSchema } from '../tool.js'
import type { Finding } from './doctor-check.js'

/** What a person types to Hermes itself, `/name` in a session. */
export interface Command {
  /** Lower case letters, digits and dashes, a letter first. */
  readonly name: string
  /** Other names of the same form. Default: none. */
  readonly aliases?: readonly string[]
  /** One line, for lists. */
  readonly summary: string
  /**
   * JSON Schema of an object: what follows the name. Properties are read in their order, a word each; the last one that is a string takes all
   * of the rest, an array the words that are left. Booleans are switches, `dryRun` is `--dry-run`. `enum` is completed; the description
   * says what is wanted where something else was typed. Default: it takes nothing.
   */
  readonly parameters?: JsonSchema
  /** What follows the name, as lists show it. Default: made from the parameters. */
  readonly usage?: string
  /**
   * During a run of its session: `allowed` at once, `waits` for its end, `refused` with a line, or `interrupts` it first. Default `waits`. An
   * entry point without a queue refuses what would wait.
   */
  readonly duringRun?: 'allowed' | 'waits' | 'refused' | 'interrupts'
  /**
   * Who may call it. `anyone` who may talk in the session: it shows or changes nothing beyond that session. `owner`: the person whose home it
   * is. Default `owner`.
   */
  readonly scope?: 'anyone' | 'owner'
  /** `false`: works without a session too, as a part of a subcommand. Default `true`. */
  readonly needsSession?: boolean
  /** The changes it may ask its entry point for. It is offered only where all of them can be made. Default: none. */
  readonly changes?: readonly SessionChange['type'][]
  /** What the word being typed may become, beside what `enum` says; the words before it are `words`. What throws gives nothing. */
  complete?(words: readonly string[], context: CommandContext): Candidates | Promise<Candidates>
  /** Does it. The arguments fit the schema. A `HermesError` it throws is shown in one line. */
  run(args: JsonObject, context: CommandContext): CommandResult | Promise<CommandResult>
}

/** Values that a word may become; `detail` says in a few words what one is. */
type Candidates = readonly (string | { readonly value: string; readonly detail: string })[]

/** What a command came to, in the order in which it is shown and done. */
export type CommandResult = CommandOutput | readonly CommandOutput[]

/** One thing that a command gives back. It is data: each entry point shows it in its own way. */
export type CommandOutput =
  /** With `isProblem` something was left undone; a `diff` keeps its lines and may be coloured; `markdown` is what a model wrote. */
  | {
      readonly type: 'text'
      readonly text: string
      readonly isProblem?: boolean
      readonly format?: 'diff' | 'markdown'
    }
  | CommandTable
  /** What was looked at; a failure counts as something left undone. */
  | { readonly type: 'findings'; readonly findings: readonly Finding[] }
  | CommandChoice
  | CommandForm
  | { readonly type: 'change'; readonly change: SessionChange }

/** Rows of cells. */
export interface CommandTable {
  readonly type: 'table'
  readonly rows: readonly CommandRow[]
  /** Shown in place of no rows. */
  readonly empty: string
}

/** One row of a {@link CommandTable}. */
export interface CommandRow {
  /** As many as in the other rows. The first one names the row; the last one may be cut. */
  readonly cells: readonly string[]
  /** What the session has now. Default `false`. */
  readonly isCurrent?: boolean
  /** Less important than the others. Default `false`. */
  readonly isDim?: boolean
  /** What `--json` prints of it. Default: the cells. */
  readonly data?: object
}

/** Several ways to go on, each a line that could be typed. */
export interface CommandChoice {
  readonly type: 'choice'
  readonly question: string
  readonly options: readonly { readonly label: string; readonly line: string }[]
}

/** Asks for what is missing; the answers, in order, follow `line`. */
export interface CommandForm {
  readonly type: 'form'
  readonly title: string
  /** The command as far as it is known: `/title`. */
  readonly line: string
  readonly fields: readonly { readonly name: string; readonly description: string }[]
}

/** What only the entry point can do to the session it shows. */
export type SessionChange =
  /** Begins a new session. */
  | { readonly type: 'new' }
  /** Begins a new session in another folder, absolute; those after it are there too. */
  | { readonly type: 'new-in'; readonly cwd: string }
  /** Goes on with another session, and shows its end with `recap`. */
  | { readonly type: 'open'; readonly sessionId: string; readonly recap: boolean }
  /** The person's next message. */
  | { readonly type: 'send'; readonly text: string }
  /** Runs the session without a new message. */
  | { readonly type: 'resume' }
  /** A message for the time when nothing else is before it. */
  | { readonly type: 'queue'; readonly text: string }
  /** What was shown last is not part of the session any more. */
  | { readonly type: 'shortened' }
  /** Questions about dangerous commands are answered with yes, or asked again. */
  | { readonly type: 'yolo' }
  /** Puts a text on the clipboard of the person's machine. */
  | { readonly type: 'copy'; readonly text: string }
  /** Shows all of a call that the session made: its arguments and what came of it. `call` counts from the newest, which is 1. */
  | { readonly type: 'details'; readonly call: number }
  /** Shows what the model thinks from here on, or does not. */
  | { readonly type: 'thoughts'; readonly shown: boolean }
  /** Changes how things are shown in the window of the person, as long as it is open; without a value the person is asked for one. */
  | { readonly type: 'display'; readonly setting: DisplaySetting; readonly value?: string }
  /** Reads the configuration, the keys and the parts of the home anew and goes on with the session. */
  | { readonly type: 'reload' }
  /** Puts an image into the message that is being written: a file, or without one what is on the clipboard. */
  | { readonly type: 'attach'; readonly file?: string }
  | { readonly type: 'leave' }

/**
 * What a person may choose of their window: what a line does during a run (`queue`, `steer`, `interrupt`), the bar below and the time before
 * each message (`on`, `off`), how much is told of calls (`off`, `all`, `verbose`), and a skin by its name.
 */
export type DisplaySetting = 'busy' | 'statusbar' | 'timestamps' | 'verbose' | 'skin'

/** Who calls a command, and from where. */
export interface CommandCaller {
  /** `cli`, `acp`, `gateway` … */
  readonly platform: string
  readonly user: string
  /** Whether it is the person whose home it is. */
  readonly isOwner: boolean
  /** The changes that can be made there. */
  readonly changes: readonly SessionChange['type'][]
}

/** What a command works with. */
export interface CommandContext {
  readonly caller: CommandCaller
  /** The session it was typed in; `null` only where the command needs none. */
  readonly session: CommandSession | null
  /** Where the caller is. Absolute. */
  readonly cwd: string
  /** The commands that this caller may call here, by name. */
  readonly commands: readonly Command[]
  /** Shows a line before the result, while something takes its time. */
  notice(text: string): void
  /** Asks the person for a line; `null` when they give none. Rejects with an `AbortError`. Default: nobody can be asked meanwhile. */
  readonly ask?: (question: string, signal: AbortSignal) => Promise<string | null>
  /** Fires when the caller is gone or interrupts. */
  readonly signal: AbortSignal
}

/** The session that a command is typed in. */
export interface CommandSession {
  readonly id: string
  /** Where its agent works. Absolute. */
  readonly cwd: string
  readonly model: string
  readonly provider: string
  /** Whether a run is under way. */
  readonly isBusy: boolean
  /** The log without what was undone. */
  entries(): readonly Entry[]
  /** Its title; `null` where it has none. */
  title(): Promise<string | null>
  /** Gives it a title, now or with its first message; resolves with the one it has then. */
  rename(title: string): Promise<string>
  /** The models its endpoint offers; empty when it does not say. */
  models(): Promise<readonly string[]>
  /** How much its model thinks; `null` where that is left to the provider. */
  readonly reasoningEffort: ReasoningEffort | null
  /** Another effort from the next request on, kept with the session; `null` goes back to what is configured. */
  setReasoningEffort(effort: ReasoningEffort | null): Promise<void>
  /** How soon its answers are made; `null` where nobody chose, in config.yaml or here. */
  readonly serviceTier: ServiceTier | null
  /** Another tier from the next request on, kept with the session; `null` goes back to what is configured. */
  setServiceTier(tier: ServiceTier | null): Promise<void>
  /** The key or login of its provider that it uses alone, by label; `null` where it chose none. */
  account(): Promise<string | null>
  /**
   * Another one from the next request on, by label, id or place, kept with the session; `null` goes back to what the project or the home uses.
   * Resolves with its label. Rejects with `credentials.unknown`.
   */
  useAccount(name: string | null): Promise<string | null>
  /** Lets another model go on, of another provider too. With `force` it need not be among {@link CommandSession.models}. */
  changeModel(change: { readonly model: string; readonly provider?: string; readonly force: boolean }): Promise<void>
  /** Abort of `signal` ends it and leaves the session as it was. */
  compact(options: CompactChoice & { readonly signal: AbortSignal }): Promise<CompactOutcome>
  planCompaction(options: CompactChoice): Promise<CompactPlan | null>
  /**
   * Takes back turns of the person, or all from an entry on; `null` when there was nothing. `files` went back with it, absolute paths:
   * nobody else changed them.
   */
  undo(
    options: { readonly turns: number } | { readonly fromSeq: number; readonly files?: readonly string[] },
  ): Promise<{ readonly messages: number; readonly text: string } | null>
  /** Plans from now on; `false` when it did so already. */
  plan(): Promise<boolean>
  /** Writes a note into the log: no model sees it, and undo leaves it. Rejects as the store does. */
  note(kind: string, data: JsonObject): Promise<void>
  /**
   * What its model answers to a question about the conversation so far, by itself and without tools; nothing of it is kept but what it cost.
   * Rejects as the model does; abort ends it.
   */
  aside(question: string, options: { readonly signal: AbortSignal }): Promise<string>
  /**
   * Runs a command of the person's own where the agent's run, with what the person may reach; no model sees it. Ends after 10 minutes; abort
   * ends it and resolves. Rejects with `policy.denied` and the reason.
   */
  runOwn(command: string, options: { readonly signal: AbortSignal }): Promise<OwnCommandResult>
  /** Ends planning; `false` when nothing was planned. */
  endPlan(how: 'accept' | 'leave'): Promise<boolean>
  /** Tells the run under way; what it does not take any more goes out with the next message. */
  steer(text: string): Promise<'delivered' | 'queued'>
  /** Interrupts the run under way. */
  stop(): void
  readonly tasks: CommandTasks
  /** What endpoints said about how much may still be asked, a line each. */
  limits(): Promise<readonly string[]>
}

/** How a command of a person's own ended. `exitCode` is `null` when a signal ended it. */
interface OwnCommandResult {
  readonly output: string
  readonly exitCode: number | null
}

/** What a compaction is about; see `CompactRequest`. */
export interface CompactChoice {
  readonly focus?: string
  readonly keepTurns?: number
}

/** The tasks that a session has delegated. */
export interface CommandTasks {
  /**
   * Hands a task to a fresh agent in the background and resolves with its id; the result comes into the session by itself, once. Rejects where
   * nothing can be delegated.
   */
  start(goal: string): Promise<string>
  list(): readonly CommandTask[]
  /** Ends a task and all below it; `false` when it is not at work. */
  kill(id: string): boolean
  /** Holds a task and all below it, without an id all; `false` when it is not at work. */
  pause(id?: string): boolean
  /** Lets what was paused go on; `false` when nothing was. */
  unpause(id?: string): boolean
  /** Tells a task something; `null` when it is not at work. */
  steer(id: string, text: string): Promise<'delivered' | 'queued' | null>
}

/** A delegated task as lists show it. Times are Unix milliseconds. */
export interface CommandTask {
  /** `2` is the second one, `2.1` the first that it delegated. */
  readonly id: string
  readonly goal: string
  readonly state: string
  /** What it is doing. */
  readonly activity: string
  readonly isBackground: boolean
  readonly toolCalls: number
  readonly startedAtMs: number
  /** `null` while it is at work. */
  readonly endedAtMs: number | null
}
