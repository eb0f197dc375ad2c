// A client sends its whole conversation each time; the session's log knows most of it already. What is new is found by comparing.
import { createHash } from 'node:crypto'
import { type Entry, liveEntries, type Message, messageText, toolCalls } from '@hermes/contracts/conversation'
import { addressHash } from './named-images.js'

/** What a client can tell of a message: whitespace does not count, images count by the address they were named by, else by their bytes. */
type HistoryText =
  | { readonly role: 'user'; readonly text: string }
  /** One reply; the agent may have spoken several times before and after its tool calls. */
  | {
      readonly role: 'assistant'
      readonly texts: readonly string[]
      /** So many of `texts` were the answer to the person; the others came by themselves, with results of background tasks. */
      readonly answered: number
      readonly isInterrupted: boolean
    }

/** The messages of a log that still count. */
export function messagesOf(entries: readonly Entry[]): Message[] {
  return liveEntries(entries).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
}

/** What a client has seen of `messages`; tool calls, results and our own notes are left out. */
export function textsIn(messages: readonly Message[]): HistoryText[] {
  const texts: HistoryText[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') {
      const text = visibleContent(message)
      if (text !== '') texts.push({ role: 'user', text })
    } else if (message.role === 'assistant') {
      const text = squeeze(messageText(message))
      if (text === '') continue
      const last = texts.at(-1)
      const before = last?.role === 'assistant' ? last : null
      if (before) texts.pop()
      const all = [...(before?.texts ?? []), text]
      const isByItself = before && (before.answered < before.texts.length || isBegunByItself(messages, index))
      const answered = isByItself ? before.answered : all.length
      texts.push({ role: 'assistant', texts: all, answered, isInterrupted: message.content.some(isNote) })
    }
  }
  return texts
}

/** Whether somebody speaks in it. */
export function isWords(message: Message): boolean {
  return textsIn([message]).some(({ role }) => role === 'user')
}

/** Whether a client that has seen the one has seen the other. */
export function isSame(one: Message, other: Message): boolean {
  return JSON.stringify(textsIn([one])) === JSON.stringify(textsIn([other]))
}

/** Whether the run of a reply began with no word of a person: a message that nobody sees follows an answer that was complete. */
function isBegunByItself(messages: readonly Message[], index: number): boolean {
  let start = index
  while (start > 0 && messages[start]?.role !== 'user') start--
  const [before, first] = [messages[start - 1], messages[start]]
  const isComplete = before?.role === 'assistant' && before.finishReason === 'stop' && toolCalls(before).length === 0
  return isComplete && first?.role === 'user' && visibleContent(first) === ''
}

/** What the agent said by itself since the client had an answer, where the client's history does not show that it was heard. */
export function unheardIn(messages: readonly Message[], history: readonly Message[]): string {
  let texts: string[] = []
  let isAnswer = false
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user' && visibleContent(message) !== '') isAnswer = true
    if (message.role !== 'assistant') continue
    const text = messageText(message).trim()
    if (isBegunByItself(messages, index)) texts.push(text)
    else if (isAnswer) texts = []
    isAnswer = false
  }
  const unheard = texts.filter((text) => text !== '').join('\n\n')
  const last = history.at(-1)
  return last?.role === 'assistant' && squeeze(messageText(last)).endsWith(squeeze(unheard)) ? '' : unheard
}

function visibleContent(message: Message & { readonly role: 'user' }): string {
  const others: string[] = []
  const texts = message.content.filter((part) => {
    const address = addressHash(part)
    if (address !== null) others.push(`[image at ${address}]`)
    else if (part.type !== 'text') others.push(`[${part.type} ${createHash('sha256').update(part.data).digest('hex')}]`)
    return part.type === 'text' && address === null
  })
  return squeeze(messageText({ ...message, content: texts })) + others.join('')
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, '')
}

function isNote(part: Message['content'][number]): boolean {
  return part.type === 'text' && part.origin === 'reminder'
}

/** How a request goes on with a log. */
type Continuation =
  /** The new message follows; `missing` messages of the client's history are not in the log yet. */
  | { readonly type: 'append'; readonly missing: number }
  /** The new message is the last one in the log already, without an answer or with one that broke off. */
  | { readonly type: 'resume' }

/** What is compared. */
interface ContinuationOptions {
  readonly log: readonly HistoryText[]
  readonly history: readonly HistoryText[]
  readonly message: HistoryText
  /** The client may know only the end of the log, or nothing. Default: it has to know all of it. */
  readonly partial?: boolean
  /** The log ends in calls that wait for their results. */
  readonly isWaiting?: boolean
}

/** How the client's messages go on with the log, or `null` when they contradict it. */
export function findContinuation(options: ContinuationOptions): Continuation | null {
  const { log, history, message, partial = false, isWaiting = false } = options
  const starts = partial && log.length > 0 ? log.keys() : [0]
  for (const start of starts) {
    const known = log.slice(start)
    const requested = withoutHalf(known, isWaiting)
    if (requested.at(-1)?.role === 'user' && agree(requested, [...history, message]) === history.length + 1)
      return { type: 'resume' }
    const agreed = agree(known, history)
    if (agreed !== null && (agreed > 0 || known.length === 0))
      return { type: 'append', missing: history.length - agreed }
  }
  const isFresh = history.length === 0 && (partial || log.length === 0)
  return isFresh ? { type: 'append', missing: 0 } : null
}

/** A request that is sent again after its answer broke off is asked anew; one whose answer waits for something goes on. */
function withoutHalf(known: readonly HistoryText[], isWaiting: boolean): readonly HistoryText[] {
  const last = known.at(-1)
  return last?.role === 'assistant' && (last.isInterrupted || isWaiting) ? known.slice(0, -1) : known
}

/**
 * Where half an answer begins that a log ends in; `null` where it ends otherwise. Calls that were made before it stay: what they did is
 * done.
 */
export function brokenOffAt(entries: readonly Entry[]): number | null {
  let at: number | null = null
  for (const entry of liveEntries(entries).toReversed()) {
    if (entry.type !== 'message') continue
    const { message, seq } = entry
    if (message.role === 'assistant' && message.content.some(isNote)) at = seq
    else if (message.role !== 'user' || visibleContent(message) !== '') break
  }
  return at
}

/** Whether the client's messages are the end of what the log holds, or all of it. */
export function endsWith(log: readonly HistoryText[], client: readonly HistoryText[]): boolean {
  return [...log.keys(), log.length].some((start) => agree(log.slice(start), client) === client.length)
}

/** How many of the client's messages the log holds, or `null` when it holds others, or more. */
function agree(log: readonly HistoryText[], client: readonly HistoryText[]): number | null {
  let at = 0
  for (const item of log) {
    const other = client[at]
    if (other && isSameText(item, other)) at++
    else if (item.role === 'user' || !item.isInterrupted || other?.role === 'assistant') return null
  }
  return at
}

function isSameText(logged: HistoryText, client: HistoryText): boolean {
  if (logged.role === 'user') return client.role === 'user' && client.text === logged.text
  if (client.role === 'user') return false
  const whole = logged.texts.join('')
  const text = client.texts.join('')
  // A client may have kept the last words only, the beginning of a reply that broke off, or what we streamed before a retry.
  return (
    text.endsWith(whole) ||
    logged.texts.some((_, index) => logged.texts.slice(index).join('') === text) ||
    text.endsWith(logged.texts.slice(0, logged.answered).join('')) ||
    (logged.isInterrupted && whole.startsWith(text))
  )
}
