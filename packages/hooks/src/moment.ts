// A point of a run as hooks are told of it: who it is about, what a matcher sees, and the JSON that goes to standard input.
import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { HookDeclaration } from './declarations.js'
import { isOnly } from './declarations.js'
import type { EventRow, HookForm, Point } from './event-table.js'
import { callFor, namesOfTool, textsOf } from './tool-names.js'

/** Who is asked about calls: `bypassPermissions` where nobody is. */
export type PermissionMode = 'default' | 'plan' | 'bypassPermissions'

/** The type that subagents of other agents are told apart by; ours have none. */
export const AGENT_TYPE = 'general-purpose'

/** What happens now. */
export interface Moment {
  readonly point: Point
  readonly sessionId: string
  readonly platform: string
  readonly agentPath: readonly string[]
  /** Where the session works. Absolute. */
  readonly cwd: string
  /** Of a run; empty outside of one. */
  readonly runId: string
  readonly model: string
  readonly permissionMode: PermissionMode
  readonly call?: {
    readonly id: string
    readonly toolName: string
    readonly args: JsonObject
    readonly result?: { readonly text: string; readonly isError: boolean; readonly durationMs: number }
  }
  /** What matchers other than those of tools see. */
  readonly matched?: Readonly<Partial<Record<NonNullable<EventRow['matches']>, string>>>
  /** How a run ended; of `run-end` alone. */
  readonly status?: string
  /** Fields of the forms that are one thing by two names, and those of one form alone. */
  readonly fields?: Readonly<Partial<Record<HookForm | 'all', JsonObject>>>
}

/** Whether a hook is to run now. */
export function isMeant({ row, form, matcher, only, event }: HookDeclaration, moment: Moment): boolean {
  if (row.point !== moment.point || !isTime(row, moment)) return false
  const { call } = moment
  if (only !== null && !(call && isOnly(only, namesOfTool(form, call.toolName), textsOf(call.args)))) return false
  if (event === 'transform_terminal_output') return true
  // What a model thinks is told to those who say so.
  if (matcher === null && row.matches === 'kind') return moment.matched?.kind === 'text'
  if (matcher === null || row.matches === undefined) return true
  if (row.matches === 'tool')
    return call !== undefined && namesOfTool(form, call.toolName).some((name) => matcher.test(name))
  return matcher.test(moment.matched?.[row.matches] ?? '')
}

function isTime({ when }: EventRow, { agentPath, call, status, fields, matched }: Moment): boolean {
  switch (when) {
    case undefined:
      return true
    case 'root':
      return agentPath.length <= 1
    case 'child':
      return agentPath.length > 1
    case 'succeeded':
      return call?.result?.isError === false
    case 'failed':
      return call?.result?.isError === true
    case 'run-failed':
      return status === 'failed' || status === 'stopped'
    case 'answered':
      return status === 'completed' && fields?.hermes !== undefined
    case 'begins':
      return matched?.source !== 'compact'
    case 'terminal':
      return call?.toolName === 'terminal'
    default:
      return when satisfies never
  }
}

/**
 * What a hook or a webhook is told, as text without secrets: each text by itself, for JSON writes some signs in another way, and the whole, for
 * some secrets are known by the name before them.
 */
export function textFor(value: JsonObject, redact: (text: string) => string): string {
  return redact(JSON.stringify(value, (_, one: unknown) => (typeof one === 'string' ? redact(one) : one)))
}

/** The JSON for a hook's standard input. `profile` is the name of the home. */
export function inputFor({ form, event }: HookDeclaration, moment: Moment, profile: string): JsonObject {
  const { sessionId, cwd, call, model, runId, platform, agentPath, fields } = moment
  const named = call ? callFor(form, call.toolName, call.args, cwd) : null
  const agent: JsonObject = agentPath.length > 1 ? { agent_id: agentPath.join('/'), agent_type: AGENT_TYPE } : {}
  const own = { ...agent, ...fields?.all, ...fields?.[form] }
  if (form === 'hermes') {
    const extra = {
      ...{ platform, model, turn_id: runId },
      ...(call ? { tool_call_id: call.id } : {}),
      ...(call?.result
        ? { result: call.result.text, is_error: call.result.isError, duration_ms: call.result.durationMs }
        : {}),
      ...own,
    }
    return {
      hook_event_name: event,
      tool_name: named?.name ?? null,
      tool_input: named?.input ?? null,
      session_id: sessionId,
      cwd,
      profile,
      extra,
    }
  }
  return {
    session_id: sessionId,
    // There is no file of the conversation: the store has it.
    transcript_path: form === 'codex' ? null : '',
    cwd,
    hook_event_name: event,
    permission_mode: moment.permissionMode,
    ...(form === 'codex' ? { model, turn_id: runId } : {}),
    ...(named ? { tool_name: named.name, tool_input: named.input, tool_use_id: call!.id } : {}),
    ...(call?.result ? resultFields(event, call.toolName, call.result) : {}),
    ...own,
  }
}

function resultFields(
  event: string,
  toolName: string,
  { text, isError, durationMs }: NonNullable<NonNullable<Moment['call']>['result']>,
): JsonObject {
  if (event === 'PostToolUseFailure') return { error: text, is_interrupt: false, duration_ms: durationMs }
  const response: JsonValue =
    toolName === 'terminal'
      ? { stdout: text, stderr: '', interrupted: false, isImage: false }
      : { content: [{ type: 'text', text }], success: !isError }
  return { tool_response: response, duration_ms: durationMs }
}
