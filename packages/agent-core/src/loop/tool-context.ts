import type { JsonObject } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { Answer, ProgressAbout, Question, Tool, ToolContext, ToolMail } from '@hermes/contracts/tool'
import { ParkedApproval } from '../permits/parked-approval.js'
import { requireEnvironment, taintsOf } from '../permits/plan-context.js'
import { requestPermit, takeGranted } from '../permits/request-permit.js'
import { redactData } from '../session/session.js'
import { toolMail } from '../steering/mail.js'
import type { RunContext } from './run-context.js'

/**
 * What a call looks up when it asks for it. A class: what a getter of an object literal sees is kept by V8 until it next looks through the
 * whole heap, and a getter here sees the run.
 */
class LookedUp implements Pick<ToolContext, 'isTainted' | 'taintedBy' | 'environment' | 'mail' | 'steered'> {
  readonly #context: RunContext
  readonly #isSteered: boolean

  constructor(context: RunContext, isSteered: boolean) {
    this.#context = context
    this.#isSteered = isSteered
  }

  get isTainted(): boolean {
    return this.taintedBy.length > 0
  }

  get taintedBy(): readonly string[] {
    return taintsOf(this.#context)
  }

  get environment(): Environment {
    return requireEnvironment(this.#context)
  }

  get mail(): ToolMail | undefined {
    return toolMail(this.#context)
  }

  get steered(): AbortSignal | undefined {
    return this.#isSteered ? this.#context.steering.steered() : undefined
  }
}

/** What a running call may use; `granted` are the permits it was given before it started, `more` is what this call has of its own. */
export function toolContext(
  context: RunContext,
  callId: string,
  granted: Permit[],
  more: Partial<Pick<ToolContext, 'state' | 'progress' | 'tools' | 'ask' | 'park'>> = {},
): ToolContext {
  const { session, subject, signal } = context
  // What another call waits for has to be waited for.
  return Object.assign(new LookedUp(context, more.tools !== undefined), {
    signal,
    sessionId: session.id,
    callId,
    agentPath: subject.agentPath,
    state: session.state,
    permit: async (action: Action, requested?: { readonly mayAsk?: boolean }) =>
      takeGranted(granted, action) ?? requestPermit(context, callId, action, requested),
    progress: (text: string, { source, data }: ProgressAbout = {}) => {
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
    ask: (question: Question) => askUser(context, callId, question),
    ...more,
  })
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
