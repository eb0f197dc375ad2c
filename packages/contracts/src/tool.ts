import type { ImagePart, TextPart, ToolResultPart } from './conversation/message.js'
import type { TextSource } from './conversation/text-source.js'
import type { Environment } from './environment.js'
import type { JsonObject, JsonValue } from './json.js'
import type { ActingPlugin, Action, Permit } from './policy.js'

/** JSON Schema of an object, as models get it. */
export type JsonSchema = JsonObject

/** What a model is told about a tool. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** The part of Standard Schema v1 that Hermes uses. @see https://standardschema.dev */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** What a validation came to: the value, defaults filled in, or what is wrong with it and where. `issues` tells them apart. */
type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
      }[]
    }

/** What a tool gives back. A string is shown to the model as it is; `data` alone is shown as JSON. */
export type ToolResult =
  | string
  | {
      /** Plain JSON: what a script gets. */
      readonly data?: JsonValue
      /** Its rendering, where JSON reads badly. */
      readonly text?: string
      /** Images and further text after the rendering. */
      readonly parts?: readonly (TextPart | ImagePart)[]
      /** The call failed and the text says what to try instead. */
      readonly isError?: boolean
      /** The text came from outside and may carry instructions that are not the user's. */
      readonly external?: boolean
      /** Where such text came from. Default: what the tool says of the call. */
      readonly sources?: readonly TextSource[]
    }

/** A finished call in one shape, whatever the tool returned. */
export interface ToolOutcome {
  readonly content: readonly ToolResultPart[]
  readonly data?: JsonValue
  readonly isError: boolean
}

/** Calls other tools on behalf of a program that a call runs. */
export interface ToolCaller {
  /** The tools the session was shown and may call now. */
  readonly definitions: readonly ToolDefinition[]
  /**
   * Calls one of them as the model would: the arguments are checked, hooks and policy asked, with `script` as the origin. What goes
   * wrong, an approval that nobody gives in time included, is an error outcome. Calls that must not overlap wait for each other. Each
   * is noted in the session's log; no model sees it. `onWait` is told when the call begins to wait for a person, and when that is
   * over; it must not throw. Abort of `signal` or of the run rejects.
   */
  call(
    name: string,
    args: JsonObject,
    options?: { readonly signal?: AbortSignal; readonly onWait?: (isWaiting: boolean) => void },
  ): Promise<ToolOutcome>
}

/**
 * How calls of one message may overlap. `parallel`: with anything parallel. `path`: unless the paths of two calls overlap and one
 * writes. `exclusive`: alone. `interactive`: alone, and the whole message runs in order. Default `exclusive`.
 */
export type Concurrency = 'parallel' | 'path' | 'exclusive' | 'interactive'

/** A question to the person behind the session. */
export interface Question {
  readonly question: string
  /** Up to six. */
  readonly choices: readonly string[]
  /** Whether an answer outside `choices` is taken. */
  readonly allowFreeText: boolean
  /** The answer is a password: not shown while it is typed, and kept by nobody but who asks. Default `false`. */
  readonly isSecret?: boolean
}

/** The answer, or why there is none. */
export type Answer =
  | { readonly type: 'answered'; readonly text: string }
  | { readonly type: 'unanswered'; readonly reason: string }

/** A question as text, for where there is no form: with its choices by number. */
export function numberedQuestion({ question, choices, allowFreeText }: Question): string {
  const how =
    choices.length === 0
      ? 'Answer in your own words.'
      : allowFreeText
        ? 'Answer with a number, or in your own words.'
        : 'Answer with a number.'
  return [question, ...choices.map((choice, index) => `${index + 1}. ${choice}`), how].join('\n')
}

/** What a text answers: the choice of that number, or what it says. */
export function answerIn({ choices }: Question, text: string): Answer & { readonly type: 'answered' } {
  const number = /^\s*(\d{1,2})[.)]?\s*$/.exec(text)?.[1]
  return { type: 'answered', text: choices[Number(number) - 1] ?? text.trim() }
}

/** Whoever is asked answers later: the run parks, and its call asks again when it is resumed. */
export interface ParkedQuestion {
  readonly type: 'parked'
  readonly id: string
}

/** Answers what the call `callId` asks; abort of `signal` withdraws the question. */
export type AskPerson = (
  question: Question,
  options: { readonly signal: AbortSignal; readonly callId: string },
) => Promise<Answer | ParkedQuestion>

/** A question to a person, kept until its answer has reached the model or it expired. */
export interface KeptQuestion {
  readonly id: string
  readonly sessionId: string
  /** The call that asks; it asks again after a crash or a park. */
  readonly callId: string
  readonly question: Question
  readonly askedAtMs: number
  /** From then on it is not answered any more. */
  readonly expiresAtMs: number
  readonly status: 'open' | 'parked' | 'answered' | 'used'
  /** What was answered; `null` before. */
  readonly answer: string | null
  readonly by: string | null
}

