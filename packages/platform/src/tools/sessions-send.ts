import { defineTool } from '@hermes/contracts/tool'
import type { PlatformToolServices } from './send-message.js'

const MAX_CHARS = 20_000

const parameters = {
  type: 'object',
  properties: {
    session: { type: 'string', description: 'Id or title of the other session' },
    message: { type: 'string' },
  },
  required: ['session', 'message'],
} as const

/** Writes to another session of the same person. */
export const createSessionsSendTool = ({ messaging }: PlatformToolServices) =>
  defineTool<{ readonly session: string; readonly message: string }>({
    name: 'sessions_send',
    toolset: 'messaging',
    description:
      'Write to another session of the same person, such as the one of a chat or a terminal. It reads that now where a gateway has it, else with its next message; its answer comes with one of your next messages.',
    parameters,
    effect: 'write',
    concurrency: 'exclusive',
    icon: '📨',
    available: () => messaging !== null,
    summarize: ({ session, message }) => `write to session ${session}: ${message}`,
    actions: ({ session }) => [{ type: 'send', target: `session:${session.trim()}`, chosen: 'acts' }],
    async execute({ session, message }, { sessionId, callId, isTainted = false }) {
      if (!messaging) return { text: 'No chat platform is set up here.', isError: true }
      if (message.trim() === '' || message.length > MAX_CHARS)
        return { text: `message has to have 1 to ${MAX_CHARS} characters.`, isError: true }
      const sent = await messaging.sendToSession({
        ...{ key: `sessions_send:${sessionId}:${callId}`, from: sessionId, to: session, isExternal: isTainted },
        text: messaging.redact(message),
      })
      const when = sent.wakes ? 'A gateway that runs has it read that now.' : 'It reads that with its next message.'
      return { text: `Written to ${sent.sessionId}. ${when}`, data: { session: sent.sessionId, wakes: sent.wakes } }
    },
  })
