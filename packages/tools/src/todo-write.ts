import type { JsonValue } from '@hermes/contracts'
import { isJsonObject } from '@hermes/contracts'
import type { ToolResult } from '@hermes/contracts/tool'
import { defineTool } from '@hermes/contracts/tool'
import type { FromSchema } from 'json-schema-to-ts'
import { plural } from './result-text.js'
import type { ToolSettings } from './settings.js'
import { defaultToolSettings } from './settings.js'

/** The states of a task, in the order of its life. */
const TODO_STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const

type TodoStatus = (typeof TODO_STATUSES)[number]

/** One task of the session's list. */
type Todo = { readonly id: string; readonly content: string; readonly status: TodoStatus }

/** A task as a model sends it; what is missing is kept when it merges into a task of that id. */
interface TodoInput {
  readonly id: string
  readonly content?: string | undefined
  readonly status?: string | undefined
}

const MAX_ITEMS = 256
const MAX_CONTENT_CHARS = 4000
const MARKS: Readonly<Record<TodoStatus, string>> = {
  pending: '[ ]',
  in_progress: '[>]',
  completed: '[x]',
  cancelled: '[-]',
}

/** A list after a write, and what had to be put right. */
interface TodoUpdate {
  readonly todos: readonly Todo[]
  readonly notes: readonly string[]
}

/** Applies `items` to `current`: the whole list, or with `merge` by id. The last item of one id wins; one task is in progress at most. */
function updateTodos(current: readonly Todo[], items: readonly TodoInput[], merge: boolean): TodoUpdate {
  const notes: string[] = []
  const todos = new Map(merge ? current.map((todo) => [todo.id, todo]) : [])
  for (const item of items) todos.set(item.id, toTodo(item, todos.get(item.id), notes))
  if (todos.size > MAX_ITEMS) notes.push(`Only the first ${MAX_ITEMS} items were kept.`)
  return { todos: oneInProgress([...todos.values()].slice(0, MAX_ITEMS), notes), notes }
}

function toTodo(item: TodoInput, existing: Todo | undefined, notes: string[]): Todo {
  const status = item.status ?? existing?.status ?? 'pending'
  const plain = status
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_')
  const known = TODO_STATUSES.find((candidate) => candidate === plain)
  if (!known) notes.push(`"${status}" of item ${item.id} is no status; it is pending.`)
  const content = item.content?.trim() || existing?.content || '(no description)'
  if (content.length > MAX_CONTENT_CHARS) notes.push(`Item ${item.id} was cut to ${MAX_CONTENT_CHARS} characters.`)
  return { id: item.id, content: content.slice(0, MAX_CONTENT_CHARS).toWellFormed(), status: known ?? 'pending' }
}

function oneInProgress(todos: readonly Todo[], notes: string[]): readonly Todo[] {
  const current = todos.find((todo) => todo.status === 'in_progress')
  const others = todos.filter((todo) => todo.status === 'in_progress' && todo !== current)
  if (others.length === 0) return todos
  notes.push(
    `Only one item may be in progress: ${current!.id} is, ${others.map((todo) => todo.id).join(', ')} pending.`,
  )
  return todos.map((todo) => (others.includes(todo) ? { ...todo, status: 'pending' } : todo))
}

/** The list in the data of a `todo_write` result; empty when there is none. */
function todosOf(data: JsonValue | undefined): readonly Todo[] {
  const todos = (data as { readonly todos?: unknown } | null | undefined)?.todos
  return Array.isArray(todos) ? (todos as readonly Todo[]) : []
}

/** How many tasks are in each state. */
function summarise(todos: readonly Todo[]): { readonly total: number } & Readonly<Record<TodoStatus, number>> {
  const count = (status: TodoStatus) => todos.filter((todo) => todo.status === status).length
  return {
    total: todos.length,
    pending: count('pending'),
    in_progress: count('in_progress'),
    completed: count('completed'),
    cancelled: count('cancelled'),
  }
}

/** The list as a model and a person read it: `[x] 1. Write the parser`, then `extra` lines. */
function todoResult(
  todos: readonly Todo[],
  extra: { readonly lines?: readonly string[]; readonly data?: Readonly<Record<string, JsonValue>> } = {},
): ToolResult {
  const lines = todos.map((todo) => `${MARKS[todo.status]} ${todo.id}. ${todo.content}`)
  const text = [...(lines.length === 0 ? ['The task list is empty.'] : lines), ...(extra.lines ?? [])].join('\n')
  return { text, data: { todos, summary: summarise(todos), ...extra.data } }
}

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
