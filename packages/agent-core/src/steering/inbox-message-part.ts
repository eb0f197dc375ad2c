import type { TextPart } from '@hermes/contracts/conversation'
import type { InboxMessage } from '@hermes/contracts/store'

/** What an inbox message says to the model. Kept in the inbox message, so that it reads the same whoever delivers it. */
export function inboxMessagePart({ body }: InboxMessage): TextPart & { readonly origin: 'external' | 'reminder' } {
  const text = String(body['text'] ?? '')
  if (body['origin'] !== 'external') return { type: 'text', text, origin: 'reminder' }
  const { sources } = body as Pick<TextPart, 'sources'>
  return { type: 'text', text, origin: 'external', ...(sources ? { sources } : {}) }
}
