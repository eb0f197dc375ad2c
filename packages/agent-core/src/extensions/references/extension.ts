import type { Extension, InputEvent } from '@hermes/contracts/extension'
import { attachments } from './attachments.js'
import type { ReferenceOptions } from './options.js'

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
