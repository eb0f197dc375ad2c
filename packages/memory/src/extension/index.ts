import type { Extension, HookEvent } from '@hermes/contracts/extension'
import type { AgentMemory } from './agent-memory.js'
import { messageMemory, ownWords } from './message-memory.js'

export type { AgentMemory } from './agent-memory.js'

/** Leads each message of the person with what is remembered about it, reminds the model of saving, and hands finished exchanges on. No person speaks to a child. */
export function memoryRecall(memory: AgentMemory): Extension {
  return {
    name: 'memory-recall',
    setup({ hooks }) {
      // A provider has its own limit of time.
      const limits = { order: 30, timeoutMs: Number.POSITIVE_INFINITY }
      hooks.on('input', (event) => (isChild(event) ? undefined : messageMemory(event, event.input, memory)), limits)
      hooks.on('run-end', (event) => {
        const { status, text, input, session, clock } = event
        if (isChild(event) || !memory.keep || status !== 'completed' || text.trim() === '' || input === null) return
        const user = ownWords(input)
        if (user.trim() === '') return
        const { id: sessionId, redact } = session
        memory.keep({ sessionId, user: redact(user), assistant: redact(text), atMs: clock.now() })
      })
    },
  }
}

const isChild = ({ agentPath }: HookEvent) => agentPath.length > 1
