import type { JsonObject } from '@hermes/contracts'
import type { Letter } from '@hermes/contracts/store'
import type { ToolMail } from '@hermes/contracts/tool'
import type { AgentParts } from './run-context.js'

/** How a tool leaves word for later runs of the session; `undefined` where none will come, or the store takes no letters. */
export function toolMail({ session, steering, notify }: AgentParts): ToolMail | undefined {
  const { mailbox } = session
  if (!mailbox || !notify) return undefined
  const toLetter = (key: string, { kind, text, isExternal, data }: Parameters<ToolMail['send']>[1]): Letter => {
    const body: JsonObject = { text: session.redact(text), ...(isExternal ? { origin: 'external' } : {}), ...data }
    return { key: `${session.id}:${key}`, sessionId: session.id, kind, body }
  }
  return {
    hold: (key, word) => mailbox.hold(toLetter(key, word)),
    send: async (key, word) => {
      const letter = toLetter(key, word)
      const isDelivered = await mailbox.send(letter)
      // A run under way carries it with its next tool result: nobody else can take it then. Else the next run begins with it.
      if (isDelivered && session.isOpen) steering.announce(letter, () => session.hasTaken(letter.key))
      return isDelivered
    },
  }
}
