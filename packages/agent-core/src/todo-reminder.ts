import { isJsonObject } from '@hermes/contracts'
import type { ToolState } from '@hermes/contracts/tool'

const REMIND_AFTER_CALLS = 10

/**
 * A line for the end of a tool result when the plan was not touched for a while; it goes where nothing cached can change.
 * `null` when there is no open plan, or it is not time yet.
 */
export function todoReminder(state: ToolState, toolName: string): string | null {
  if (toolName === 'todo_write' || toolName === 'todo_read') return null
  const plan = state.latest('todo_write')
  if (!plan || plan.callsSince === 0 || (plan.callsSince + 1) % REMIND_AFTER_CALLS !== 0) return null
  const todos = isJsonObject(plan.data) ? plan.data['todos'] : null
  const isOpen = (item: unknown) =>
    isJsonObject(item) && (item['status'] === 'pending' || item['status'] === 'in_progress')
  if (!Array.isArray(todos) || !todos.some(isOpen)) return null
  return `[${plan.callsSince + 1} tool calls since the task list was last updated. Bring it up to date with todo_write.]`
}
