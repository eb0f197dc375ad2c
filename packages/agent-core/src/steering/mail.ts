import type { JsonObject } from '@hermes/contracts'
import type { InboxMessage } from '@hermes/contracts/store'
import type { ToolMail } from '@hermes/contracts/tool'
import type { AgentParts } from '../loop/run-context.js'

/** How a tool leaves word for later runs of the session; `undefined` where none will come, or the store takes no inbox messages. */
export function toolMail({ session, steering, notify }: AgentParts): ToolMail | undefined {
  const { inbox } = session
  if (!inbox || !notify) return undefined
  const toInboxMessage = (
    key: string,
    { kind, text, isExternal, sources, data }: Parameters<ToolMail['send']>[1],
  ): InboxMessage => {
    const outside = isExternal ? { origin: 'external', ...(sources ? { sources: sources as never } : {}) } : {}
    const body: JsonObject = { text: session.redact(text), ...outside, ...data }
    return { key: `${session.id}:${key}`, sessionId: session.id, kind, body }
  }
  return {
    setWill: (key, word) => inbox.setWill(toInboxMessage(key, word)),
    send: async (key, word) => {
      const inboxMessage = toInboxMessage(key, word)
      const isDelivered = await inbox.send(inboxMessage)
      // A run under way carries it with its next tool result: nobody else can take it then. Else the next run begins with it.
      if (isDelivered && session.isOpen) steering.announce(inboxMessage, () => session.hasTaken(inboxMessage.key))
      return isDelivered
    },
  }
}
