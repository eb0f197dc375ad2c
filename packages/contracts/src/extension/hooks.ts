import type { Clock } from '../clock.js'
import type { CompactRequest } from '../context.js'
import type {
  Entry,
  Message,
  PromptEntry,
  Sampling,
  TextPart,
  ToolResultPart,
  Usage,
  UserPart,
} from '../conversation.js'
import type { Environment } from '../environment.js'
import type { JsonObject } from '../json.js'
import type { Logger } from '../logger.js'
import type { ModelFinish, ModelRequest, PrefixCache } from '../model.js'
import type { IncomingEdit, IncomingMessage } from '../platform.js'
import type { ActingPlugin, Action, ApprovalOutcome, ApprovalQuestion, Permit } from '../policy.js'
import type { Tool, ToolOutcome, ToolPlanContext, ToolState } from '../tool.js'

/** How one handler stands among the others of its point. */
export interface HookOptions {
  /** Lower ones come first; of the same order the one that was registered first. Default 0. */
  readonly order?: number
  /** How long it may take. Time to wait for a person's approval does not count. Default 30,000; `Infinity` for no limit. */
  readonly timeoutMs?: number
}

/** A point at which extensions look in or step in. */
export type HookName = keyof HookHandlers

/**
 * The points of a run, in the order in which a run comes to them, and those beside runs. Four kinds:
 *
 * - **Observers** (`session-start`, `run-start`, `stream-start`, `stream-delta`, `stream-end`, `model-error`, `after-model-call`, `interim-message`,
 *   `before-action`, `approval-request`, `approval-resolve`, `child-started`, `child-ended`, `run-end`, `session-end`, `after-auxiliary-call`,
 *   `skill-change`) give nothing back. The run waits for them, but for those of streams, `model-error`, `interim-message`, `approval-request` and
 *   `run-end`. One that throws or takes too long is logged and skipped.
 * - **Transformers** (`input`, `model-request`, `compaction`, `tool-result`, `answer`, `rest`, `chat-message`) add or replace. One that throws or
 *   takes too long is logged and skipped.
 * - **Wraps** (`model-execution`, `tool-execution`) stand around what is done, the first one outermost. It is done once, whatever they do: one that
 *   throws, takes too long or does not go on is logged and left out.
 * - **Gates** (`before-model-call`, `before-tool-call`, `before-command`, `before-auxiliary-call`) may object. One that throws or takes too long objects. No objection is no
 *   permission: arguments, policy and rules decide all the same.
 *
 * A point where nothing is registered costs nothing. Abort of the run ends the wait for a handler, which sees it in `signal`: observers and
 * transformers are then left out, so that what is known is stored.
 */
