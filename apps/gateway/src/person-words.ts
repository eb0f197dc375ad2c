import type { TextSource } from '@hermes/contracts/conversation'

/** Whose words a request brings; `undefined` for the owner's (`null`). Those of others are text from outside, as they are in chats. */
export function sourcesOf(person: string | null): readonly TextSource[] | undefined {
  return person === null ? undefined : [{ type: 'person', name: `a message of ${person}` }]
}
