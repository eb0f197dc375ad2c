import { estimateTokens } from '@hermes/contracts/conversation'
import { isRequest, type TranscriptEntry } from './region.js'
import { cutToTokens } from './shrink.js'

const HEADING = '## Word for word'
const LARGEST_SHARE = 0.25

/**
 * What no summary may change: the texts to carry, and what the user said in the messages that go, oldest first. When that is more than
 * `maxTokens`, the older ones go, but not the first with `keepFirst`: it says what all of it is for. One long message is cut in its middle.
 */
export function verbatimMessages(
  gone: readonly TranscriptEntry[],
  options: { readonly carry: readonly string[]; readonly maxTokens: number; readonly keepFirst: boolean },
): string {
  const { carry } = options
  const text = userTexts(gone, options)
  const parts = [
    ...carry,
    ...(text.length === 0
      ? []
      : [`The user said before, oldest first; these were seen to as told above:\n\n${text.join('\n---\n')}`]),
  ]
  return parts.length === 0 ? '' : `${HEADING}\n\n${parts.join('\n\n')}`
}

const HEADING_LINE = new RegExp(`^${HEADING}[ \\t]*$`, 'm')

/** A summary as it was stored, without what {@link verbatimMessages} put behind it: that may hold the same line in the user's own words. */
export function summaryBody(stored: string): string {
  const at = stored.search(HEADING_LINE)
  return (at < 0 ? stored : stored.slice(0, at)).trim()
}

/** The words of a summariser without a line that would pass for the beginning of what {@link verbatimMessages} gives. */
export function asBody(written: string): string {
  return written.replace(new RegExp(HEADING_LINE, 'gm'), `#${HEADING}`)
}

function userTexts(
  gone: readonly TranscriptEntry[],
  { maxTokens, keepFirst }: { readonly maxTokens: number; readonly keepFirst: boolean },
): readonly string[] {
  const short = (entry: TranscriptEntry) => cutToTokens(userWords(entry), maxTokens * LARGEST_SHARE)
  const first = keepFirst ? gone.find((entry) => userWords(entry) !== '') : undefined
  const opening = first ? [short(first)] : []
  const kept: string[] = []
  let left = maxTokens - opening.reduce((sum, text) => sum + estimateTokens(text), 0)
  for (const entry of gone.toReversed()) {
    if (entry === first) break
    const text = short(entry)
    if (text === '') continue
    left -= estimateTokens(text)
    if (left < 0) break
    kept.unshift(text)
  }
  return [...opening, ...kept]
}

/** What a person wrote in a message, also what was added to a result while the agent worked. */
function userWords(entry: TranscriptEntry): string {
  const { message } = entry
  const isTheirs = isRequest(entry)
  return message.content
    .flatMap((part) => {
      if (part.type !== 'text') return []
      return part.origin === 'steer' || (isTheirs && (part.origin ?? 'user') === 'user') ? [part.text.trim()] : []
    })
    .filter((text) => text !== '')
    .join('\n')
}