export interface HookHandlers {
  /** An agent begins to work on a session, before its first run does. A change of model begins none. */
  'session-start'(event: SessionStartEvent): void | Promise<void>
  /** A run begins; nothing is stored of it yet. */
  'run-start'(event: HookEvent): void | Promise<void>
  /**
   * The user's message is about to be stored. Handlers run at the same time, since none of them sees what another one adds; the parts are
   * joined in the handlers' order.
   */
  input(event: InputEvent): InputParts | undefined | Promise<InputParts | undefined>
  /** How the model is asked is settled. The conversation and the definitions keep their bytes; what is left out stays as it is, and later ones see it. */
  'model-request'(event: ModelCallEvent): Sampling | undefined | Promise<Sampling | undefined>
  /** The model is about to be called. The request is what it will get; it cannot be changed, so that the prompt prefix keeps its bytes. */
  'before-model-call'(event: ModelCallEvent): RunEnding | undefined | Promise<RunEnding | undefined>
  /**
   * The model is called. A text is the answer where the handler did not go on, and the model is not asked; after that it has no effect, for the
   * answer was shown while it came.
   */
  'model-execution'(event: ModelExecutionEvent): AnswerInPlace | undefined | Promise<AnswerInPlace | undefined>
  /** An answer begins to come. */
  'stream-start'(event: StreamEvent): void | Promise<void>
  /** More of it came. Nothing waits for a handler: what comes while it is at work is one text when it is done. */
  'stream-delta'(event: StreamDeltaEvent): void | Promise<void>
  /** It is there, or does not come any more. After what is thrown away, another one may begin. */
  'stream-end'(event: StreamEndEvent): void | Promise<void>
  /** The endpoint refused, failed or was not reached. Nothing waits for the handlers. */
  'model-error'(event: ModelErrorEvent): void | Promise<void>
  /** The model answered. */
  'after-model-call'(event: ModelAnswerEvent): void | Promise<void>
  /** The model said something beside the tools it calls. Nothing waits for the handlers. */
  'interim-message'(event: InterimMessageEvent): void | Promise<void>
  /** A tool call whose arguments fit its schema is about to ask the policy. */
  'before-tool-call'(event: ToolCallEvent): ToolCallVerdict | undefined | Promise<ToolCallVerdict | undefined>
  /** A tool call has its permits and is run. A result stands in the place of the call's; where the handler did not go on, nothing was run. */
  'tool-execution'(event: ToolExecutionEvent): ResultInPlace | undefined | Promise<ResultInPlace | undefined>
  /** An action has its permit and is about to be done. */
  'before-action'(event: ActionEvent): void | Promise<void>
  /** A person is asked for approval. Nothing waits for the handlers. */
  'approval-request'(event: ApprovalRequestEvent): void | Promise<void>
  /** A question for approval has its answer, or waits no longer. */
  'approval-resolve'(event: ApprovalResolveEvent): void | Promise<void>
  /** A delegated task has its agent. Dispatched for the one that delegated it. */
  'child-started'(event: ChildEvent): void | Promise<void>
  /** A delegated task has ended, and its agent is closed. */
  'child-ended'(event: ChildEndEvent): void | Promise<void>
  /** A tool call has its result, or was refused. */
  'tool-result'(event: ToolResultEvent): ToolResultChange | undefined | Promise<ToolResultChange | undefined>
  /**
   * The model has answered and the run is about to end with that. A handler that gives a text has the model go on: it is the next message,
   * hidden from display. The first such text counts; the limit of steps does too.
   */
  answer(event: AnswerEvent): string | undefined | Promise<string | undefined>
  /**
   * The conversation is about to be summarised. Texts that are returned reach the model verbatim after it. A skip leaves the conversation as it
   * is; after the causes `overflow` and `truncate`, without which no request fits any more, it has no effect.
   */
  compaction(event: CompactionEvent): CompactionChange | undefined | Promise<CompactionChange | undefined>
  /** A run has ended, and its session is free again. */
  'run-end'(event: RunEndEvent): void | Promise<void>
  /**
   * A run has ended and nothing else is in the session, for an agent that a person talks to. A handler may have the session go on in a run of
   * its own, and may take its time: what a person sends meanwhile comes first, and aborts `signal`. The first answer counts.
   */
  rest(event: RestEvent): Rest | undefined | Promise<Rest | undefined>
  /** The agent of a session is closed; the session stays. */
  'session-end'(event: SessionEvent): void | Promise<void>
  /**
   * A person's command is about to be carried out. What ends a run, answers a question, leaves, reads the home anew or takes an objector away is
   * not asked about: `stop`, `approvals`, `exit`, `reload`, `hooks`, `plugins`, `doctor`, and in chats `approve` and `deny`.
   */
  'before-command'(event: CommandEvent): Objection | undefined | Promise<Objection | undefined>
  /** A model is about to be asked for something beside the conversation: a title, a summary, a review. */
  'before-auxiliary-call'(event: AuxiliaryCallEvent): Objection | undefined | Promise<Objection | undefined>
  /** It answered, or failed. */
  'after-auxiliary-call'(event: AuxiliaryAnswerEvent): void | Promise<void>
  /**
   * Something was written or changed in a chat, and nobody has looked yet who may. The first answer counts. Other words are read by the model alone: they
   * are no command and no answer to a question, and who may talk is looked at all the same.
   */
  'chat-message'(event: ChatMessageEvent): ChatMessageVerdict | undefined | Promise<ChatMessageVerdict | undefined>
  /** A skill of the home was written, changed, installed or removed. */
  'skill-change'(event: SkillChangeEvent): void | Promise<void>
}

/** What handlers get beside runs and sessions. */
export type OutsideEvent = Pick<HookEvent, 'signal' | 'clock' | 'logger'>

/** Why something is not done: one line for a person. */
export interface Objection {
  readonly type: 'block'
  readonly reason: string
}

/** At {@link HookHandlers['stream-start']}. */
export interface StreamEvent extends HookEvent {
  readonly messageId: string
}

/** At {@link HookHandlers['stream-delta']}. */
export interface StreamDeltaEvent extends StreamEvent {
  /** `reasoning`: what the model thinks. */
  readonly kind: 'text' | 'reasoning'
  readonly text: string
}

