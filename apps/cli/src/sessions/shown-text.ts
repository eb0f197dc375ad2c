import { type Message, messageText } from '@hermes/contracts/conversation'

/** What a person said in a message and what they handed over with it, such as piped input. */
export function shownText(message: Message): string {
  if (message.role !== 'user') return messageText(message)
  return message.content
    .map((part) =>
      part.type === 'text' && ((part.origin ?? 'user') === 'user' || part.withFencedInput) ? part.text : '',
    )
    .join('')
}
