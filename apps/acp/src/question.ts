import type { AgentContext, CreateElicitationRequest, CreateElicitationResponse } from '@agentclientprotocol/sdk'
import { errorLine, type Logger } from '@hermes/contracts'
import type { Answer, Question } from '@hermes/contracts/tool'

/** Puts a question to the person at the editor as a form: a choice, own words, or either. Abort leaves it unanswered. */
export async function askQuestion(
  client: AgentContext,
  requested: { readonly sessionId: string; readonly question: Question },
  options: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<Answer> {
  if (requested.question.isSecret) return { type: 'unanswered', reason: 'The editor would show what is typed.' }
  const waiting = { cancellationSignal: options.signal, stopWaitingOnCancel: true }
  try {
    return toAnswer(
      await client.request('elicitation/create', toForm(requested.sessionId, requested.question), waiting),
    )
  } catch (error) {
    options.logger.warn('A question to the user failed.', { error: errorLine(error) })
    return { type: 'unanswered', reason: 'The editor could not ask the user.' }
  }
}

function toForm(sessionId: string, { question, choices, allowFreeText }: Question): CreateElicitationRequest {
  const properties = {
    ...(choices.length === 0 ? {} : { choice: { type: 'string', title: 'Answer', enum: [...choices] } }),
    ...(allowFreeText ? { text: { type: 'string', title: choices.length === 0 ? 'Answer' : 'Or in your words' } } : {}),
  } as const
  const [only, ...others] = Object.keys(properties)
  const required = only !== undefined && others.length === 0 ? { required: [only] } : {}
  return { mode: 'form', sessionId, message: question, requestedSchema: { type: 'object', properties, ...required } }
}

function toAnswer(response: CreateElicitationResponse): Answer {
  if (response.action === 'accept') {
    const { text, choice } = (response.content ?? {}) as { readonly text?: unknown; readonly choice?: unknown }
    const input = [text, choice].find((value) => typeof value === 'string' && value.trim() !== '')
    if (input !== undefined) return { type: 'answered', text: String(input).trim() }
  }
  return { type: 'unanswered', reason: 'The user did not answer.' }
}
