import {
  type AssistantPart,
  type Entry,
  type Message,
  messageText,
  type TextPart,
} from '@hermes/contracts/conversation'
import { addPieces, carries, type Pieces } from './carried-text.js'

/** Of what a session read, the newest. */
const MOST_CHARS = 1_000_000
/** What commands and programs print, and children answer, can be words of the agent, who could so make any address one that was found. */
const SPEAKS: readonly string[] = ['terminal', 'process', 'execute_code', 'delegate_task']
/** Keys, codes and numbers of orders: they give away a text although they are short. */
const NAMED = /[\w-]{8,64}/g

/** What an address that is to be opened is compared with. */
export interface Heard {
  readonly entries: readonly Entry[]
  /** Whether a program of the agent opens it. */
  readonly isByProgram: boolean
  /** Whether another agent gave the session its task: what reads like the person's words is that agent's. */
  readonly isDelegated: boolean
}

/**
 * Whether an address carries what a session read before. What stands in a text as it is here, a link that was found or the person's own words,
 * says nothing that its author does not know; what the agent said to a tool before, whichever that was, is no text of that kind, and neither is
 * what commands and programs print, nor what one agent says to another. What a program read stands nowhere, so that of its addresses each counts that was not found.
 */
export function carriesWhatWasRead(address: string, { entries, isByProgram, isDelegated }: Heard): boolean {
  const { typed, statements, read } = textsOf(entries, isDelegated)
  const url = new URL(address)
  // The agent cannot put words into the mouth of the person. Of all others, who said it first counts: tools give back what they were told.
  const stands = (part: string) =>
    typed.some((text) => text.includes(part)) || statements.find(({ text }) => text.includes(part))?.by === 'tool'
  if (stands(address) || stands(address.replace(/\/$/, ''))) return false
  const rest = `${url.search}${url.hash}`
  const words = [
    ...(stands(url.hostname) ? [] : [url.hostname]),
    ...(stands(`${url.host}${url.pathname}`) ? [rest] : [`${url.pathname}${rest}`]),
  ].join(' ')
  if (isByProgram && words.replace(/^\/?$/, '') !== '') return true
  const pieces: Pieces = new Map()
  for (const text of read) {
    addPieces(text, pieces)
    for (const [word] of text.matchAll(NAMED)) if (/\d/.test(word) && /[a-z]/i.test(word)) addPieces(word, pieces)
  }
  return carries(words, pieces)
}

interface Statement {
  readonly by: 'tool' | 'agent'
  readonly text: string
}

interface Texts {
  /** By the person, or by an agent that the person alone led. */
  readonly typed: readonly string[]
  /** By tools, in which an address may stand, and by the agent to tools; in their order. */
  readonly statements: readonly Statement[]
  readonly read: readonly string[]
}

function textsOf(entries: readonly Entry[], isDelegated: boolean): Texts {
  const [typed, read, statements]: [string[], string[], Statement[]] = [[], [], []]
  let chars = 0
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'message') continue
    const { message } = entry
    // However long ago: what a tool gives back may be newer.
    if (message.role === 'assistant')
      statements.push(...message.content.flatMap(argumentsOf).map((text) => ({ by: 'agent', text }) as const))
    if ((message.role !== 'user' && message.role !== 'tool') || chars > MOST_CHARS) continue
    const outside = outsideParts(message)
    const text = messageText(message)
    const beside = message.role === 'user' ? outside.map((part) => part.text) : []
    if (message.role === 'tool' || isDelegated) read.push(text)
    read.push(...beside)
    // An agent that had read nothing from outside was led by the person alone.
    if (message.role === 'user' && isDelegated && outside.length > 0) statements.push({ by: 'agent', text })
    else if (message.role === 'user') typed.push(text)
    chars += text.length + beside.join('').length
    statements.push(...foundIn(message, outside).map((one) => ({ by: 'tool', text: one }) as const))
  }
  return { typed, statements: statements.reverse(), read }
}

/** What of a message may hold an address that was found. */
function foundIn(message: Message, outside: readonly TextPart[]): readonly string[] {
  // An agent said it, or wrote it into a file.
  const isOfAgent = ({ sources = [] }: TextPart) => sources.some(({ type }) => type === 'inherited')
  if (message.role !== 'tool') return outside.filter((part) => !isOfAgent(part)).map(({ text }) => text)
  if (outside.some(isOfAgent)) return []
  if (!SPEAKS.includes(message.toolName)) return [messageText(message)]
  return outside.map(({ text }) => text)
}

function outsideParts({ content }: Message): readonly TextPart[] {
  const parts: readonly Message['content'][number][] = content
  return parts.filter((part): part is TextPart => part.type === 'text' && part.origin === 'external')
}

function argumentsOf(part: AssistantPart): readonly string[] {
  return part.type === 'tool-call' ? [JSON.stringify(part.args)] : []
}
