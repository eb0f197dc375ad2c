import { type AgentEvent, describeNotice, type NewText, RepeatedText } from '@hermes/agent-core'
import { formatDuration, isJsonObject } from '@hermes/contracts'
import { messageText, toolCalls } from '@hermes/contracts/conversation'
import type { Output } from '../io.js'
import { renderDiff } from './diff.js'
import { clip, createStyle, PrintableStream, printable, type Style, wrap } from './style.js'

/** Shows what an agent does, a line at a time. */
interface ProgressView {
  show(event: AgentEvent): void
}

/** Options of {@link createProgressView}. */
interface ProgressOptions {
  readonly output: Output
  /** Print the model's text as it comes; off where the answer goes to another stream: only what it says before a call is shown then. */
  readonly text: boolean
}

/** Tool calls, retries and notices as plain lines, no wider than the terminal. */
export function createProgressView({ output, text }: ProgressOptions): ProgressView {
  const style = createStyle(output)
  const line = (body: string) => output.write(`${body}\n`)
  let openText = false
  const repeated = new RepeatedText()
  const shown = new PrintableStream()
  const write = ({ text: words, isOther }: NewText) => {
    if (isOther) {
      closeText()
      line(style.yellow('  The reply broke off; asked again, it says:'))
    }
    if (words === '') return
    output.write(shown.add(words))
    openText = true
  }
  const watched = new Set<string>()
  const closeText = () => {
    if (openText) output.write(`${shown.end()}\n`)
    openText = false
  }
  const show = (event: AgentEvent): void => {
    switch (event.type) {
      case 'message-delta':
        if (text) write(repeated.add(event.text))
        return
      case 'message-end':
        write(repeated.end())
        closeText()
        if (!text && toolCalls(event.message).length > 0) {
          const words = messageText(event.message).trim()
          if (words !== '') line(printable(words))
        }
        return
      case 'tool-start':
        closeText()
        if (asksHere(event, output)) return
        if (SHOWS_STEPS.has(event.toolName)) watched.add(event.callId)
        line(style.cyan(clip(`${event.icon || '*'} ${event.summary || event.toolName}`, output.columns())))
        return
      case 'tool-progress':
        if (watched.has(event.callId)) line(style.dim(clip(`  ${event.text}`, output.columns())))
        return
      case 'tool-end':
        watched.delete(event.callId)
        if (!asksHere(event, output)) line(toolEnd(event, style, output.columns()))
        return
      case 'retry-wait':
        // What is shown may be how the next answer begins, so it stays open for the rest.
        if (event.discardedMessageId !== undefined && repeated.breakOff() && openText) return
        closeText()
        line(style.yellow(clip(`  ${describeNotice(event)?.text}`, output.columns() * 2)))
        return
      case 'compaction-start':
        closeText()
        line(style.dim(describeNotice(event)?.text ?? ''))
        return
      case 'notice':
        closeText()
        line((event.level === 'warning' ? style.yellow : style.dim)(wrap(printable(event.text), output.columns())))
        return
      default:
        return
    }
  }
  return { show }
}

const SHOWN_LINES = 8
const SHOWS_OUTPUT = new Set(['terminal'])
/** What these are doing is shown while they do it; of others it would be their output, which comes at the end. */
const SHOWS_STEPS: ReadonlySet<string> = new Set(['delegate_task', 'execute_code'])

function toolEnd(event: AgentEvent & { readonly type: 'tool-end' }, style: Style, columns: number): string {
  const first = event.content.find((part) => part.type === 'text')
  const lines = first?.type === 'text' && first.text !== '' ? first.text.trimEnd().split('\n') : []
  const indented = (line: string) => `  ${clip(line, columns - 2)}`
  if (event.isError) return style.red(indented(`failed: ${lines.join(' ')}`))
  if (event.toolName === 'patch' && first?.type === 'text')
    return `${renderDiff(first.text, { style, columns })}\n${style.dim(indented(formatDuration(event.durationMs)))}`
  const count = `${lines.length} line${lines.length === 1 ? '' : 's'}, ${formatDuration(event.durationMs)}`
  if (!SHOWS_OUTPUT.has(event.toolName)) return style.dim(indented(count))
  const [output, notes] = outputAndNotes(event, lines)
  const shown = output.length > SHOWN_LINES + 1 ? SHOWN_LINES : output.length
  const left = output.length > shown ? [hiddenLines(output.slice(shown))] : []
  const body = [...output.slice(0, shown), ...left, ...notes, formatDuration(event.durationMs)]
  return body.map((line) => style.dim(indented(line))).join('\n')
}

/** What a command printed, and what is said about it below that. */
function outputAndNotes(
  { data }: { readonly data?: unknown },
  lines: readonly string[],
): readonly [output: readonly string[], notes: readonly string[]] {
  const output = isJsonObject(data) && typeof data['output'] === 'string' ? data['output'] : ''
  const count = output === '' ? 0 : output.split('\n').length
  return output !== '' && lines.slice(0, count).join('\n') === output
    ? [lines.slice(0, count), lines.slice(count)]
    : [lines, []]
}

const CUT = /^\[… ([\d,.]+) bytes left out …\]$/

/** How many lines are not shown, and how much of them is not even here. */
function hiddenLines(lines: readonly string[]): string {
  const cut = lines.flatMap((line) => CUT.exec(line)?.[1] ?? [])[0]
  if (cut === undefined) return `… ${lines.length} more lines`
  return `… ${lines.length - 1} more lines, and ${cut} bytes that were left out`
}

/** A question stands on the screen already, put by whoever asks it, and so does the answer. */
function asksHere(event: { readonly toolName: string }, output: Output): boolean {
  return event.toolName === 'clarify' && output.isTTY
}
