import type { Logger } from '@hermes/contracts'
import type { Message } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'

/** The part of a request that providers keep between calls. */
export type Prefix = Pick<ModelRequest, 'tools' | 'messages'>

/** Where a request stopped to be the beginning of the next one. */
interface PrefixBreak {
  /** Whose bytes changed: the definition of a tool, a section of the system text, a message. */
  readonly component: string
  /** The first byte that differs, counted from 0 over tool definitions, system text and messages as JSON lines in UTF-8. */
  readonly byte: number
  /** What stood there, and what stands there now; empty where it ends. */
  readonly before: string
  readonly after: string
}

const SHOWN_CHARS = 40

/**
 * Where the prefix of two requests of one session broke; `null` when it held: all of the earlier one comes first in the later one, and
 * only its last message may have gained parts at its end. Pure. Costs next to nothing while the same objects come again.
 */
export function findPrefixBreak(previous: Prefix, next: Prefix): PrefixBreak | null {
  if (isSame(previous, next)) return null
  const toolCount = Math.max(previous.tools.length, next.tools.length)
  const [before, after] = [linesOf(previous, toolCount), linesOf(next, toolCount)]
  for (let index = 0; index < before.length; index++) {
    const [old, now] = [before[index]!, after[index]]
    if (old.value === now?.value) continue
    const [oldText, newText] = [toText(old.value), toText(now?.value)]
    if (oldText === newText || (index === before.length - 1 && hasGrown(old.value, now?.value))) continue
    const offset = before.slice(0, index).reduce((sum, { value }) => sum + Buffer.byteLength(toText(value)) + 1, 0)
    return breakAt(old.value === undefined ? now! : old, oldText, newText, offset)
  }
  return null
}

/** Whether the same objects come again, and the same system text; asked before each request, so it makes nothing. */
function isSame(previous: Prefix, next: Prefix): boolean {
  if (previous.tools !== next.tools || previous.messages.length > next.messages.length) return false
  for (let index = 0; index < previous.messages.length; index++) {
    const old = previous.messages[index]!
    const now = next.messages[index]!
    if (old !== now && !(old.role === 'system' && now.role === 'system' && isSameText(old, now))) return false
  }
  return true
}

function isSameText({ content: [old, ...more] }: Message, { content: [now, ...others] }: Message): boolean {
  return old?.type === 'text' && now?.type === 'text' && old.text === now.text && more.length + others.length === 0
}

function toText(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}

interface Line {
  readonly value: unknown
  /** Who answers for it. */
  readonly component: (at: number, text: string) => string
}

/** As many lines for tools in both requests, so that messages meet messages. */
function linesOf({ tools, messages }: Prefix, toolCount: number): readonly Line[] {
  return [
    ...Array.from({ length: toolCount }, (_, index) => ({
      value: tools[index],
      component: () => `the definition of the tool ${tools[index]?.name}`,
    })),
    ...messages.map((message, index) => ({
      value: message,
      component: (at: number, text: string) =>
        message.role === 'system' ? sectionOf(text, at) : nameOf(message, index),
    })),
  ]
}

/** The headline before the place, which is where one part of the system text ends and the next begins. */
function sectionOf(text: string, at: number): string {
  const headline = text
    .slice(0, at)
    .match(/(?:^|\\n)(#{1,3} [^\\]{1,80}|<[a-z][\w-]*>)(?!.*(?:\\n)(?:#{1,3} |<[a-z][\w-]*>))/s)
  return headline ? `the system text, in ${headline[1]}` : 'the system text'
}

function nameOf(message: Message, index: number): string {
  if (message.role === 'tool') return `message ${index}, the result of ${message.toolName}`
  const origin = message.content.findLast((part) => 'origin' in part && part.origin !== undefined)
  const from = origin && 'origin' in origin ? `, with text of ${origin.origin}` : ''
  return `message ${index}, of the ${message.role}${from}`
}

function breakAt(line: Line, before: string, after: string, offset: number): PrefixBreak {
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  return {
    component: line.component(at, before),
    byte: offset + Buffer.byteLength(before.slice(0, at)),
    before: before.slice(at, at + SHOWN_CHARS),
    after: after.slice(at, at + SHOWN_CHARS),
  }
}

function hasGrown(before: unknown, after: unknown): boolean {
  const [old, now] = [before as Message | undefined, after as Message | undefined]
  if (!old || !now || old.role !== now.role || !Array.isArray(old.content)) return false
  return old.content.every((part, index) => JSON.stringify(part) === JSON.stringify(now.content[index]))
}

/** Compares each request of a session with the one before it, and logs where providers have to read all of it anew. */
export class PrefixWatch {
  readonly #logger: Logger
  #last: { readonly prefix: Prefix; readonly generation: number } | null = null

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** `generation` counts how often the conversation was rewritten on purpose. Gives a break that nobody meant; `null` for none. */
  check(prefix: Prefix, generation: number): PrefixBreak | null {
    const last = this.#last
    this.#last = { prefix, generation }
    const found = last && findPrefixBreak(last.prefix, prefix)
    if (!found) return null
    if (last.generation === generation) {
      this.#logger.warn('The prompt prefix changed in the middle of a session.', { ...found })
      return found
    }
    this.#logger.debug('The conversation was rewritten, so its prefix changed.', { ...found })
    return null
  }
}
