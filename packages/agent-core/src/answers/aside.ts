import { latestPrompt, messageText, project, type Sampling, userText } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import { askModel } from '@hermes/models'
import type { SessionLog } from '../session/session.js'

const ASIDE =
  '[A question beside the work, answered from this copy of the conversation; neither it nor your answer stays in it. Answer in words: tools cannot be used.]'

interface AsideParts {
  readonly model: ModelClient
  readonly session: SessionLog
  readonly sampling: Sampling
}

/**
 * Asks the session's own model with the prefix it has cached already, and keeps nothing. Rejects as the model does; abort ends it.
 */
export async function askAside(
  { model, session, sampling }: AsideParts,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const entries = await session.look()
  const request = {
    ...sampling,
    messages: [...project(entries), userText(`${ASIDE}\n\n${session.redact(question)}`)],
    tools: latestPrompt(entries)?.tools ?? [],
    toolChoice: 'none',
  } as const
  const { message } = await askModel(model, request, { purpose: 'aside', sessionId: session.id, signal })
  return messageText(message).trim()
}
