import type { Extension } from '@hermes/contracts/extension'
import { effectOf, type Tool } from '@hermes/contracts/tool'
import { acceptedTodos, isPlanning } from '../../planning/planning.js'

const REFUSED =
  'was not run: plan mode is on, and only tools and commands that change nothing may be used. Finish the plan and end your turn; the user has to accept it.'

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

/** Why a call may not be made while planning; `null` when it may. */
function planRefusal(tool: Tool, args: unknown): string | null {
  return effectOf(tool, args) === 'read' ? null : `${tool.name} ${REFUSED}`
}
