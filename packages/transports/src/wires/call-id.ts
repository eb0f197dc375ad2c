import type { Message } from '@hermes/contracts/conversation'

const ID_CHARS = 16

/**
 * An id for a call whose server gave none, or one that is taken. The same conversation gives the same id; since each id becomes part of
 * the messages that the next one is made from, ids do not come back within a conversation.
 */
export function freshCallId(messages: readonly Message[], index: number, used: ReadonlySet<string>): string {
  // Loaded here and not above, since few servers make it needed and loading it takes milliseconds at each start.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const seed = JSON.stringify([messages.length, messages.slice(-2), index])
  for (let attempt = 0; ; attempt++) {
    const hash = createHash('sha256').update(`${seed}${attempt}`).digest('hex').slice(0, ID_CHARS)
    if (!used.has(`call_${hash}`)) return `call_${hash}`
  }
}
