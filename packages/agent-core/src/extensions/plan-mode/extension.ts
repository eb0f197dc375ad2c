import type { Extension } from '@hermes/contracts/extension'
import { acceptedTodos, isPlanning, planRefusal } from './plan-mode.js'

/** While a session plans, refuses calls that could change something, those of programs too. An accepted plan is the task list. */
export function planMode(): Extension {
  return {
    name: 'plan-mode',
    setup({ hooks, toolData }) {
      hooks.on(
        'before-tool-call',
        ({ session, tool, args }) => {
          const reason = isPlanning(session.entries) ? planRefusal(tool, args) : null
          return reason === null ? undefined : { type: 'block', reason }
        },
        { order: 80 },
      )
      toolData.from('todo_write', acceptedTodos)
    },
  }
}
