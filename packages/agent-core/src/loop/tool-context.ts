import { HermesError, type JsonObject } from '@hermes/contracts'
import { latestTurnStart } from '@hermes/contracts/conversation'
import type { Environment } from '@hermes/contracts/environment'
import type { Action, ApprovalOutcome, Permit, Policy, Subject } from '@hermes/contracts/policy'
import type { Answer, Question, Tool, ToolContext, ToolMail, ToolPlanContext } from '@hermes/contracts/tool'
import { observe } from '../hooks/dispatch.js'
import { hookEvent } from '../hooks/run-hook-event.js'
import { noteApproval } from '../permits/approval-notes.js'
import { ParkedApproval } from '../permits/parked-approval.js'
import { redactData } from '../session/session.js'
import { toolMail } from '../steering/mail.js'
import type { RunContext } from './run-context.js'

/** What a call may use while it is being planned. */
export function planContext(context: RunContext): ToolPlanContext {
  const { session } = context
  return {
    sessionId: session.id,
    state: session.state,
    get isTainted(): boolean {
      return isTainted(context)
    },
    get environment(): Environment {
      return requireEnvironment(context)
    },
  }
}

/** What a running call may use; `granted` are the permits it was given before it started, `more` is what this call has of its own. */
export function toolContext(
  context: RunContext,
  callId: string,
  granted: Permit[],
  more: Partial<Pick<ToolContext, 'state' | 'progress' | 'tools'>> = {},
): ToolContext {
  const { session, subject, signal } = context
  return {
    signal,
    sessionId: session.id,
    callId,
    agentPath: subject.agentPath,
    get isTainted(): boolean {
      return isTainted(context)
    },
    state: session.state,
    get environment(): Environment {
      return requireEnvironment(context)
    },
    permit: async (action, requested) =>
      takeGranted(granted, action) ?? requestPermit(context, callId, action, requested),
    progress: (text, { source, data } = {}) => {
      context.activity.progress()
      context.emit({
        type: 'tool-progress',
        callId,
        text: session.redact(text),
        ...(source === undefined ? {} : { source }),
        ...(data === undefined ? {} : { data: redactData(data, session.redact) as JsonObject }),
      })
    },
    ...(context.notify ? { notify: context.notify } : {}),
    get mail(): ToolMail | undefined {
      return toolMail(context)
    },
    ask: (question) => askUser(context, callId, question),
    // What another call waits for has to be waited for.
    get steered(): AbortSignal | undefined {
      return more.tools && context.steering.steered()
    },
    ...more,
  }
}

/** The run as one of its tools sees it: rules of the policy may name the tool that asks. */
export function asTool(context: RunContext, toolName: string): RunContext {
  return { ...context, subject: { ...context.subject, toolName } }
}

function requireEnvironment(context: RunContext): Environment {
  if (context.environment) return context.environment
  throw new HermesError('This agent has no environment to run commands or open files in.', {
    code: 'tool.no_environment',
  })
}

function takeGranted(granted: Permit[], action: Action): Permit | null {
  const key = JSON.stringify(action)
  const at = granted.findIndex((permit) => JSON.stringify(permit.action) === key)
  return at < 0 ? null : granted.splice(at, 1)[0]!
}

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
  const actions = tool.actions?.(args, planContext(context)) ?? []
  const about: readonly Action[] = ask && actions.length === 0 ? [{ type: 'send', target: tool.name }] : actions
  const permits: Permit[] = []
  for (const [index, action] of about.entries()) {
    const request = ask && index === 0 ? { ask } : {}
    permits.push(await requestPermit(context, callId, action, request))
  }
  return permits
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
  const subject = { ...context.subject, ...placeOf(context, action), tainted: isTainted(context) }
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

/** Where isolated commands may write. Tools write there too without a question, and commands inside are held to it. */
function placeOf({ environment }: RunContext, action: Action): Pick<Subject, 'workspace' | 'writable'> {
  const { root, capabilities } = environment ?? {}
  const isConfined = action.type === 'write' || (action.type === 'spawn' && !action.outside)
  const writable = isConfined && capabilities?.outside ? capabilities.writable : undefined
  return { ...(root === undefined ? {} : { workspace: root }), ...(writable ? { writable } : {}) }
}

function isTainted({ session, tainted = false }: RunContext): boolean {
  return session.isTainted || tainted
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

async function askUser(context: RunContext, callId: string, question: Question): Promise<Answer> {
  if (!context.ask) return { type: 'unanswered', reason: 'Nobody can answer questions here.' }
  const resume = context.activity.during('waiting', `question: ${question.question}`)
  context.emit({ type: 'question-request', callId, question })
  const answer = await context.ask(question, { signal: context.signal })
  resume()
  const isSecret = question.isSecret === true && answer.type === 'answered'
  context.emit({ type: 'question-resolve', callId, answer: isSecret ? { ...answer, text: '' } : answer })
  return answer
}
