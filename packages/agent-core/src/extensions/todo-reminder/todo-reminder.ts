import type { JsonObject, JsonValue } from '@hermes/contracts'
import type { ToolState } from '@hermes/contracts/tool'
import { itemsOf, openItems } from '../../planning/task-list.js'

const REMIND_AFTER_CALLS = 10

/**
 * A line for the end of a tool result when the plan was not touched for a while, or at the first error since it was; it goes where
 * nothing cached can change. `null` when there is no open plan, or it is not time yet. @see 004, on the todo tool
 */
export function todoReminder(state: ToolState, { toolName, isError }: FinishedTool): string | null {
  if (toolName === 'todo_write') return null
  const plan = state.latest('todo_write')
  if (!plan || openItems(plan.data).length === 0) return null
  const calls = plan.callsSince + 1
  if (calls > 1 && calls % REMIND_AFTER_CALLS === 0)
    return `[${calls} tool calls since the task list was last looked at. Bring it up to date with todo_write.]`
  return isError && isFirstError(state, plan.data) ? '[This error may change your plan: see todo_write.]' : null
}

/** One error is told per state of the plan. */
function isFirstError(state: ToolState, plan: JsonValue): boolean {
  const notified = state.scratch<{ plan: JsonValue | null }>('todo.error', () => ({ plan: null }))
  if (notified.plan === plan) return false
  notified.plan = plan
  return true
}

interface FinishedTool {
  readonly toolName: string
  readonly isError: boolean
}

const MAX_CLOSED = 30
const CLOSED_CHARS = 200

/**
 * The tasks of a session as text that survives a compaction: the open ones verbatim, of the others the newest, cut to a line, so that
 * nothing is done twice. `null` when there are none.
 */
export function tasksToCarry(state: ToolState): string | null {
  const plan = state.latest('todo_write')?.data
  const open = openItems(plan)
  const closed = itemsOf(plan).filter((item) => !open.includes(item))
  const groups = [
    ...(open.length === 0 ? [] : [`The task list has these open:\n${open.map(toLine).join('\n')}`]),
    ...(closed.length === 0
      ? []
      : [`It has these done or dropped:\n${closed.slice(-MAX_CLOSED).map(toShortLine).join('\n')}`]),
  ]
  return groups.length === 0 ? null : groups.join('\n')
}

const toLine = (item: JsonObject) => `- [${String(item['status'])}] ${String(item['id'])}: ${String(item['content'])}`

function toShortLine(item: JsonObject): string {
  const line = toLine(item).replace(/\s+/g, ' ')
  return line.length <= CLOSED_CHARS ? line : `${line.slice(0, CLOSED_CHARS).toWellFormed()}…`
}
