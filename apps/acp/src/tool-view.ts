// How a tool call looks in an editor: its kind, the files it touches, its output and its edits.
import { isAbsolute, resolve } from 'node:path'
import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk'
import { isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { ToolResultPart } from '@hermes/contracts/conversation'
import { changedPlaces } from './unified-diff.js'

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  search_files: 'search',
  write_file: 'edit',
  patch: 'edit',
  terminal: 'execute',
  process: 'execute',
  execute_code: 'execute',
  todo_write: 'think',
  todo_read: 'think',
}

const MAX_TEXT_CHARS = 50_000

/** What an editor knows a tool by. */
export function toolKind(toolName: string): ToolKind {
  return KINDS[toolName] ?? 'other'
}

/** Where relative paths of a call start. Absolute. */
export interface Place {
  readonly cwd: string
  readonly userHome: string
}

/** The files a call names, before it ran. */
export function plannedLocations(args: JsonObject, place: Place): ToolCallLocation[] {
  const { path, offset } = args
  if (typeof path !== 'string' || path === '') return []
  const line = typeof offset === 'number' && Number.isInteger(offset) && offset >= 1 ? { line: offset } : {}
  return [{ path: absolute(path, place), ...line }]
}

/** What a call is going to write, as far as its arguments say it. */
export function plannedContent(toolName: string, args: JsonObject, place: Place): ToolCallContent[] {
  if (toolKind(toolName) !== 'edit' || typeof args['path'] !== 'string') return []
  const path = absolute(args['path'], place)
  const { content, old_string: oldText, new_string: newText } = args
  if (typeof content === 'string') return [{ type: 'diff', path, oldText: null, newText: content }]
  if (typeof oldText === 'string' && typeof newText === 'string') return [{ type: 'diff', path, oldText, newText }]
  return []
}

/** A finished call. */
interface Outcome {
  readonly toolName: string
  readonly isError: boolean
  readonly content: readonly ToolResultPart[]
  readonly data?: JsonValue
}

/** What a finished call shows in place of what it had planned; without `content` that stays. */
interface FinishedView {
  readonly content?: ToolCallContent[]
  readonly locations?: ToolCallLocation[]
}

/** The output of a call, or what it changed. */
export function finishedView(outcome: Outcome): FinishedView {
  const shown = outcome.content.filter((part) => part.type === 'image' || isShown(part.origin))
  const output = shown.map((part) => toContent(part, outcome.toolName))
  if (outcome.isError || toolKind(outcome.toolName) !== 'edit') return { content: output }
  const places = changedPlaces(editDiff(outcome))
  if (places.length === 0) return isWrite(outcome) ? {} : { content: output }
  return {
    content: places.map(({ path, oldText, newText }) => ({ type: 'diff', path, oldText, newText })),
    locations: places.map(({ path, line }) => ({ path, line })),
  }
}

/** Notes from the user and reminders travel in results, but are not output. */
function isShown(origin: string | undefined): boolean {
  return origin === undefined || origin === 'user' || origin === 'external'
}

/** A tool may give the whole diff as data and a shortened one to the model. */
function editDiff({ data, content }: Outcome): string {
  if (isJsonObject(data) && typeof data['diff'] === 'string') return data['diff']
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/** A write without a diff: the planned content is what stands in the file now. */
function isWrite({ toolName }: Outcome): boolean {
  return toolName === 'write_file'
}

function toContent(part: ToolResultPart, toolName: string): ToolCallContent {
  if (part.type === 'image') {
    return { type: 'content', content: { type: 'image', data: part.data, mimeType: part.mediaType } }
  }
  const text = clip(part.text)
  return textContent(toolKind(toolName) === 'think' ? text : fence(text))
}

/** Text as content of a call. */
export function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } }
}

/** Text as a Markdown block that nothing in it can end. */
export function fence(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const mark = '`'.repeat(longest + 1)
  return `${mark}\n${text.trimEnd()}\n${mark}`
}

function clip(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text
  return `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()}\n[… ${text.length - MAX_TEXT_CHARS} more characters]`
}

function absolute(path: string, { cwd, userHome }: Place): string {
  if (path === '~' || path.startsWith('~/')) return resolve(userHome, path.slice(2))
  return isAbsolute(path) ? path : resolve(cwd, path)
}
