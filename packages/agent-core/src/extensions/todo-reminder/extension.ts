import type { Extension } from '@hermes/contracts/extension'
import { todoReminder as reminderOf, tasksToCarry } from './todo-reminder.js'

/** Keeps the task list in the model's sight: a line at the end of a result when it was not touched for a while, and verbatim after a summary. */
export function todoReminder(): Extension {
  return {
    name: 'todo-reminder',
    setup({ hooks }) {
      hooks.on(
        'tool-result',
        ({ caller, session, toolName, outcome }) => {
          const text = caller === 'model' ? reminderOf(session.state, { toolName, isError: outcome.isError }) : null
          return text === null ? undefined : { append: [{ type: 'text', origin: 'reminder', text }] }
        },
        { order: 10 },
      )
      hooks.on('compaction', ({ session }) => {
        const tasks = tasksToCarry(session.state)
        return tasks === null ? undefined : [tasks]
      })
    },
  }
}