/** At {@link HookHandlers['stream-end']}. */
export interface StreamEndEvent extends StreamEvent {
  /** All words of it. */
  readonly text: string
  /** `false`: it was interrupted, failed, or is thrown away. */
  readonly isWhole: boolean
}

/** At {@link HookHandlers['model-error']}. */
export interface ModelErrorEvent extends HookEvent {
  /** A dotted code and one line for a person. */
  readonly error: { readonly code: string; readonly message: string }
  /** Of this request, from 1. */
  readonly attempt: number
  /** When it is asked again, in milliseconds; `null`: not any more. */
  readonly delayMs: number | null
}

/** At {@link HookHandlers['interim-message']}. */
export interface InterimMessageEvent extends HookEvent {
  readonly messageId: string
  readonly text: string
}

/** At {@link HookHandlers['before-command']}. */
export interface CommandEvent extends OutsideEvent {
  /** Its name, without aliases. */
  readonly command: string
  readonly args: JsonObject
  /** Where it was typed: `cli`, `acp`, `gateway` … */
  readonly platform: string
  readonly user: string
  /** `null` where it was typed in none. */
  readonly sessionId: string | null
}

/** At {@link HookHandlers['before-auxiliary-call']}. */
export interface AuxiliaryCallEvent extends OutsideEvent {
  /** As `auxiliary` of config.yaml calls it. */
  readonly task: string
  readonly model: { readonly provider: string; readonly model: string }
  /** `null` for what belongs to none. */
  readonly sessionId: string | null
  readonly request: Omit<ModelRequest, 'model'>
}

/** At {@link HookHandlers['after-auxiliary-call']}. */
export interface AuxiliaryAnswerEvent extends Omit<AuxiliaryCallEvent, 'request'> {
  /** `null` for one that failed, which `error` says of. */
  readonly usage: Usage | null
  readonly error?: { readonly code: string; readonly message: string }
}

/** At {@link HookHandlers['chat-message']}. */
export interface ChatMessageEvent extends OutsideEvent {
  readonly platform: string
  readonly message: IncomingMessage | IncomingEdit
}

/** `drop`: as if it had not been written. `allow`: as it is; later handlers are not asked. */
export type ChatMessageVerdict =
  | { readonly type: 'drop' }
  | { readonly type: 'rewrite'; readonly text: string }
  | { readonly type: 'allow' }

/** At {@link HookHandlers['skill-change']}. */
export interface SkillChangeEvent extends OutsideEvent {
  /** `delete` and `uninstall` take it away, into an archive where it was one of the home's own. */
  readonly action:
    | 'create'
    | 'edit'
    | 'patch'
    | 'delete'
    | 'write_file'
    | 'remove_file'
    | 'undo'
    | 'restore'
    | 'install'
    | 'uninstall'
  readonly skill: string
  /** Who did it: `person`, `agent`, `look back`, `curator`. */
  readonly by: string
  /** `null` outside of one. */
  readonly sessionId: string | null
}

/** What handlers get that no run belongs to. */
export type SessionEvent = Pick<
  HookEvent,
  'session' | 'agentPath' | 'platform' | 'environment' | 'signal' | 'clock' | 'logger'
>

/** At {@link HookHandlers['session-start']}. */
export interface SessionStartEvent extends SessionEvent {
  /** It has no message yet. */
  readonly isNew: boolean
}

/** At {@link HookHandlers['approval-request']}. */
export interface ApprovalRequestEvent extends HookEvent {
  readonly approvalId: string
  readonly callId: string
  readonly question: ApprovalQuestion
}

/** At {@link HookHandlers['approval-resolve']}. */
export interface ApprovalResolveEvent extends ApprovalRequestEvent {
  /** `parked`: nobody answered in time. */
  readonly outcome: ApprovalOutcome['type']
}

/** At {@link HookHandlers['child-started']}. */
export interface ChildEvent extends Pick<HookEvent, 'signal' | 'clock' | 'logger'> {
  /** Of the agent that delegated the task. */
  readonly agentPath: readonly string[]
  readonly child: {
    /** As lists of tasks show it. */
    readonly id: string
    readonly goal: string
    readonly agentPath: readonly string[]
    /** `null` when it never began. */
    readonly sessionId: string | null
  }
}

