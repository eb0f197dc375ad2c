import { type AssistantPart, type Entry, messageText } from '@hermes/contracts/conversation'
import { addPieces, carries, type Pieces } from './carried-text.js'

/** Of what a session read, the newest. */
const MOST_CHARS = 1_000_000
/** What commands and programs print can be words of the agent, who could so make any address one that was found. */
const PRINTS: readonly string[] = ['terminal', 'process', 'execute_code']
const WRITES: readonly string[] = [...PRINTS, 'write_file', 'patch']
/** Keys, codes and numbers of orders: they give away a text although they are short. */
const NAMED = /[\w-]{8,64}/g

/** What an address that is to be opened is compared with. */
export interface Heard {
  readonly entries: readonly Entry[]
  /** Whether a program of the agent opens it. */
  readonly isByProgram: boolean
}

/**
 * Whether an address carries what a session read before. What stands in a text as it is here, a link that was found or the person's own words,
 * says nothing that its author does not know; what the agent wrote or printed itself is no text of that kind. What a
 * program read stands nowhere, so that of its addresses each counts that was not found.
 */
export function carriesWhatWasRead(address: string, { entries, isByProgram }: Heard): boolean {
  const { typed, found, read, written } = textsOf(entries)
  const url = new URL(address)
  const isIn = (texts: readonly string[], part: string) => texts.some((text) => text.includes(part))
  // The agent cannot put words into the mouth of the person.
  const stands = (part: string) => isIn(typed, part) || (isIn(found, part) && !isIn(written, part))
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

interface Texts {
  /** By the person. */
  readonly typed: readonly string[]
  /** By tools, in which an address may stand. */
  readonly found: readonly string[]
  readonly read: readonly string[]
  /** By the agent, into files and commands. */
  readonly written: readonly string[]
}

function textsOf(entries: readonly Entry[]): Texts {
  const [typed, found, read, written]: [string[], string[], string[], string[]] = [[], [], [], []]
  let chars = 0
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'message' || chars > MOST_CHARS) continue
    const { message } = entry
    if (message.role === 'assistant') written.push(...message.content.flatMap(argumentsOf))
    if (message.role !== 'user' && message.role !== 'tool') continue
    const text = messageText(message)
    chars += text.length
    if (message.role === 'user') typed.push(text)
    else read.push(text)
    if (message.role === 'user') continue
    if (!PRINTS.includes(message.toolName)) found.push(text)
    else
      for (const part of message.content) if (part.type === 'text' && part.origin === 'external') found.push(part.text)
  }
  return { typed, found, read, written }
}

function argumentsOf(part: AssistantPart): readonly string[] {
  return part.type === 'tool-call' && WRITES.includes(part.name) ? [JSON.stringify(part.args)] : []
}
