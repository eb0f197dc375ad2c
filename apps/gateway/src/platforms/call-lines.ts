// Calls of tools as a chat sees them while they are made: lines of one message that grows, until words of the answer come.
import { randomUUID } from 'node:crypto'
import type { AgentEvent } from '@hermes/agent-core'
import type { PlatformTarget } from '@hermes/contracts/platform'
import type { ShownCalls } from '@hermes/platform'
import type { Bubbles } from './bubbles.js'

const LINE_CHARS = 100
const RESULT_CHARS = 200
/** Then another message begins. */
const MESSAGE_CHARS = 2_500

/** The calls of one run. */
export class CallLines {
  readonly #bubbles: Bubbles
  readonly #target: PlatformTarget
  readonly #shown: () => ShownCalls
  #messageId: string | null = null
  #chars = 0
  #lastTool = ''

  /** `shown`: how much is shown now. */
  constructor(
    bubbles: Bubbles,
    { target, shown }: { readonly target: PlatformTarget; readonly shown: () => ShownCalls },
  ) {
    this.#bubbles = bubbles
    this.#target = target
    this.#shown = shown
  }

  /** Never throws. */
  show(event: AgentEvent): void {
    const shown = this.#shown()
    if (event.type === 'message-delta' || event.type === 'run-end') this.#end()
    else if (event.type === 'tool-start' && shown !== 'off') {
      const { icon, toolName, summary } = event
      const isRepeated = shown === 'new' && toolName === this.#lastTool
      this.#lastTool = toolName
      if (!isRepeated)
        this.#add(`${icon} ${inLine(shown === 'new' ? toolName : `${toolName}: ${summary}`, LINE_CHARS)}`)
    } else if (event.type === 'tool-end' && shown === 'verbose') {
      const text = event.content.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
      this.#add(`   ${event.isError ? '✗' : '→'} ${inLine(text, RESULT_CHARS)}`)
    }
  }

  #add(line: string): void {
    if (this.#chars + line.length > MESSAGE_CHARS) this.#end()
    this.#messageId ??= `calls:${randomUUID()}`
    this.#bubbles.add(this.#messageId, this.#target, this.#chars === 0 ? line : `\n${line}`)
    this.#chars += line.length + 1
  }

  #end(): void {
    if (this.#messageId !== null) void this.#bubbles.end(this.#messageId, this.#target)
    this.#messageId = null
    this.#chars = 0
    this.#lastTool = ''
  }
}

function inLine(text: string, max: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line
}
