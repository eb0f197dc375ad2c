// The task list of a session as a person sees it.

import { isJsonObject, type JsonValue } from '@hermes/contracts'
import { type Entry, liveEntries } from '@hermes/contracts/conversation'
import type { Output } from '../io.js'
import { clip, createStyle, type Sign, type Style } from './style.js'

/** One task. */
export interface ShownTask {
  readonly content: string
  readonly status: string
}

const TOOL = 'todo_write'
const SIGN_OF: Readonly<Record<string, Sign>> = { completed: 'done', in_progress: 'current', cancelled: 'failed' }

/** The list in the data of a result of `todo_write`; `null` where there is none. */
export function tasksOf(toolName: string, data: JsonValue | undefined): readonly ShownTask[] | null {
  if (toolName !== TOOL || !isJsonObject(data) || !Array.isArray(data['todos'])) return null
  return data['todos'].flatMap((todo) =>
    isJsonObject(todo) ? [{ content: String(todo['content'] ?? ''), status: String(todo['status'] ?? '') }] : [],
  )
}

/** The list as a session has it. */
export function tasksIn(entries: readonly Entry[]): readonly ShownTask[] {
  const results = liveEntries(entries).flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'tool' ? [entry.message] : [],
  )
  const latest = results.findLast(({ toolName, data }) => tasksOf(toolName, data) !== null)
  return latest ? tasksOf(latest.toolName, latest.data)! : []
}

/** Whether something of it is left to be done. */
export function isOpen(tasks: readonly ShownTask[]): boolean {
  return tasks.some(({ status }) => status === 'pending' || status === 'in_progress')
}

/** How far it is, and the tasks around the one that is worked on, `most` lines in all. */
export function taskLines(tasks: readonly ShownTask[], most: number, style: Pick<Style, 'sign'>): readonly string[] {
  const done = tasks.filter(({ status }) => status === 'completed').length
  const room = Math.max(1, most - 1)
  const current = tasks.findIndex(({ status }) => status === 'in_progress' || status === 'pending')
  const last = Math.max(0, tasks.length - room)
  const first = current < 0 ? last : Math.min(Math.max(0, current - 1), last)
  const shown = tasks.slice(first, first + room)
  const hidden = tasks.length - shown.length
  return [
    `tasks · ${done} of ${tasks.length} done${hidden > 0 ? ` · ${hidden} not shown` : ''}`,
    ...shown.map(({ content, status }) => `${style.sign(SIGN_OF[status] ?? 'open')} ${content}`),
  ]
}

/** The list as it stays on the screen. */
export function renderTasks(tasks: readonly ShownTask[], most: number, output: Output): string {
  const style = createStyle(output)
  const [head = '', ...lines] = taskLines(tasks, most, style).map((line) => clip(line, output.columns() - 1))
  return [style.accent(head), ...lines].map((line) => `${line}\n`).join('')
}
