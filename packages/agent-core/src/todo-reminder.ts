import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
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
  if (openItems(plan.data).length === 0) return null
  return `[${plan.callsSince + 1} tool calls since the task list was last updated. Bring it up to date with todo_write.]`
}

/** The open tasks of a session as text that survives a compaction word for word; `null` when there are none. */
export function openTasks(state: ToolState): string | null {
  const open = openItems(state.latest('todo_write')?.data)
  if (open.length === 0) return null
  const lines = open.map((item) => `- [${String(item['status'])}] ${String(item['id'])}: ${String(item['content'])}`)
  return `The task list has these open:\n${lines.join('\n')}`
}

function openItems(plan: JsonValue | undefined): JsonObject[] {
  const todos = isJsonObject(plan) ? plan['todos'] : null
  if (!Array.isArray(todos)) return []
  return todos
    .filter((item) => isJsonObject(item))
    .filter((item) => item['status'] === 'pending' || item['status'] === 'in_progress')
}
