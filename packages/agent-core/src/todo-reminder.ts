import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { ToolState } from '@hermes/contracts/tool'

const REMIND_AFTER_CALLS = 10

/**
 * A line for the end of a tool result when the plan was not touched for a while, or at the first error since it was; it goes where
 * nothing cached can change. `null` when there is no open plan, or it is not time yet. @see 004, on the todo tool
 */
export function todoReminder(state: ToolState, { toolName, isError }: FinishedTool): string | null {
  if (toolName === 'todo_write' || toolName === 'todo_read') return null
  const plan = state.latest('todo_write')
  if (!plan || openItems(plan.data).length === 0) return null
  const calls = Math.min(plan.callsSince, state.latest('todo_read')?.callsSince ?? Number.POSITIVE_INFINITY) + 1
  if (calls > 1 && calls % REMIND_AFTER_CALLS === 0)
    return `[${calls} tool calls since the task list was last looked at. Bring it up to date with todo_write.]`
  return isError && isFirstError(state, plan.data) ? '[This error may change your plan: see todo_read.]' : null
}

/** One error is told per state of the plan. */
function isFirstError(state: ToolState, plan: JsonValue): boolean {
  const told = state.scratch<{ plan: JsonValue | null }>('todo.error', () => ({ plan: null }))
  if (told.plan === plan) return false
  told.plan = plan
  return true
}

interface FinishedTool {
  readonly toolName: string
  readonly isError: boolean
}

/** The open tasks of a session as text that survives a compaction word for word; `null` when there are none. */
export function openTasks(state: ToolState): string | null {
  const open = openItems(state.latest('todo_write')?.data)
  if (open.length === 0) return null
  const lines = open.map((item) => `- [${String(item['status'])}] ${String(item['id'])}: ${String(item['content'])}`)
  return `The task list has these open:\n${lines.join('\n')}`
}

/** The items of a task list that are not done. */
export function openItems(plan: JsonValue | undefined): JsonObject[] {
  const todos = isJsonObject(plan) ? plan['todos'] : null
  if (!Array.isArray(todos)) return []
  return todos
    .filter((item) => isJsonObject(item))
    .filter((item) => item['status'] === 'pending' || item['status'] === 'in_progress')
}
