// Which event of which form of hook file is which point of a run. What has no point here is named, with the reason, when the file is read.
import type { HookName } from '@hermes/contracts/extension'

/** Who wrote down how hooks look: the `hooks` section of config.yaml, Claude Code's settings, Codex' hooks.json. */
export type HookForm = 'hermes' | 'claude' | 'codex'

/** A point of a run that hooks have an event for. */
export type Point = Extract<
  HookName,
  | 'session-start'
  | 'input'
  | 'before-model-call'
  | 'after-model-call'
  | 'before-tool-call'
  | 'approval-request'
  | 'approval-resolve'
  | 'child-started'
  | 'child-ended'
  | 'tool-result'
  | 'answer'
  | 'compaction'
  | 'run-end'
  | 'session-end'
  | RarePoint
>

/** Points that few want to be told of: nothing is registered there where no hook does. Their events are those of config.yaml alone. */
export const RARE_POINTS = [
  ...['stream-start', 'stream-delta', 'stream-end', 'interim-message', 'model-error'],
  ...['before-command', 'before-auxiliary-call', 'after-auxiliary-call', 'chat-message', 'skill-change'],
] as readonly RarePoint[]

/** One of {@link RARE_POINTS}. */
export type RarePoint = Extract<
  HookName,
  | 'stream-start'
  | 'stream-delta'
  | 'stream-end'
  | 'interim-message'
  | 'model-error'
  | 'before-command'
  | 'before-auxiliary-call'
  | 'after-auxiliary-call'
  | 'chat-message'
  | 'skill-change'
>

/** Points at which an answer can keep something from being done, so that one that does not come does too. */
export const GATES: ReadonlySet<Point> = new Set(['before-tool-call', 'before-command', 'before-auxiliary-call'])

/** When, of all times at which a point is reached, an event happens. Default: each time. */
type When = 'begins' | 'root' | 'child' | 'succeeded' | 'failed' | 'run-failed' | 'answered' | 'terminal'

/** An event that happens here. */
export interface EventRow {
  readonly point: Point
  readonly when?: When
  /** What a matcher is compared with. Default: nothing, the event has no matcher. */
  readonly matches?:
    | 'tool'
    | 'source'
    | 'trigger'
    | 'notification'
    | 'agent'
    | 'error'
    | 'reason'
    | 'kind'
    | 'command'
    | 'task'
  /** All that it is ever compared with here; a matcher that fits none of them is named when the file is read. Default: anything. */
  readonly values?: readonly string[]
  /** Whether text on standard output that is no JSON reaches the model. */
  readonly plainText?: boolean
  /** It watches: nothing it says counts but what it tells the person. Default: its answer counts as far as the point can carry it. */
  readonly watches?: boolean
}

type Events = Readonly<Record<string, EventRow>>

/** @see the reference system's shell hooks: snake_case, one table for gates, transformers and observers */
const HERMES: Events = {
  pre_tool_call: { point: 'before-tool-call', matches: 'tool' },
  post_tool_call: { point: 'tool-result', matches: 'tool' },
  transform_tool_result: { point: 'tool-result', matches: 'tool' },
  transform_terminal_output: { point: 'tool-result', when: 'terminal' },
  pre_llm_call: { point: 'input' },
  post_llm_call: { point: 'run-end', when: 'answered', watches: true },
  pre_verify: { point: 'answer' },
  pre_api_request: { point: 'before-model-call', watches: true },
  post_api_request: { point: 'after-model-call', watches: true },
  on_session_start: { point: 'session-start', when: 'begins' },
  on_session_end: { point: 'run-end', watches: true },
  on_session_finalize: { point: 'session-end', watches: true },
  subagent_start: { point: 'child-started', watches: true },
  subagent_stop: { point: 'child-ended', watches: true },
  pre_approval_request: { point: 'approval-request', watches: true },
  post_approval_response: { point: 'approval-resolve', watches: true },
  on_stream_start: { point: 'stream-start', watches: true },
  on_stream_delta: { point: 'stream-delta', matches: 'kind', values: ['text', 'reasoning'], watches: true },
  on_stream_end: { point: 'stream-end', watches: true },
  on_interim_message: { point: 'interim-message', watches: true },
  api_request_error: { point: 'model-error', watches: true },
  pre_command: { point: 'before-command', matches: 'command' },
  pre_auxiliary_call: { point: 'before-auxiliary-call', matches: 'task' },
  post_auxiliary_call: { point: 'after-auxiliary-call', matches: 'task', watches: true },
  pre_gateway_dispatch: { point: 'chat-message' },
  on_skill_lifecycle: { point: 'skill-change', watches: true },
}

const SOURCES = ['startup', 'resume', 'compact']

