// What a chat was told from elsewhere stands in its conversation: the model reads it with the next message.

import { basename } from 'node:path'
import type { PlatformTarget } from '@hermes/contracts/platform'
import { type ChatStore, type Outgoing, parseTarget, type SendableMessage, targetOf } from '@hermes/platform'
import type { Storage } from '@hermes/storage'

const KIND = 'chat.mirror'
const MAX_CHARS = 4_000

/** Has the conversations of a chat hear of a message that it was told by somebody else; once, however often it is called. Rejects as the store does. */
export async function mirror(
  message: Pick<SendableMessage, 'key' | 'platform' | 'target' | 'body'>,
  { chats, inbox, sessions }: Pick<Storage, 'inbox' | 'sessions'> & { readonly chats: Pick<ChatStore, 'list'> },
): Promise<void> {
  const { from, text, file, person, isExternal = false } = message.body as unknown as Outgoing
  if (from === undefined) return
  const content = file === undefined ? text : `(the file ${basename(file)})`
  const there = (await chats.list(message.platform)).filter((chat) =>
    isSame(parseTarget(targetOf(chat)), parseTarget(message.target)),
  )
  for (const { sessionId, person: whose } of there) {
    if (sessionId === message.body['sessionId'] || (await sessions.get(sessionId)) === null) continue
    // What a conversation is called is its person's; words of anybody but the owner are text from outside for others.
    const isOthers = person !== undefined && person !== whose
    const isForeign = isOthers && person !== null
    const source = isForeign ? 'a conversation of somebody else' : isOthers ? 'another conversation' : from
    const words = `Sent to this chat from ${source}, not by you:\n${content.slice(0, MAX_CHARS).toWellFormed()}`
    const body = { text: words, ...(isExternal || isForeign ? { origin: 'external' } : {}) }
    await inbox.send({ key: `mirror:${message.key}:${sessionId}`, sessionId, kind: KIND, body })
  }
}

function isSame(one: PlatformTarget, other: PlatformTarget): boolean {
  return one.chatId === other.chatId && one.threadId === other.threadId
}
