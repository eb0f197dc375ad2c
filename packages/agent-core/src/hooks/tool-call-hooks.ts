// The points of a tool call, for calls of the model and for calls of programs alike.

import type { JsonObject } from '@hermes/contracts'
import { sourcesOf, type TextPart, type ToolResultPart } from '@hermes/contracts/conversation'
import type { RunEnding, ToolCallEvent, ToolResultEvent } from '@hermes/contracts/extension'
import type { ToolOutcome } from '@hermes/contracts/tool'
import type { RunContext } from '../loop/run-context.js'
import { planContext } from '../permits/plan-context.js'
import type { PermitRequest } from '../permits/request-permit.js'
import { visibleTools } from '../permits/visible-tools.js'
import { cutHeadTail } from '../prompt/layers.js'
import { redactData } from '../session/session.js'
import { around, askGate, transformations } from './dispatch.js'
import { hookEvent, wrappingEvent } from './run-hook-event.js'

const GATE_FAILED = 'A check before this call failed, so it was not run.'
const MAX_RESULT_CHARS = 100_000
const SHOWN_ARGS_CHARS = 300

type Own<Event> = Omit<Event, keyof ReturnType<typeof hookEvent> | 'plan' | 'reply'>

/** What the gates say of a call: its arguments, as they were or changed, or why it is not run. */
type GatedCall =
  | {
      readonly type: 'open'
      readonly args: JsonObject
      readonly note: string | null
      /** Which extension wants a person asked, and why. */
      readonly ask?: NonNullable<PermitRequest['ask']>
    }
  | { readonly type: 'refused'; readonly reason: string }

/** Asks the gates before a call; the first objection counts. A handler that ends the run has that noted. */
export async function gateCall(context: RunContext, call: Own<ToolCallEvent>): Promise<GatedCall> {
  const changes: string[] = []
  let { args, rawArgs } = call
  let ask: PermitRequest['ask']
  const hooks = context.hooks.at('before-tool-call')
  if (hooks.length === 0) return { type: 'open', args, note: null }
  const { callId } = call
  const common = { ...call, reply: replyOf(context), plan: planContext(context) }
  let event = hookEvent(context, { ...common, args: frozen(args), rawArgs }, callId)
  for (const hook of hooks) {
    const verdict = await askGate(hook, 'before-tool-call', event, { type: 'block', reason: GATE_FAILED })
    if (!verdict) continue
    switch (verdict.type) {
      case 'block':
        return { type: 'refused', reason: verdict.reason }
      case 'ask':
        ask ??= { rule: `extension:${hook.owner}`, reason: verdict.reason }
        break
      case 'end-run':
        endRun(context, verdict)
        return { type: 'refused', reason: verdict.reason }
      case 'rewrite': {
        const prepared = await context.registry.prepare(
          { name: call.tool.name, args: verdict.args },
          visibleTools(context),
        )
        if (prepared.type === 'immediate')
          return {
            type: 'refused',
            reason: `${hook.owner} changed the arguments of this call to some that do not fit it, so it was not run.`,
          }
        args = prepared.args as JsonObject
        rawArgs = JSON.stringify(args)
        event = hookEvent(context, { ...common, args: frozen(args), rawArgs }, callId)
        const { owner } = hook
        const data = { callId, extension: owner, reason: verdict.reason, args }
        const { session } = context
        await session.append({
          type: 'note',
          kind: 'hook.rewrite',
          data: redactData(data, session.redact) as JsonObject,
        })
        changes.push(
          `[${owner} changed the arguments of this call (${verdict.reason}): ${cutHeadTail(rawArgs, SHOWN_ARGS_CHARS)}]`,
        )
        break
      }
      default:
        verdict satisfies never
    }
  }
  const note = changes.length === 0 ? null : changes.join('\n')
  return { type: 'open', args, note, ...(ask ? { ask } : {}) }
}

/** Runs a call that has its permits, inside of what stands around it; once. */
export function runWrapped(
  context: RunContext,
  call: Own<ToolCallEvent>,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const hooks = context.hooks.at('tool-execution')
  if (hooks.length === 0) return work()
  const own = { ...call, args: frozen(call.args), reply: replyOf(context), plan: planContext(context) }
  const { tool } = call
  return around(hooks, 'tool-execution', {
    event: (proceed) => wrappingEvent(context, own, { proceed, callId: call.callId }),
    work,
    inPlace: (_, other, result) => inPlaceOf(result ?? notRun(tool), other, tool.maxResultChars),
  })
}

/** What a tool with text from outside would have given counts as such. */
const notRun = ({ external }: ToolCallEvent['tool']): ToolOutcome => ({
  content: [{ type: 'text', text: '', ...(external ? { origin: 'external' as const } : {}) }],
  isError: false,
})

/** A result after the transformers: in its place, and after it. */
export interface ChangedResult {
  readonly outcome: ToolOutcome
  readonly appended: readonly TextPart[]
}

/** Lets the transformers change a result, each seeing what those before it made of it. */
export async function changeResult(context: RunContext, result: Own<ToolResultEvent>): Promise<ChangedResult> {
  const hooks = context.hooks.at('tool-result')
  if (hooks.length === 0) return { outcome: result.outcome, appended: [] }
  let outcome = { ...result.outcome, content: frozen(result.outcome.content) }
  const appended: TextPart[] = []
  let left = result.tool?.maxResultChars ?? MAX_RESULT_CHARS
  const plan = planContext(context)
  const reply = replyOf(context)
  let event = hookEvent(context, { ...result, outcome, plan, reply }, result.callId)
  const eventNow = () => {
    if (event.outcome !== outcome) event = hookEvent(context, { ...result, outcome, plan, reply }, result.callId)
    return event
  }
  for await (const { result: change } of transformations(hooks, 'tool-result', eventNow)) {
    if (change.replace) outcome = frozen(inPlaceOf(outcome, change.replace, result.tool?.maxResultChars))
    for (const part of change.append ?? []) {
      if (left > 0) appended.push({ ...part, text: cutHeadTail(part.text, left) })
      left -= part.text.length
    }
    if (change.end) endRun(context, change.end)
  }
  return { outcome, appended }
}

/** What stands in the place of text from outside counts as such. */
function inPlaceOf(
  { content: before }: ToolOutcome,
  { content, isError }: { readonly content: readonly ToolResultPart[]; readonly isError: boolean },
  maxChars = MAX_RESULT_CHARS,
): ToolOutcome {
  const isOutside = before.some(({ origin }) => origin === 'external')
  const sources = sourcesOf(before)
  const outside = { origin: 'external', ...(sources ? { sources } : {}) } as const
  const kept = content.map((part) => {
    if (part.type !== 'text') return part
    const text = cutHeadTail(part.text, maxChars)
    return isOutside ? { ...part, text, ...outside } : { ...part, text }
  })
  return { content: kept, isError }
}

/** The first ending counts. */
export function endRun({ ending }: RunContext, { code, message }: Omit<RunEnding, 'type'>): void {
  ending.requested ??= { code, message }
}

const replyOf = ({ activity }: RunContext): number => activity.current.modelCalls

/**
 * A copy of plain data that cannot be changed. Handlers change things by what they give back, which is checked and said; one that writes into
 * what it is shown fails.
 */
function frozen<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(frozen)) as T
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, frozen(item)]))) as T
}
