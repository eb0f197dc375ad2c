import { isJsonObject, type JsonValue } from '@hermes/contracts'
import { defineTool, type ToolResult } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { plural } from './result-text.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'
import { summarise, TODO_STATUSES, type Todo, todoResult, todosOf, updateTodos } from './todo-list.js'

// The status is not an enum on purpose: an invalid one becomes pending instead of failing the whole list.
const parameters = {
  type: 'object',
  properties: {
    todos: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          content: { type: 'string' },
          status: { type: 'string', description: TODO_STATUSES.join(', ') },
        },
        required: ['id'],
      },
    },
    merge: {
      type: 'boolean',
      default: false,
      description: 'By id; keeps the rest',
    },
  },
} as const

/** Writes the session's task list, which is the fold of this tool's results. */
export const createTodoWriteTool = (_settings: ToolSettings = defaultToolSettings) =>
  defineTool<FromSchema<typeof parameters>>({
    name: 'todo_write',
    keepsData: true,
    aliases: ['todo', 'todo_read'],
    toolset: 'todo',
    description:
      'Keep the task list: for 3 or more steps, several requests, or to plan; not for simple ones. Without todos: read it. First the whole plan, by priority, then merge=true to change or add. ONE item is in_progress, from the start; completed as soon as done; what fails is cancelled, with a revised one. No test or verify items unless asked. Update quietly, beside other calls.',
    parameters,
    effect: 'read',
    icon: '📋',
    summarize: ({ todos }) => (todos ? `update ${plural(todos.length, 'task')}` : 'read the task list'),
    execute({ todos, merge }, { state }) {
      const latest = state.latest('todo_write')
      const current = todosOf(latest?.data)
      if (!todos) return progress(current, latest && callsSinceUpdate(latest))
      const update = updateTodos(current, todos, merge)
      return todoResult(update.todos, {
        lines: update.notes,
        data: update.notes.length === 0 ? {} : { notes: update.notes },
      })
    },
  })

/** A result that only read the list says how old it was then. */
function callsSinceUpdate({ data, callsSince }: { readonly data: JsonValue; readonly callsSince: number }): number {
  const before = isJsonObject(data) ? data['calls_since_update'] : undefined
  return typeof before === 'number' ? before + 1 + callsSince : callsSince
}

/** The list, with what is done and how long ago that was written. */
function progress(todos: readonly Todo[], callsSince: number | null): ToolResult {
  if (todos.length === 0 || callsSince === null) return todoResult(todos)
  const { completed, cancelled, total } = summarise(todos)
  const remaining = total - completed - cancelled
  const line = `${completed} completed, ${remaining} remaining; last updated ${plural(callsSince, 'call')} ago.`
  return todoResult(todos, { lines: [line], data: { remaining, calls_since_update: callsSince } })
}
