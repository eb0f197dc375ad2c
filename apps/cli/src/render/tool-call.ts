// A call of a tool as a person reads it: one calm line with its outcome at the right. Below it stands something only where the call failed
// or changed a file: of a command the end of what it printed, of anything else the first sentence; the rest is written for the model.
import type { AgentEvent } from '@hermes/agent-core'
import { formatDuration, isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import { width } from '../editor/graphemes.js'
import { renderDiff } from './diff.js'
import { clip, printable, type Style, wrap } from './style.js'

/** A call that has begun. */
export type StartedCall = Pick<AgentEvent & { readonly type: 'tool-start' }, 'toolName' | 'summary' | 'args'>

/** What came of it. */
export type EndedCall = Pick<
  AgentEvent & { readonly type: 'tool-end' },
  'toolName' | 'isError' | 'content' | 'data' | 'durationMs'
>

/** How calls are drawn. */
interface Look {
  readonly style: Style
  readonly columns: number
  /** Whether all that a call gave is shown below it. Default `false`. */
  readonly isWhole?: boolean
  /** Whether changes of files are. Default `true`. */
  readonly diffs?: boolean
}

const TAIL_LINES = 8
const MAX_ERROR_ROWS = 3
/** Of a call that is shown whole. */
const MAX_WHOLE_LINES = 400
const LEAST_TITLE = 12
/** Less of what a call is about, with the space before it, says nothing. */
const LEAST_REST = 5
const HARMLESS = /; not an error$/

/** The call in a line, with what it has come to so far: `terminal  npm test · 12 s`. */
export function callLine(call: StartedCall, outcome: string, { style, columns }: Look): string {
  const [name, rest] = titleOf(call)
  // What came of it tells more than all but the name.
  const least = Math.min(LEAST_TITLE, width(name))
  const end = outcome === '' ? '' : clip(` · ${outcome}`, Math.max(0, columns - least))
  const room = Math.max(least, columns - width(end))
  const title = clip(rest === '' || room < width(name) + LEAST_REST ? name : `${name}  ${rest}`, room)
  return `${style.accent(title.slice(0, name.length))}${title.slice(name.length)}${style.dim(end)}`
}

/** A call that has ended; of one that nobody saw begin only the name is known. */
export function renderCall(started: StartedCall | undefined, call: EndedCall, look: Look): string {
  const { style, columns } = look
  const outcome = outcomeOf(call, started?.args ?? {})
  const mark = outcome.isFailure ? style.red(style.sign('failed')) : style.green(style.sign('done'))
  const room = columns - width(style.sign('done')) - 1
  const duration = call.durationMs > 0 ? [formatDuration(call.durationMs)] : []
  const facts = [...outcome.facts, ...duration].join(' · ')
  // A row that the terminal breaks is harder to read than one without the time.
  const isShort = LEAST_TITLE + width(` · ${facts}`) <= room
  const paint = outcome.isFailure ? { ...style, dim: style.red } : style
  const begun = started ?? { toolName: call.toolName, summary: '', args: {} }
  const line = `${mark} ${callLine(begun, isShort ? facts : outcome.facts.join(' · '), { style: paint, columns: room })}`
  return [line, ...bodyOf(call, outcome, look)].join('\n')
}

/** Whether a call that has ended is shown as one that failed. */
export function isFailed(call: EndedCall): boolean {
  return outcomeOf(call, {}).isFailure
}

/** The first word of what a call does stands for the tool where it says the same: `read` for `read_file`. */
function titleOf({ toolName, summary }: StartedCall): readonly [name: string, rest: string] {
  const [, first = '', rest = ''] = /^(\S+?):?(?:\s+(.*))?$/s.exec(printable(summary).trim()) ?? []
  const name = printable(toolName)
  return first !== '' && name.startsWith(first) ? [first, rest] : [name, summary]
}

interface Outcome {
  readonly isFailure: boolean
  readonly facts: readonly string[]
  /** What a command printed, or one sentence; not shown where nothing is to be added. */
  readonly shown?: { readonly type: 'output' | 'sentence'; readonly text: string }
}

const DENIED = /^Not permitted \([^)]*\): /
const USER_DENIED = /^Not permitted \([^)]*\): The user said no\b/

function outcomeOf(call: EndedCall, args: JsonObject): Outcome {
  const { data, isError, toolName } = call
  const text = textOf(call)
  if (isJsonObject(data) && 'exit_code' in data) return outcomeOfCommand(data)
  if (Array.isArray(data) && toolName === 'delegate_task') return outcomeOfTasks(data, isError)
  if (!isError) return { isFailure: false, facts: factsOf(call, args, text) }
  if (USER_DENIED.test(text)) return { isFailure: true, facts: ['you said no'] }
  const isDenied = DENIED.test(text)
  const shown = { type: 'sentence', text: firstSentence(text.replace(DENIED, '')) } as const
  return { isFailure: true, facts: [isDenied ? 'not permitted' : 'failed'], shown }
}

