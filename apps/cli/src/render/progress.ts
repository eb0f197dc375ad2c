import { type AgentEvent, describeNotice, type NewText, RepeatedText } from '@hermes/agent-core'
import { messageText, toolCalls } from '@hermes/contracts/conversation'
import type { Output } from '../io.js'
import type { MarkdownStream } from '../markdown/markdown.js'
import { Blocks } from './blocks.js'
import { clip, createStyle, PrintableStream, printable, wrap } from './style.js'
import { Thoughts } from './thoughts.js'
import { callLine, isFailed, renderCall, type StartedCall } from './tool-call.js'

/** Shows what an agent does, a line at a time. */
interface ProgressView {
  show(event: AgentEvent): void
}

/** Options of {@link createProgressView}. */
interface ProgressOptions {
  readonly output: Output
  /** Print the model's text as it comes; off where the answer goes to another stream: only what it says before a call is shown then. */
  readonly text: boolean
  /** Shows the model's text as Markdown; as it was written without it. */
  readonly markdown?: MarkdownStream
  /** Calls under way and the task list are shown elsewhere until they are done; otherwise those that take their time are announced here. */
  readonly isLive?: boolean
  /** What else is written there keeps to the same blocks. Default: nothing else is. */
  readonly blocks?: Blocks
  /** How much is shown of calls now: those that failed, a line of each, or also what came of them. Default: a line of each. */
  readonly calls?: () => ShownCalls
  /** Whether changes of files are shown below their line. Default `true`. */
  readonly diffs?: boolean
  /** Whether what the model thinks is shown now. Default: never. */
  readonly showsThoughts?: () => boolean
}

/** How much is shown of calls. */
export type ShownCalls = 'off' | 'all' | 'verbose'

/** A call that takes so long is announced where nothing else shows that it is under way. */
const ANNOUNCE_MS = 3_000
/** What these are doing is shown while they do it; of others it would be their output, which comes at the end. */
const SHOWS_STEPS: ReadonlySet<string> = new Set(['delegate_task', 'execute_code'])

/** Tool calls, retries and notices as plain lines, no wider than the terminal. */
export function createProgressView({
  output,
  text,
  markdown,
  isLive = false,
  ...options
}: ProgressOptions): ProgressView {
  const style = createStyle(output)
  const { blocks = new Blocks((space) => output.write(space)), showsThoughts = () => false, diffs = true } = options
  const { calls: shownCalls = () => 'all' } = options
  const thoughts = new Thoughts(output, blocks, showsThoughts)
  const look = () => ({ style, columns: output.columns() })
  const line = (body: string) => output.write(`${body}\n`)
  let openText = false
  const repeated = new RepeatedText()
  const shown = new PrintableStream()
  const calls = new Map<string, StartedCall>()
  const timers = new Map<string, NodeJS.Timeout>()
  const write = ({ text: words, isOther }: NewText) => {
    if (isOther) {
      closeText()
      line(style.notice('  The reply broke off; asked again, it says:'))
    }
    if (words === '') return
    thoughts.end()
    if (!openText) blocks.begin('words')
    const safe = shown.add(words)
    const rows = markdown ? markdown.add(safe) : safe
    if (rows !== '') output.write(rows)
    openText = true
  }
  const closeText = () => {
    thoughts.end()
    if (openText) output.write(markdown ? markdown.add(shown.end()) + markdown.end() : `${shown.end()}\n`)
    openText = false
  }
  const start = (event: AgentEvent & { readonly type: 'tool-start' }) => {
    closeText()
    calls.set(event.callId, event)
    if (isLive || asksHere(event, output)) return
    if (SHOWS_STEPS.has(event.toolName)) announce(event)
    else timers.set(event.callId, setTimeout(() => announce(event), ANNOUNCE_MS).unref())
  }
  const announce = (event: StartedCall) => {
    if (shownCalls() === 'off') return
    closeText()
    blocks.begin('calls')
    line(`${style.dim(style.sign('begun'))} ${callLine(event, '', { style, columns: output.columns() - 2 })}`)
  }
  const end = (event: AgentEvent & { readonly type: 'tool-end' }) => {
    closeText()
    const call = calls.get(event.callId)
    clearTimeout(timers.get(event.callId))
    calls.delete(event.callId)
    if (asksHere(event, output) || (isLive && event.toolName === 'todo_write' && !event.isError)) return
    if (shownCalls() === 'off' && !isFailed(event)) return
    blocks.begin('calls')
    line(renderCall(call, event, { ...look(), isWhole: shownCalls() === 'verbose', diffs }))
  }
  const show = (event: AgentEvent): void => {
    switch (event.type) {
      case 'message-delta':
        if (text) write(repeated.add(event.text))
        return
      case 'reasoning-delta':
        // Between words of one answer they would look like words.
        if (!openText) thoughts.add(event)
        return
      case 'message-end': {
        thoughts.see(event)
        write(repeated.end())
        const hasWords = openText
        closeText()
        if (hasWords) blocks.end()
        if (!text && toolCalls(event.message).length > 0) {
          const words = messageText(event.message).trim()
          if (words === '') return
          blocks.begin('words')
          line(printable(words))
        }
        return
      }
      case 'tool-start':
        start(event)
        return
      case 'approval-request':
        // The question says what is under way.
        clearTimeout(timers.get(event.callId ?? ''))
        return
      case 'tool-progress':
        if (!isLive && SHOWS_STEPS.has(calls.get(event.callId)?.toolName ?? ''))
          line(style.dim(clip(`  ${event.text}`, output.columns())))
        return
      case 'tool-end':
        end(event)
        return
      case 'run-end':
        for (const timer of timers.values()) clearTimeout(timer)
        return
      case 'retry-wait':
        // What is shown may be how the next answer begins, so it stays open for the rest.
        if (event.discardedMessageId !== undefined && repeated.breakOff() && openText) return
        closeText()
        line(style.notice(retryLines(describeNotice(event)?.text ?? '', output)))
        return
      case 'compaction-start':
        closeText()
        line(style.dim(describeNotice(event)?.text ?? ''))
        return
      case 'notice':
        closeText()
        line((event.level === 'warning' ? style.notice : style.dim)(wrap(printable(event.text), output.columns())))
        return
      default:
        return
    }
  }
  return { show }
}

/** A question stands on the screen already, put by whoever asks it, and so does the answer. */
function asksHere(event: { readonly toolName: string }, output: Output): boolean {
  return event.toolName === 'clarify' && output.isTTY
}

/** What went wrong and what comes next, as two rows have room for it, below what it is about. A program gets one line. */
function retryLines(text: string, { isTTY, columns: columnsOf }: Pick<Output, 'isTTY' | 'columns'>): string {
  const columns = columnsOf()
  if (!isTTY) return clip(`  ${text}`, columns * 2)
  return `  ${wrap(clip(text, columns * 2 - 6), columns - 2).replaceAll('\n', '\n  ')}`
}