/** Why a run failed, in the words of Claude Code and Codex, by our codes; `unknown` for every other one. */
export const FAILURES: Readonly<Record<string, string>> = Object.freeze({
  'transport.rate_limit': 'rate_limit',
  'transport.overloaded': 'overloaded',
  'transport.auth': 'authentication_failed',
  'transport.auth_permanent': 'authentication_failed',
  'transport.billing': 'billing_error',
  'transport.server_error': 'server_error',
  'transport.format_error': 'invalid_request',
  'transport.context_overflow': 'invalid_request',
  'transport.payload_too_large': 'invalid_request',
  'transport.model_not_found': 'invalid_request',
})
const ERRORS = [...new Set(Object.values(FAILURES)), 'unknown']

/** @see https://code.claude.com/docs/en/hooks */
const CLAUDE: Events = {
  PreToolUse: { point: 'before-tool-call', matches: 'tool' },
  PostToolUse: { point: 'tool-result', when: 'succeeded', matches: 'tool' },
  PostToolUseFailure: { point: 'tool-result', when: 'failed', matches: 'tool' },
  PermissionRequest: { point: 'approval-request', matches: 'tool' },
  Notification: { point: 'approval-request', matches: 'notification', values: ['permission_prompt'], watches: true },
  UserPromptSubmit: { point: 'input', when: 'root', plainText: true },
  Stop: { point: 'answer', when: 'root' },
  StopFailure: { point: 'run-end', when: 'run-failed', matches: 'error', values: ERRORS, watches: true },
  SubagentStart: { point: 'session-start', when: 'child', matches: 'agent', values: ['general-purpose'] },
  SubagentStop: { point: 'answer', when: 'child', matches: 'agent', values: ['general-purpose'] },
  PreCompact: { point: 'compaction', matches: 'trigger', values: ['manual', 'auto'] },
  SessionStart: { point: 'session-start', when: 'root', matches: 'source', values: SOURCES, plainText: true },
  SessionEnd: { point: 'session-end', when: 'root', matches: 'reason', values: ['other'], watches: true },
}

/** @see https://developers.openai.com/codex/hooks */
const CODEX: Events = {
  PreToolUse: CLAUDE['PreToolUse']!,
  PermissionRequest: CLAUDE['PermissionRequest']!,
  PostToolUse: CLAUDE['PostToolUse']!,
  UserPromptSubmit: CLAUDE['UserPromptSubmit']!,
  SessionStart: CLAUDE['SessionStart']!,
  PreCompact: CLAUDE['PreCompact']!,
  SubagentStart: CLAUDE['SubagentStart']!,
  SubagentStop: CLAUDE['SubagentStop']!,
  Stop: CLAUDE['Stop']!,
  StopFailure: CLAUDE['StopFailure']!,
}

/** The events that happen here, by form and name. */
export const EVENTS: Readonly<Record<HookForm, Events>> = Object.freeze({
  hermes: HERMES,
  claude: CLAUDE,
  codex: CODEX,
})

const NO_POINT = 'Hermes has nothing that happens then'
/** It happens, and nothing tells hooks of it. */
const NO_HOOK = 'no hook runs there'

/** Events that are known and never happen here, with the reason. */
export const WITHOUT_EFFECT: Readonly<Record<HookForm, Readonly<Record<string, string>>>> = Object.freeze({
  hermes: {
    transform_llm_output: 'an answer is shown while it is written, so nothing can change it before',
    on_session_reset: 'a new session is a session of its own: on_session_finalize and on_session_start happen',
    transform_api_error_classification: 'how an error of a model server is read cannot be changed',
    agent_loop_stopped: NO_HOOK,
    gateway_platform_event: NO_HOOK,
    pre_tts_synthesis: NO_POINT,
    pre_transcription: NO_POINT,
    on_room_member_activity: NO_POINT,
    kanban_task_claimed: NO_POINT,
    kanban_task_completed: NO_POINT,
    kanban_task_blocked: NO_POINT,
    on_kanban_worker_spawned: NO_POINT,
    on_kanban_worker_exited: NO_POINT,
    on_kanban_worker_stale_claim: NO_POINT,
    on_kanban_task_updated: NO_POINT,
    on_kanban_dispatch_tick: NO_POINT,
  },
  claude: {
    PostToolBatch: 'calls of one reply are told one by one, by PostToolUse',
    PermissionDenied: 'a refused call is told by PostToolUseFailure',
    UserPromptExpansion: NO_HOOK,
    PostCompact: NO_HOOK,
    Setup: NO_POINT,
    InstructionsLoaded: NO_HOOK,
    ConfigChange: NO_HOOK,
    CwdChanged: NO_HOOK,
    DirectoryAdded: NO_POINT,
    FileChanged: NO_POINT,
    WorktreeCreate: 'worktrees of delegated tasks are made by Hermes itself',
    WorktreeRemove: NO_HOOK,
    Elicitation: NO_HOOK,
    ElicitationResult: NO_HOOK,
    TeammateIdle: NO_POINT,
    TaskCreated: NO_HOOK,
    TaskCompleted: NO_HOOK,
    PreModelSwitch: NO_HOOK,
    PostModelSwitch: NO_HOOK,
    MessageDisplay: NO_HOOK,
  },
  codex: { PostCompact: NO_HOOK, SessionEnd: NO_HOOK, Interrupt: NO_HOOK },
})
