import type { TextPart, UserPart } from '@hermes/contracts/conversation'
import type { HookEvent } from '@hermes/contracts/extension'
import type { ReferenceOptions } from './options.js'
import { hasReferences } from './parse.js'

/** What references in a person's own words stand for; nearly always there are none, and nothing is loaded to see that. */
export async function attachments(
  context: HookEvent,
  message: string | readonly UserPart[],
  options: ReferenceOptions,
): Promise<readonly TextPart[]> {
  const texts = (typeof message === 'string' ? [message] : message.flatMap(wordsOf)).filter(hasReferences)
  if (texts.length === 0) return []
  const { attachReferences } = await import('./attach.js')
  return attachReferences(context, texts, options)
}

function wordsOf(part: UserPart): readonly string[] {
  return part.type === 'text' && (part.origin ?? 'user') === 'user' ? [part.text] : []
}
