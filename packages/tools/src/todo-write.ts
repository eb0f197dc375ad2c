import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { plural } from './result-text.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'
import { TODO_STATUSES, todoResult, todosOf, updateTodos } from './todo-list.js'

// The status is not an enum on purpose: an invalid one becomes pending instead of failing the whole list.
const parameters = {
  type: 'object',
  properties: {
    todos: {
      type: 'array',
      description: 'In order of priority',
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
      description: 'true: update by id, keep the rest; false: replace the list',
    },
  },
} as const

/** Writes the session's task list, which is the fold of this tool's results. */
export const createTodoWriteTool = (_settings: ToolSettings = defaultToolSettings) =>
  defineTool<FromSchema<typeof parameters>>({
    name: 'todo_write',
    keepsData: true,
    aliases: ['todo'],
    toolset: 'todo',
    description: `Keep the task list of this session.
Use it for work of 3 or more steps, several requests at once, or when planning first helps; not for simple requests.
- Start with merge=false and the whole plan; then merge=true to change a status or add items.
- Set the first item in_progress and begin at once; only ONE is in_progress at a time.
- Set items completed as soon as they are done. If one fails, set it cancelled and add a revised one.
- No "test" or "verify" items unless the user asks for them.
- Update quietly, beside other calls.
Returns the whole list.`,
    parameters,
    effect: 'read',
    icon: '📋',
    summarize: ({ todos }) => (todos ? `update ${plural(todos.length, 'task')}` : 'read the task list'),
    execute({ todos, merge }, { state }) {
      const current = todosOf(state.latest('todo_write')?.data)
      if (!todos) return todoResult(current)
      const update = updateTodos(current, todos, merge)
      return todoResult(update.todos, {
        lines: update.notes,
        data: update.notes.length === 0 ? {} : { notes: update.notes },
      })
    },
  })
