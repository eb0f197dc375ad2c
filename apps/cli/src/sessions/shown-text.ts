import type { Message } from '@hermes/contracts/conversation'

/** What a person said in a message and what they handed over with it, such as piped input. */
export function shownText(message: Message): string {
  if (message.role !== 'user') return repliesWithNotes(message)
  return message.content
    .map((part) =>
      part.type === 'text' && ((part.origin ?? 'user') === 'user' || part.withFencedInput) ? part.text : '',
    )
    .join('')
}

/** What was added to a result, such as a word of the person to the run, stands on a line of its own. */
function repliesWithNotes({ content }: Message): string {
  return content.reduce((shown, part) => {
    if (part.type !== 'text') return shown
    const isAdded = part.origin === 'steer' || part.origin === 'reminder'
    return isAdded && shown !== '' && !shown.endsWith('\n') ? `${shown}\n${part.text}` : shown + part.text
  }, '')
}
