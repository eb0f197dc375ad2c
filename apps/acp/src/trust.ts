import { randomUUID } from 'node:crypto'
import type { AgentContext } from '@agentclientprotocol/sdk'
import { errorLine, isAbort, type Logger } from '@hermes/contracts'
import { type Runtime, trustQuestion } from '@hermes/runtime'
import { askQuestion } from './question.js'
import { textContent } from './tool-view.js'

const [TRUST, DECLINE] = ['Trust this project', 'Not now']

/** How the editor can be asked. */
interface TrustRequest {
  readonly sessionId: string
  readonly cwd: string
  /** Whether the editor shows forms; else the question is put as one for a permission. */
  readonly hasForms: boolean
  readonly trust: Runtime['trust']
}

/**
 * Asks the person at the editor about the project of a session, as the terminal does; the answer is kept until what the project brings is another
 * one. Without an answer nothing is kept, and the project counts as not trusted. Abort takes the question away.
 */
export async function askForTrust(
  client: AgentContext,
  { sessionId, cwd, hasForms, trust }: TrustRequest,
  options: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  try {
    const cover = await trust.look(cwd)
    const question = trustQuestion(cover)
    if (question === null) return
    const answer = hasForms
      ? await askByForm(client, { sessionId, question }, options)
      : await askByPermission(client, { sessionId, question }, options)
    if (answer !== null && !options.signal.aborted) await trust.answer(cover.folder, answer)
  } catch (error) {
    if (!isAbort(error)) options.logger.warn('Nobody was asked about the project.', { error: errorLine(error) })
  }
}

interface TrustForm {
  readonly sessionId: string
  readonly question: string
}
type AskOptions = Parameters<typeof askForTrust>[2]

async function askByForm(client: AgentContext, { sessionId, question }: TrustForm, options: AskOptions) {
  const form = { question, choices: [TRUST, DECLINE], allowFreeText: false }
  const answer = await askQuestion(client, { sessionId, question: form }, options)
  return answer.type === 'answered' ? answer.text === TRUST : null
}

async function askByPermission(
  client: AgentContext,
  { sessionId, question }: TrustForm,
  { signal }: AskOptions,
): Promise<boolean | null> {
  const [title = '', ...rest] = question.split('\n')
  const request = {
    sessionId,
    toolCall: {
      toolCallId: `trust-${randomUUID()}`,
      title,
      kind: 'other',
      status: 'pending',
      content: [textContent(rest.join('\n'))],
    },
    options: [
      { optionId: 'trust', name: TRUST, kind: 'allow_always' },
      { optionId: 'decline', name: DECLINE, kind: 'reject_once' },
    ],
  } as const
  const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true }
  const { outcome } = await client.request('session/request_permission', request as never, waiting)
  return outcome?.outcome === 'selected' ? outcome.optionId === 'trust' : null
}