/** Where questions live; as an `ApprovalStore` for what tools ask. */
export interface QuestionStore {
  /**
   * Adds or replaces by id; one that is `used` is forgotten. What is answered never becomes open or parked again, and of two answers at once,
   * from whichever processes, one is kept. `false` when nothing was kept.
   */
  put(question: KeptQuestion): Promise<boolean>
  get(id: string): Promise<KeptQuestion | null>
  /** Those of a session, by default of all, oldest first. */
  pending(sessionId?: string): Promise<readonly KeptQuestion[]>
}

/** What earlier calls of the session left behind. */
export interface ToolState {
  /** Data of the newest successful result of `toolName` (which must keep it, see `Tool.keepsData`), and how many calls of any tool came after it. */
  latest(toolName: string): { readonly data: JsonValue; readonly callsSince: number } | null
  /** How often the conversation was compacted, or turns of it taken back: what earlier results said may be out of the model's sight since. */
  compactions(): number
  /** Scratch space of the session, made on first use, gone when the process ends. */
  scratch<T>(key: string, create: () => T): T
}

/**
 * The files a session read or wrote with its file tools: real path and the version it saw last, the newest ones at the end. Whoever reads
 * or writes a file for the model notes it here, so that changes by others can be told. Gone when the process ends.
 */
export function seenFiles(state: ToolState): Map<string, string> {
  return state.scratch('files.seen', () => new Map<string, string>())
}

/** Where the progress of a call comes from, and its figures, for who shows it as more than a line. */
export interface ProgressAbout {
  /** Part of the call that is told of, such as one of several children; a newer word replaces an older one of the same source. */
  readonly source?: string
  readonly data?: JsonObject
}

/** Word for later runs of the session, durable and taken once; a run under way gets it with its next tool result. */
export interface ToolMail {
  /** What is to be said should this process end before `send`. Call it again at least every minute. `false` once it was delivered. */
  setWill(key: string, word: ToolInboxMessage): Promise<boolean>
  /** Says it. `false` when something was said under `key` before. */
  send(key: string, word: ToolInboxMessage): Promise<boolean>
}

/** One word of a tool to the model. */
export interface ToolInboxMessage {
  /** Dotted name of what it is about, for example `delegation.result`. */
  readonly kind: string
  readonly text: string
  /** The text came from outside. */
  readonly isExternal?: boolean
  /** Where such text came from. Default: not known, and then it taints. */
  readonly sources?: readonly TextSource[]
  /** Plain facts kept with it; no model sees them. */
  readonly data?: JsonObject
}

/** What a tool tells after its call has returned. */
export interface ToolNotice {
  readonly text: string
  /** It holds text from outside, such as what a program wrote: looked through and marked like a result. Default `false`. */
  readonly isExternal?: boolean
  /** Where such text came from. Default: not known, and then it taints. */
  readonly sources?: readonly TextSource[]
}

/** A notice; a text alone is the tool's own words. */
export type Notice = string | ToolNotice

/** What a running call may use. */
export interface ToolContext {
  /** Fires on interrupt; a tool stops soon after and may return what it has. */
  readonly signal: AbortSignal
  readonly sessionId: string
  readonly callId: string
  readonly agentPath: readonly string[]
  /** Whether text from outside has entered the conversation that its source does not clear. Default `false`. */
  readonly isTainted?: boolean
  /** What tainted it, by names for a person. Default none. */
  readonly taintedBy?: readonly string[]
  /** @throws HermesError `tool.no_environment` on access when the agent has none. */
  readonly environment: Environment
  /**
   * Leave for one action; asks a person where the policy says so, unless `mayAsk` is `false`: then that is a denial. Default `true`.
   * @throws HermesError `policy.denied`; let it pass: the model gets the reason as a tool error.
   */
  permit(action: Action, options?: { readonly mayAsk?: boolean }): Promise<Permit>
  /** Shows what the call is doing. Never reaches the model. */
  progress(text: string, about?: ProgressAbout): void
  /**
   * Tells the agent about something after the call has returned: the text rides on the next tool result, or leads the next message.
   * A function is asked just before that, and may answer `null` when there is nothing to tell any more; it must not throw. Missing
   * where nobody would get to read it.
   */
  readonly notify?: ((notice: Notice | (() => Notice | null)) => void) | undefined
  /** Like `notify`, and it outlives the process. Missing where nobody would get to read it. */
  readonly mail?: ToolMail | undefined
  ask(question: Question): Promise<Answer>
  /**
   * The result comes from outside, later: the run ends as parked, and the call is made again when it is resumed. A tool that may park has the
   * effect `read`, since what has begun to write is never repeated. Missing in calls of programs, which cannot wait that long.
   */
  readonly park?: (() => never) | undefined
  /** Fires when the user says something while the call runs, which rides on its result. Missing where nobody can. */
  readonly steered?: AbortSignal | undefined
  readonly state: ToolState
  /** Missing where a call must not call others: in a call that another one made. */
  readonly tools?: ToolCaller | undefined
}

/** The parts of {@link ToolContext} known before a call is permitted. */
export type ToolPlanContext = Pick<ToolContext, 'environment' | 'sessionId' | 'state' | 'isTainted' | 'taintedBy'>

