import { estimateTokens } from '@hermes/contracts/conversation'
import { isRequest, type Talk } from './region.js'
import { cutToTokens } from './shrink.js'

const HEADING = '## Word for word'
const LARGEST_SHARE = 0.25

/**
 * What no summary may change: the texts to carry, and what the user said in the messages that go, oldest first. When that is more than
 * `maxTokens`, the older ones go; one long message is cut in its middle.
 */
export function wordForWord(
  gone: readonly Talk[],
  { carry, maxTokens }: { readonly carry: readonly string[]; readonly maxTokens: number },
): string {
  const said = saidBy(gone, maxTokens)
  const parts = [
    ...carry,
    ...(said.length === 0
      ? []
      : [`The user said before, oldest first; these were seen to as told above:\n\n${said.join('\n---\n')}`]),
  ]
  return parts.length === 0 ? '' : `${HEADING}\n\n${parts.join('\n\n')}`
}

/** A summary as it was stored, without what {@link wordForWord} put behind it. */
export function summaryBody(stored: string): string {
  const at = stored.lastIndexOf(HEADING)
  return (at < 0 ? stored : stored.slice(0, at)).trim()
}

function saidBy(gone: readonly Talk[], maxTokens: number): string[] {
  const kept: string[] = []
  let left = maxTokens
  for (const talk of gone.toReversed()) {
    const text = cutToTokens(userWords(talk), maxTokens * LARGEST_SHARE)
    if (text === '') continue
    left -= estimateTokens(text)
    if (left < 0) break
    kept.unshift(text)
  }
  return kept
}

/** What a person wrote in a message, also what was added to a result while the agent worked. */
function userWords(talk: Talk): string {
  const { message } = talk
  const isTheirs = isRequest(talk)
  return message.content
    .flatMap((part) => {
      if (part.type !== 'text') return []
      return part.origin === 'steer' || (isTheirs && (part.origin ?? 'user') === 'user') ? [part.text.trim()] : []
    })
    .filter((text) => text !== '')
    .join('\n')
}
