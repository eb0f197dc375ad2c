import type { JsonObject } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Permit } from '@hermes/contracts/policy'
import type { Answer, Question, Tool, ToolContext, ToolMail } from '@hermes/contracts/tool'
import { ParkedApproval } from '../permits/parked-approval.js'
import { requireEnvironment, taintsOf } from '../permits/plan-context.js'
import { requestPermit, takeGranted } from '../permits/request-permit.js'
import { redactData } from '../session/session.js'
import { toolMail } from '../steering/mail.js'
import type { RunContext } from './run-context.js'

/** What a running call may use; `granted` are the permits it was given before it started, `more` is what this call has of its own. */
export function toolContext(
  context: RunContext,
  callId: string,
  granted: Permit[],
  more: Partial<Pick<ToolContext, 'state' | 'progress' | 'tools' | 'ask' | 'park'>> = {},
): ToolContext {
  const { session, subject, signal } = context
  return {
    signal,
    sessionId: session.id,
    callId,
    agentPath: subject.agentPath,
    get isTainted(): boolean {
      return taintsOf(context).length > 0
    },
    get taintedBy(): readonly string[] {
      return taintsOf(context)
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
export function asTool(context: RunContext, { name: toolName, plugin }: Pick<Tool, 'name' | 'plugin'>): RunContext {
  const acting = plugin ? ({ origin: 'plugin', plugin } as const) : {}
  return { ...context, subject: { ...context.subject, toolName, ...acting } }
}

/**
 * Puts a question of a tool to the person.
 * @throws ParkedApproval when the answer comes later.
 */
export async function askUser(context: RunContext, callId: string, question: Question): Promise<Answer> {
  if (!context.ask) return { type: 'unanswered', reason: 'Nobody can answer questions here.' }
  const resume = context.activity.during('waiting', `question: ${question.question}`)
  context.emit({ type: 'question-request', callId, question })
  const answer = await context.ask(question, { signal: context.signal, callId })
  resume()
  if (answer.type === 'parked') throw new ParkedApproval(answer.id)
  const isSecret = question.isSecret === true && answer.type === 'answered'
  context.emit({ type: 'question-resolve', callId, answer: isSecret ? { ...answer, text: '' } : answer })
  return answer
}