/** A tool: what the model is told, what it may do, and how it is done. */
export interface Tool<Args = unknown> {
  /** `[a-zA-Z0-9_-]`, at most 64 characters. */
  readonly name: string
  readonly toolset: string
  readonly description: string
  /** A Standard Schema that can describe itself as JSON Schema (zod 4 can), or JSON Schema. */
  readonly parameters: StandardSchema<Args> | JsonSchema
  execute(args: Args, context: ToolContext): Promise<ToolResult> | ToolResult
  /** Other names the model may use. */
  readonly aliases?: readonly string[]
  /** `read` changes nothing anywhere. Default `write`: such a call is logged before it runs and never repeated after a crash. */
  readonly effect?: 'read' | 'write'
  /** Of the tool, or of each call by its arguments; then it must not throw. */
  readonly concurrency?: Concurrency | PerCall<Args, Concurrency>
  /** Whether a call is known to change nothing although others of the tool may. Default: `effect` tells of all. Must not throw. */
  onlyLooks?(args: Args): boolean
  /** The absolute paths a call touches; needed for `concurrency: 'path'`. */
  paths?(args: Args, context: ToolPlanContext): readonly string[]
  /** What the call will do, for a decision before it runs. A rejection is the result of the call. */
  actions?(args: Args, context: ToolPlanContext): readonly Action[] | Promise<readonly Action[]>
  /** Why a call was not permitted as the model is told it, where its own words name what the model does not get to know. Default: as it is. */
  denialFor?(reason: string): string | Promise<string>
  /** Whether the tool can work here; asked at most every 30 seconds. A throw counts as no. */
  available?(): boolean | Promise<boolean>
  /** Keep `data` of results in the session's log, so that later calls can build on it. Default `false`: only what the model sees. */
  readonly keepsData?: boolean
  /** Shown beside the call in a terminal. */
  readonly icon?: string
  /** Environment variables the tool needs, for `hermes doctor`. */
  readonly requires?: readonly string[]
  /** All its results are text from outside: files, pages, what programs print. Default `false`: only results that say so. */
  readonly external?: boolean
  /** Where the text of a call's result comes from that does not say so itself. Default: not known, and then it taints. Must not throw. */
  sources?(args: Args, context: ToolPlanContext): readonly TextSource[] | undefined
  /** Whose it is: what its calls do is asked for with the origin `plugin`, and what was not declared is denied. Default: of Hermes. */
  readonly plugin?: ActingPlugin
  /** Longer results are cut head and tail. Default 100,000. */
  readonly maxResultChars?: number
  /** Description with live limits, in place of `description`; read once per session. `names` are the tools shown beside it. */
  describe?(names: readonly string[]): string
  /** A turn that calls nothing but such tools does not count against the limit of steps; at most as many as the limit. */
  readonly refundsStep?: boolean
  /** One line for a person: what this call does. Default: name and first argument. */
  summarize?(args: Args): string
}

/** Tools that come, change and go while sessions run, such as those of a server. All are in the toolset that bears the name of the source. */
export interface ToolSource {
  /** `[a-zA-Z0-9_-]`, at most 64 characters; no built-in toolset has it. */
  readonly name: string
  /** What its tools are for, for the model: one line. */
  readonly description?: string
  /** Whether the tools are found by `tool_search` instead of being defined whole. Default `false`: as long as there is room for them. */
  readonly deferred?: boolean
  /**
   * Whether the person vouches for what it lists. Without that its names, descriptions and results are text from outside: its tools are found
   * by `tool_search` only, and an answer that shows them counts as such text. Default `false`.
   */
  readonly trusted?: boolean
  /**
   * What there is now. Asked once at first and once after each change, however many sessions there are. A rejection, or no answer within 30
   * seconds, leaves what was listed before; `signal` fires then, and when the source is taken back. What cannot be a tool is left out.
   */
  list(signal: AbortSignal): readonly Tool[] | Promise<readonly Tool[]>
  /** Nothing is there before it first says that it changed, so it is not asked before. Default `false`. */
  readonly listsLater?: boolean
  /** Calls `changed` whenever another list would be given, and returns what ends that. Default: the list never changes. */
  onChange?(changed: () => void): () => void
}

/** What depends on the arguments of a call. Written as a method, so that a tool of known arguments is a tool. */
type PerCall<Args, Result> = { of(args: Args): Result }['of']

/** What one call of a tool does: arguments have to fit. */
export function effectOf<Args>({ effect = 'write', onlyLooks }: Tool<Args>, args: Args): 'read' | 'write' {
  return onlyLooks?.(args) ? 'read' : effect
}

/** How one call of a tool may overlap with others: arguments have to fit. */
export function concurrencyOf<Args>({ concurrency = 'exclusive' }: Tool<Args>, args: Args): Concurrency {
  return typeof concurrency === 'function' ? concurrency(args) : concurrency
}

/** Types a tool's `execute` from its schema. */
export function defineTool<Args>(tool: Tool<Args>): Tool<Args> {
  return tool
}
