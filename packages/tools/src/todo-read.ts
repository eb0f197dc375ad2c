import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { plural } from './result-text.js'
import { defaultToolSettings, type ToolSettings } from './settings.js'
import { summarise, todoResult, todosOf } from './todo-list.js'

const parameters = { type: 'object', properties: {} } as const

/** Reads the session's task list. */
export const createTodoReadTool = (_settings: ToolSettings = defaultToolSettings) =>
  defineTool<FromSchema<typeof parameters>>({
    name: 'todo_read',
    toolset: 'todo',
    keepsData: true,
    description: 'Read the task list, with counts and the number of calls since it was last updated.',
    parameters,
    effect: 'read',
    concurrency: 'parallel',
    icon: '📋',
    summarize: () => 'read the task list',
    execute(_args, { state }) {
      const latest = state.latest('todo_write')
      const todos = todosOf(latest?.data)
      if (!latest || todos.length === 0) return todoResult(todos)
      const { completed, cancelled, total } = summarise(todos)
      const remaining = total - completed - cancelled
      const since = latest.callsSince
      const line = `${completed} completed, ${remaining} remaining; last updated ${plural(since, 'call')} ago.`
      return todoResult(todos, { lines: [line], data: { remaining, calls_since_update: since } })
    },
  })
