import type { UserPart } from '@hermes/contracts/conversation'
import type { Extension, HookEvent, InputEvent } from '@hermes/contracts/extension'
import type { ReferenceOptions } from './options.js'
import { hasReferences } from './parse.js'

/**
 * Attaches what `@file:`, `@folder:`, `@diff`, `@staged`, `@git:N`, `@url:` and `@session:` in a person's message stand for, and tells a model
 * that does not see what the images of the message show, and the person what it does not take; a child has no person.
 */
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
): Promise<readonly UserPart[]> {
  const words = typeof message === 'string' ? [message] : message.flatMap(wordsOf)
  const images = typeof message === 'string' ? [] : message.filter((part) => part.type === 'image')
  const texts = words.filter(hasReferences)
  if (typeof message !== 'string') await tellUntaken(context, message, options)
  return [
    ...(images.length === 0
      ? []
      : await (await import('./images.js')).tellImages(context, images, { ...options, about: words.join('\n') })),
    ...(texts.length === 0 ? [] : await (await import('./attach.js')).attachReferences(context, texts, options)),
  ]
}

/** In their place the model has a line that says so. */
async function tellUntaken(
  context: HookEvent,
  parts: readonly UserPart[],
  { takes }: Pick<ReferenceOptions, 'takes'>,
): Promise<void> {
  for (const part of parts) {
    if ((part.type !== 'audio' && part.type !== 'file') || !takes || (await takes(context, part))) continue
    const name = part.name ?? (part.type === 'audio' ? 'the recording' : 'the file')
    context.notice(
      `${context.model.model} does not take ${name} (${part.mediaType}); it is told that something was left out.`,
    )
  }
}

function wordsOf(part: UserPart): readonly string[] {
  return part.type === 'text' && (part.origin ?? 'user') === 'user' ? [part.text] : []
}
