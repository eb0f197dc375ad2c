import type { JsonObject, JsonValue } from '@hermes/contracts'
import { type Entry, messageText, type NewEntry } from '@hermes/contracts/conversation'
import type { ToolState } from '@hermes/contracts/tool'
import { openItems } from './task-list.js'

const BEGIN = 'plan.begin'
const ACCEPT = 'plan.accept'
const LEAVE = 'plan.leave'

/** What becomes of a plan: it is carried out, or the user has gone back to work without one. */
export type PlanEnd = 'accept' | 'leave'

const RULES = `[Plan mode is on. Look as much as you need, but change nothing: tools and commands that could are refused until the user accepts a plan. Find out what the task takes, then end your turn with the plan as a numbered list, one step a line, with files and checks named. The user accepts it or says what to change.]`
/** Whether a session is planning, by its log. */
export function isPlanning(entries: readonly Entry[]): boolean {
  return latestMark(entries)?.kind === BEGIN
}

/** Whether a note begins or ends planning; `null` for any other entry. */
function planMark(entry: Entry): 'begin' | PlanEnd | null {
  if (entry.type !== 'note') return null
  return entry.kind === BEGIN ? 'begin' : entry.kind === ACCEPT ? 'accept' : entry.kind === LEAVE ? 'leave' : null
}

/** What begins planning: the model learns of it with the next message. */
export function planBeginning(): readonly NewEntry[] {
  return [note(BEGIN, {}), reminder(RULES)]
}

/** What ends it. An accepted plan becomes the task list: the one the model wrote while planning, else the steps of its last words. */
export function planEnding(end: PlanEnd, entries: readonly Entry[], state: ToolState): readonly NewEntry[] {
  if (end === 'leave')
    return [note(LEAVE, {}), reminder('[Plan mode is off, and no plan was accepted. All tools may be used again.]')]
  const begun = latestMark(entries)?.seq ?? 0
  const own = todosSince(entries, begun) ? openItems(state.latest('todo_write')?.data) : []
  const todos = own.length > 0 ? [] : stepsOf(lastWords(entries, begun))
  const list = own.length > 0 ? own : todos
  const lines = list.map((item, index) => `${index + 1}. ${String(item['content'])}`)
  const text =
    lines.length === 0
      ? '[The user accepted the plan. All tools may be used: carry it out.]'
      : `[The user accepted the plan. It is the task list now:\n${lines.join('\n')}\nAll tools may be used: carry it out and keep the list up to date with todo_write.]`
  return [note(ACCEPT, todos.length === 0 ? {} : { todos }), reminder(text)]
}

/** The task list that an accepted plan set; `null` for any other entry. */
export function acceptedTodos(entry: Entry): JsonValue | null {
  if (entry.type !== 'note' || entry.kind !== ACCEPT || entry.data['todos'] === undefined) return null
  return { todos: entry.data['todos'] }
}

function latestMark(entries: readonly Entry[]) {
  const entry = entries.findLast((candidate) => planMark(candidate) !== null)
  return entry?.type === 'note' ? entry : null
}

function todosSince(entries: readonly Entry[], seq: number): boolean {
  return entries.some(
    (entry) =>
      entry.seq > seq &&
      entry.type === 'message' &&
      entry.message.role === 'tool' &&
      entry.message.toolName === 'todo_write' &&
      !entry.message.isError,
  )
}

function lastWords(entries: readonly Entry[], seq: number): string {
  const entry = entries.findLast(
    (candidate) =>
      candidate.seq > seq &&
      candidate.type === 'message' &&
      candidate.message.role === 'assistant' &&
      messageText(candidate.message).trim() !== '',
  )
  return entry?.type === 'message' ? messageText(entry.message) : ''
}

const NUMBERED = /^\s{0,3}\d{1,3}[.)]\s+(.+)$/
const BULLET = /^\s{0,3}[-*+]\s+(.+)$/

/** The steps of a plan as it was written: its numbered lines, else its bullets. */
function stepsOf(text: string): JsonObject[] {
  const lines = text.split('\n')
  const found = [NUMBERED, BULLET].map((form) => lines.flatMap((line) => form.exec(line)?.[1]?.trim() ?? []))
  const steps = found.find((each) => each.length > 0) ?? []
  return steps.map((content, index) => ({ id: String(index + 1), content, status: 'pending' }))
}

function note(kind: string, data: JsonObject): NewEntry {
  return { type: 'note', kind, data }
}

/** Leads the next message of the user, where nothing cached can change. */
function reminder(text: string): NewEntry {
  return note('steer.queued', { text, origin: 'reminder' })
}
