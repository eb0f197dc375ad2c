import type { Extension } from '@hermes/contracts/extension'
import type { AgentMemory } from './agent-memory.js'
import { messageMemory, ownWords } from './message-memory.js'

/** Leads each message of the person with what is remembered about it, reminds the model of saving, and hands finished exchanges on. */
export function memoryRecall(memory: AgentMemory): Extension {
  return {
    name: 'memory-recall',
    setup({ hooks }) {
      // A provider has its own limit of time.
      hooks.on('input', (event) => messageMemory(event, event.input, memory), {
        order: 30,
        timeoutMs: Number.POSITIVE_INFINITY,
      })
      hooks.on('run-end', ({ status, text, input, session, clock }) => {
        if (!memory.keep || status !== 'completed' || text.trim() === '' || input === null) return
        const user = ownWords(input)
        if (user.trim() === '') return
        const { id: sessionId, redact } = session
        memory.keep({ sessionId, user: redact(user), assistant: redact(text), atMs: clock.now() })
      })
    },
  }
}