/** At {@link HookHandlers['child-ended']}. */
export interface ChildEndEvent extends ChildEvent {
  readonly status: string
  readonly answer: string
  /** Everything the task and those below it used. */
  readonly usage: Usage
}

/** At {@link HookHandlers.rest}. */
export interface RestEvent extends SessionEvent {
  /** Of the run that has ended. After any but `completed` the session does not go on by itself. */
  readonly status: RunEndEvent['status']
  /** Writes a note into the log: no model sees it, and undo leaves it. Rejects as the store does. */
  note(kind: string, data: JsonObject): Promise<void>
}

/** What a session does at rest. */
export interface Rest {
  /** One line for the person. */
  readonly say: string
  /** The next message, hidden from display. Default: it stays at rest. */
  readonly next?: string
}

/** What every handler gets. */
export interface HookEvent {
  readonly runId: string
  readonly session: HookSession
  /** Root agent first. */
  readonly agentPath: readonly string[]
  /** Where the session speaks: `cli`, `oneshot`, `acp`, `gateway`, `embedded` …; a child speaks where its parent does. */
  readonly platform: string
  /** Who answers. */
  readonly model: { readonly provider: string; readonly model: string }
  /** Where tools run commands and open files; `null` for an agent without one. */
  readonly environment: Environment | null
  /** Fires when the run is interrupted. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly logger: Logger
  /** What the handlers of one run share, made on first use. Prefix the key with the name of the extension. */
  perRun<T>(key: string, create: () => T): T
  /** Tells the person something; no model sees it. Default level `warning`. */
  notice(text: string, level?: 'info' | 'warning'): void
  /**
   * The permit for an action of the extension's own. At `before-action` no observer is told of it. Let a rejection pass in a gate: a question
   * that nobody answers in time parks the run.
   * @throws HermesError `policy.denied`; an abort.
   */
  permit(action: Action, options?: PermitOptions): Promise<Permit>
}

/** On whose behalf a handler asks for a permit. */
export interface PermitOptions {
  /** `operator`: the person asked for it in their own words. Default: that of the call, else `model`; rules and taint count as for a call. */
  readonly origin?: 'model' | 'operator' | 'plugin'
  /** With the origin `plugin`: whose code asks. */
  readonly plugin?: ActingPlugin
  /** The tool whose rules count. Default: none. */
  readonly toolName?: string
  /** Whether a person may be asked; else what would be a question is a denial that nobody hears of. Default `true`. */
  readonly mayAsk?: boolean
}

/** A session as extensions see it. */
export interface HookSession {
  readonly id: string
  /** Whether text from outside has entered it that its source does not clear. */
  readonly isTainted: boolean
  /** What tainted it, by names for a person. */
  readonly taintedBy: readonly string[]
  /** The log without what was undone. */
  readonly entries: readonly Entry[]
  /** The conversation as the model sees it. */
  messages(): readonly Message[]
  /** The system text and definitions it began with; `null` before its first request. */
  prompt(): PromptEntry | null
  readonly state: ToolState
  /** Takes registered secrets out of text that goes anywhere but the log. */
  readonly redact: (text: string) => string
}

/** At {@link HookHandlers.input}. */
export interface InputEvent extends HookEvent {
  /** What the person sent: text, or the parts of a message. */
  readonly input: string | readonly UserPart[]
}

/** Parts for the user's message: `origin` says whose words they are, `reminder` and `external` stay hidden from display. */
export interface InputParts {
  readonly before?: readonly UserPart[]
  readonly after?: readonly UserPart[]
}

/** At {@link HookHandlers['before-model-call']}. */
export interface ModelCallEvent extends HookEvent {
  readonly request: Omit<ModelRequest, 'model'>
}

/** At {@link HookHandlers['model-execution']}. */
interface ModelExecutionEvent extends ModelCallEvent {
  /** Goes on: asks the model, or the handlers further in. Asked again it is the same answer. Rejects as the model does. */
  proceed(): Promise<ModelFinish>
}

/** What is answered in the place of the model. */
interface AnswerInPlace {
  readonly text: string
}

/** At {@link HookHandlers['after-model-call']}. */
export interface ModelAnswerEvent extends HookEvent {
  readonly finish: ModelFinish
  /** What the provider keeps of the request; `null` where that is nothing, or no price is known. Never rejects. */
  prefixCache(): Promise<PrefixCache | null>
}

