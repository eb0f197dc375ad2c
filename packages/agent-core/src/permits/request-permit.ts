import { HermesError, type JsonObject } from '@hermes/contracts'
import { latestTurnStart } from '@hermes/contracts/conversation'
import type { Action, ApprovalOutcome, Permit, Policy, Subject } from '@hermes/contracts/policy'
import type { Tool } from '@hermes/contracts/tool'
import { observe } from '../hooks/dispatch.js'
import { hookEvent } from '../hooks/run-hook-event.js'
import type { RunContext } from '../loop/run-context.js'
import { noteApproval } from './approval-notes.js'
import { ParkedApproval } from './parked-approval.js'
import { planContext, taintsOf } from './plan-context.js'

/** How a permit is asked for. */
export type PermitRequest = Pick<NonNullable<Parameters<Policy['decide']>[2]>, 'mayAsk' | 'ask'>

/** The permits a call needs before it runs. What an extension wants a person asked about is its first action, else the call itself. */
export async function permitsOf(
  context: RunContext,
  callId: string,
  {
    tool,
    args,
    ask,
  }: { readonly tool: Tool; readonly args: JsonObject; readonly ask?: PermitRequest['ask'] | undefined },
): Promise<Permit[]> {
  const actions = (await tool.actions?.(args, planContext(context))) ?? []
  const about: readonly Action[] = ask && actions.length === 0 ? [{ type: 'send', target: tool.name }] : actions
  const permits: Permit[] = []
  for (const [index, action] of about.entries()) {
    const request = ask && index === 0 ? { ask } : {}
    permits.push(await requestPermit(context, callId, action, request).catch((error: unknown) => refuse(tool, error)))
  }
  return permits
}

async function refuse({ denialFor }: Tool, error: unknown): Promise<never> {
  if (!denialFor || !HermesError.isInstance(error) || error.code !== 'policy.denied') throw error
  throw new HermesError(await denialFor(error.message), { code: error.code, details: error.details, cause: error })
}

/** Takes the permit for an action out of those that were given before; `null` when none fits. */
export function takeGranted(granted: Permit[], action: Action): Permit | null {
  const key = JSON.stringify(action)
  const at = granted.findIndex((permit) => JSON.stringify(permit.action) === key)
  return at < 0 ? null : granted.splice(at, 1)[0]!
}

/**
 * Asks the policy, and a person where the policy says so.
 * @throws HermesError `policy.denied` with the reason; ParkedApproval when nobody answered in time.
 */
export async function requestPermit(
  context: RunContext,
  callId: string,
  action: Action,
  requested: PermitRequest = {},
): Promise<Permit> {
  const permit = await decide(context, callId, action, requested)
  const observers = context.hooks.at('before-action')
  if (observers.length > 0) {
    const turnSeq = latestTurnStart(context.session.entries)
    // What an observer asks for itself is no action of the agent to observe.
    const quiet = { ...context, requestPermit: decide }
    await observe(observers, 'before-action', hookEvent(quiet, { callId, action, turnSeq }, callId))
    context.signal.throwIfAborted()
  }
  return permit
}

async function decide(
  context: RunContext,
  callId: string,
  action: Action,
  requested: PermitRequest = {},
): Promise<Permit> {
  const { policy, signal } = context
  const subject = { ...context.subject, ...placeOf(context, action), ...taintOf(context) }
  const decision = await failClosed(policy.decide(action, subject, { signal, ...requested }), signal)
  switch (decision.type) {
    case 'allow':
      if (decision.note !== undefined)
        noteApproval(context.session.state, callId, { type: 'other', note: decision.note })
      return decision.permit
    case 'deny':
      throw denied(decision.rule, decision.reason)
    case 'ask':
      break
    default:
      decision satisfies never
  }
  const { approvalId, question } = decision
  const resume = context.activity.during('waiting', `approval: ${question.summary}`)
  context.emit({ type: 'approval-request', approvalId, callId, question })
  const request = { approvalId, callId, question }
  void observe(context.hooks.at('approval-request'), 'approval-request', hookEvent(context, request, callId))
  const outcome = await failClosed<ApprovalOutcome>(policy.settled(approvalId, { signal }), signal)
  resume()
  context.emit({ type: 'approval-resolve', approvalId, outcome: outcome.type })
  const answered = hookEvent(context, { ...request, outcome: outcome.type }, callId)
  await observe(context.hooks.at('approval-resolve'), 'approval-resolve', answered)
  switch (outcome.type) {
    case 'allow':
      noteApproval(context.session.state, callId, { type: 'user', choice: outcome.choice })
      return outcome.permit
    case 'deny':
      throw denied(outcome.rule, outcome.reason)
    case 'parked':
      throw new ParkedApproval(outcome.approvalId)
    default:
      return outcome satisfies never
  }
}

/** Whether text from outside is in the conversation, and which. */
function taintOf(context: RunContext): Pick<Subject, 'tainted' | 'taintedBy'> {
  const taintedBy = taintsOf(context)
  return taintedBy.length === 0 ? { tainted: false } : { tainted: true, taintedBy }
}

/** Where isolated commands may write. Tools write there too without a question, and commands inside are held to it. */
function placeOf({ environment }: RunContext, action: Action): Pick<Subject, 'workspace' | 'writable'> {
  const { root, capabilities } = environment ?? {}
  const isConfined = action.type === 'write' || (action.type === 'spawn' && !action.outside)
  const writable = isConfined && capabilities?.outside ? capabilities.writable : undefined
  return { ...(root === undefined ? {} : { workspace: root }), ...(writable ? { writable } : {}) }
}

async function failClosed<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (signal.aborted) throw error
    throw new HermesError('The policy could not decide about this action, so it was not done.', {
      code: 'policy.denied',
      cause: error,
    })
  }
}

function denied(rule: string, reason: string): HermesError {
  return new HermesError(`Not permitted (${rule}): ${reason}`, { code: 'policy.denied', details: { rule } })
}
