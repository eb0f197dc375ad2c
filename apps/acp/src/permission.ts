import type { AgentContext, PermissionOption, RequestPermissionRequest } from '@agentclientprotocol/sdk'
import { errorLine, type Logger } from '@hermes/contracts'
import type { ApprovalChoice, ApprovalQuestion } from '@hermes/contracts/policy'
import { fence, textContent } from './tool-view.js'

const OPTIONS: Readonly<Record<ApprovalChoice, Pick<PermissionOption, 'name' | 'kind'>>> = {
  once: { name: 'Allow once', kind: 'allow_once' },
  session: { name: 'Allow for this session', kind: 'allow_always' },
  always: { name: 'Always allow', kind: 'allow_always' },
  deny: { name: 'Reject', kind: 'reject_once' },
}

/** What a lasting yes writes down is said with it. */
function optionOf(choice: ApprovalChoice, { grant }: ApprovalQuestion): PermissionOption {
  const { name, kind } = OPTIONS[choice]
  return { optionId: choice, kind, name: choice === 'always' && grant !== undefined ? `${name}: ${grant}` : name }
}

/** What is asked, and about which call of which session. */
interface PermissionRequest {
  readonly sessionId: string
  readonly toolCallId: string
  readonly question: ApprovalQuestion
}

/** Asks the person at the editor. Anything but a clear yes is a no: a refusal, an unknown option, an error, a client that left. Abort takes the question away. */
export async function askPermission(
  client: AgentContext,
  { sessionId, toolCallId, question }: PermissionRequest,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<ApprovalChoice> {
  const request: RequestPermissionRequest = {
    sessionId,
    toolCall: {
      toolCallId,
      title: question.summary,
      status: 'pending',
      ...(question.action.type === 'spawn' ? { content: [textContent(fence(question.action.command))] } : {}),
    },
    options: question.choices.map((choice) => optionOf(choice, question)),
  }
  try {
    const { outcome } = await client.request('session/request_permission', request, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    })
    if (outcome?.outcome !== 'selected') return 'deny'
    return question.choices.find((choice) => choice === outcome.optionId) ?? 'deny'
  } catch (error) {
    if (!signal.aborted) logger.warn('A permission request failed and counts as a no.', { error: errorLine(error) })
    return 'deny'
  }
}
