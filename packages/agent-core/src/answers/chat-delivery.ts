import { type AssistantMessage, type Message, messageText } from '@hermes/contracts/conversation'
import type { NewOutboxMessage } from '@hermes/contracts/store'
import type { RunContext } from '../loop/run-context.js'
import { unsaidText } from './partial-answer.js'

/**
 * What the chat of the session is told of an answer, as a message of the outbox; none where there is no chat, or nothing is said. Of an answer
 * that a crash cut in two it is told both halves: the first was never sent as a message.
 */
export function chatDelivery(
  { deliverTo, session }: Pick<RunContext, 'deliverTo' | 'session'>,
  message: AssistantMessage,
  messageId: string,
): readonly NewOutboxMessage[] {
  if (deliverTo === null || messageText(message).trim() === '') return []
  const messages = session.messages()
  const text = session.redact(unsaidText(messages) + messageText(message))
  const replyTo = answeredBy(messages)
  const body = { text, messageId, sessionId: session.id, ...(replyTo === undefined ? {} : { replyTo }) }
  return [{ key: `${session.id}:${messageId}`, ...deliverTo, body }]
}

/** The newest message of a person that has an id of the platform. */
function answeredBy(messages: readonly Message[]): string | undefined {
  const last = messages.findLast((message) => message.role === 'user' && message.platformMessageId !== undefined)
  return last?.role === 'user' ? last.platformMessageId : undefined
}
