import type { TextPart, UserPart } from '@hermes/contracts/conversation'
import type { Extension, HookEvent, InputEvent } from '@hermes/contracts/extension'
import type { ReferenceOptions } from './options.js'
import { hasReferences } from './parse.js'

/** Attaches what `@file:`, `@folder:`, `@diff`, `@staged`, `@git:N`, `@url:` and `@session:` in a person's message stand for; a child has no person. */
export function references(options: ReferenceOptions = {}): Extension {
  return {
    name: 'references',
    setup({ hooks }) {
      // Reading pages and files takes as long as it takes; an interrupt ends it.
      const limits = { order: 10, timeoutMs: Number.POSITIVE_INFINITY }
      const after = async (event: InputEvent) => ({ after: await attachments(event, event.input, options) })
      hooks.on('input', (event) => (event.agentPath.length > 1 ? undefined : after(event)), limits)
    },
  }
}

/** What references in a person's own words stand for; nearly always there are none, and nothing is loaded to see that. */
async function attachments(
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