/** Ends the run with status `stopped`. */
export interface RunEnding {
  readonly type: 'end-run'
  /** Dotted code of the error that the run ends with, for example `agent.loop`. */
  readonly code: string
  /** One line for the person. */
  readonly message: string
}

/** At the points of a tool call. */
export interface ToolCallEvent extends HookEvent {
  readonly callId: string
  /** `program`: a program that `execute_code` runs made the call. */
  readonly caller: 'model' | 'program'
  readonly tool: Tool
  readonly args: JsonObject
  /** The arguments as the model wrote them; of a program's call, as JSON. */
  readonly rawArgs: string
  /** Which reply of the model in this run the call is part of, from 1. */
  readonly reply: number
  /** What the parts of a tool that are asked before a call get. */
  readonly plan: ToolPlanContext
}

/** At {@link HookHandlers['tool-execution']}. */
interface ToolExecutionEvent extends ToolCallEvent {
  /** Goes on: runs the call, or the handlers further in. Asked again it is the same result. Rejects with an abort, and for a call that has to wait. */
  proceed(): Promise<ToolOutcome>
}

/** What stands in the place of a result. It keeps its taint, and is cut at the same length. */
interface ResultInPlace {
  readonly content: readonly ToolResultPart[]
  readonly isError: boolean
}

/** An objection to a call, or other arguments for it. Handlers after the first objection are not asked. */
export type ToolCallVerdict =
  /**
   * A person is asked about the call even if the policy would allow it, through the policy's approvals: what nobody can answer is a denial, and
   * what nobody answers in time parks the run. Handlers after it are asked too.
   */
  | { readonly type: 'ask'; readonly reason: string }
  /** The call is not run; `reason` is its result, as an error that the model can act on. */
  | { readonly type: 'block'; readonly reason: string }
  /** The same, and the run ends after the results of this reply. */
  | (RunEnding & { readonly reason: string })
  /**
   * The call runs with these arguments if they fit the schema. The model's message keeps its bytes; log and result say who changed what and
   * why.
   */
  | { readonly type: 'rewrite'; readonly args: JsonObject; readonly reason: string }

/** At {@link HookHandlers['before-action']}. */
export interface ActionEvent extends HookEvent {
  readonly callId: string
  readonly action: Action
  /** Where the turn began in the log: the entry of the user's message; `null` for a run without one. */
  readonly turnSeq: number | null
}

/** At {@link HookHandlers['tool-result']}. */
export interface ToolResultEvent extends HookEvent {
  readonly callId: string
  readonly caller: 'model' | 'program'
  readonly toolName: string
  /** `null` for a name that no tool has, and for arguments that do not fit. */
  readonly tool: Tool | null
  /** Arguments that are no JSON are the text that came. */
  readonly args: JsonObject | string
  readonly outcome: ToolOutcome
  /** The call was never run. */
  readonly isRefused: boolean
  readonly reply: number
  /** In Unix milliseconds. */
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly plan: ToolPlanContext
}

/** What becomes of a result. What stands in its place keeps its taint, is cut at the same length and redacted alike. */
export interface ToolResultChange {
  /** In place of the result so far. */
  readonly replace?: ResultInPlace
  /** After it; the model sees it, the display does not. */
  readonly append?: readonly TextPart[]
  readonly end?: RunEnding
}

/** At {@link HookHandlers.compaction}. */
export interface CompactionEvent
  extends Pick<HookEvent, 'session' | 'agentPath' | 'environment' | 'signal' | 'clock' | 'logger'> {
  readonly cause: CompactRequest['cause']
  /** Nothing is taken out: a person wants to see what would be. */
  readonly isPlan: boolean
}

/** Texts for the model, or that it is not done this time: `reason` is one line for the person. */
export type CompactionChange = readonly string[] | { readonly type: 'skip'; readonly reason: string }

/** At {@link HookHandlers.answer}. */
export interface AnswerEvent extends HookEvent {
  readonly text: string
  /** How often a handler had the model go on in this run already. */
  readonly continued: number
}

/** At {@link HookHandlers['run-end']}. */
export interface RunEndEvent extends HookEvent {
  readonly status: 'completed' | 'interrupted' | 'parked' | 'stopped' | 'failed'
  /** What the person had sent; `null` for a run that was resumed. */
  readonly input: string | readonly UserPart[] | null
  /** The answer. */
  readonly text: string
  readonly usage: Usage
  /** Why the run failed or was stopped: a dotted code, and one line for a person. */
  readonly error?: { readonly code: string; readonly message: string }
}