/** A command or a program. That it found nothing is no failure of a search. */
function outcomeOfCommand(data: JsonObject): Outcome {
  const { exit_code: code, exit_code_meaning: meaning, output } = data
  const shown = { type: 'output', text: typeof output === 'string' ? output : '' } as const
  if (data['timed_out'] === true) return { isFailure: true, facts: ['timed out'], shown }
  if (data['interrupted'] === true) return { isFailure: true, facts: ['stopped'] }
  if (code === 0) return { isFailure: false, facts: [] }
  if (typeof code !== 'number') return { isFailure: true, facts: ['ended by a signal'], shown }
  const word = typeof meaning === 'string' ? meaning : ''
  if (HARMLESS.test(word)) return { isFailure: false, facts: [word.replace(HARMLESS, '')] }
  return { isFailure: true, facts: [`exit ${code}${word === '' ? '' : `: ${word}`}`], shown }
}

function outcomeOfTasks(results: readonly JsonValue[], isError: boolean): Outcome {
  const of = (key: string) => results.map((result) => (isJsonObject(result) ? String(result[key] ?? '') : ''))
  const states = of('status').filter((status) => status !== 'completed')
  const problem = of('problem').find((text) => text !== '')
  if (states.length > 0 && states.every((status) => status === 'running'))
    return { isFailure: false, facts: ['in the background'] }
  const facts = [...new Set(states)].map((state) =>
    results.length === 1 ? state : `${states.filter((other) => other === state).length} ${state}`,
  )
  const shown = problem === undefined ? {} : { shown: { type: 'sentence', text: firstSentence(problem) } as const }
  return { isFailure: isError, facts, ...shown }
}

/** What is worth knowing of a call that went well, besides that it did. */
function factsOf({ toolName, data }: EndedCall, args: JsonObject, text: string): readonly string[] {
  const facts = isJsonObject(data) ? data : {}
  switch (toolName) {
    case 'read_file':
      if (facts['unchanged'] === true) return ['unchanged']
      return 'media_type' in facts ? [] : [counted(lineCount(text), 'line')]
    case 'write_file':
      return typeof args['content'] === 'string' ? [counted(lineCount(args['content']), 'line')] : []
    case 'search_files':
      return typeof facts['total_count'] === 'number' ? [`${facts['total_count']} found`] : []
    case 'patch': {
      const count = (sign: RegExp) => text.match(sign)?.length ?? 0
      return [`+${count(/^\+(?!\+\+ )/gm)} −${count(/^-(?!-- )/gm)}`]
    }
    case 'terminal':
      return 'pid' in facts ? ['in the background'] : []
    case 'todo_write': {
      const { total, completed } = isJsonObject(facts['summary']) ? facts['summary'] : {}
      return [`${Number(completed ?? 0)} of ${Number(total ?? 0)} done`]
    }
    default:
      return []
  }
}

function bodyOf(call: EndedCall, { isFailure, shown }: Outcome, look: Look): readonly string[] {
  const { style, columns, isWhole = false, diffs = true } = look
  const indented = (line: string) => `  ${clip(line, columns - 2)}`
  if (!isFailure && call.toolName === 'patch') return diffs ? [renderDiff(textOf(call), { style, columns })] : []
  if (isWhole) return wholeText(call).map((line) => style.dim(indented(line)))
  if (!isFailure) return []
  if (shown === undefined || shown.text.trim() === '') return []
  if (shown.type === 'sentence') {
    const rows = wrap(printable(shown.text), columns - 2).split('\n')
    const kept = rows.length > MAX_ERROR_ROWS ? [...rows.slice(0, MAX_ERROR_ROWS - 1), '…'] : rows
    return kept.map((row) => style.red(indented(row)))
  }
  const lines = shown.text.trimEnd().split('\n')
  const first = lines.length > TAIL_LINES + 1 ? lines.length - TAIL_LINES : 0
  const hidden = first > 0 ? [style.dim(indented(hiddenLines(lines.slice(0, first))))] : []
  return [...hidden, ...lines.slice(first).map(indented)]
}

/** What came of a call, for whoever wants to see all of it. */
function wholeText(call: EndedCall): readonly string[] {
  const lines = printable(textOf(call)).trimEnd().split('\n')
  const left = lines.length - MAX_WHOLE_LINES
  return left > 0 ? [...lines.slice(0, MAX_WHOLE_LINES), `… ${left} more lines`] : lines
}

const CUT = /^\[… ([\d,.]+) bytes left out …\]$/

/** How many lines are not shown, and how much of them is not even here. */
function hiddenLines(lines: readonly string[]): string {
  const cut = lines.flatMap((line) => CUT.exec(line)?.[1] ?? [])[0]
  if (cut === undefined) return `… ${lines.length} earlier lines`
  return `… ${lines.length - 1} earlier lines, and ${cut} bytes that were left out`
}

/** The first part of a result, as far as it is text. */
function textOf({ content }: Pick<EndedCall, 'content'>): string {
  const first = content.find((part) => part.type === 'text')
  return first?.type === 'text' ? first.text : ''
}

/** Up to the end of the first sentence, or of the line; what follows tells the model what to do. */
function firstSentence(text: string): string {
  const line = text.trim().split('\n')[0] ?? ''
  return /^.*?[.!?](?=\s+[A-Z"“])/.exec(line)?.[0] ?? line
}

function lineCount(text: string): number {
  const lines = text.replace(/\n$/, '')
  return lines === '' ? 0 : lines.split('\n').length
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
