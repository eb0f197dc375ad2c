import type { AssistantMessage, Message, ToolCallPart, ToolMessage, UserMessage } from './message.js'
import { toolCalls } from './message.js'

/** One reason a provider would refuse or misread a conversation. `index` points into the checked list. */
export interface Violation {
  readonly rule:
    | 'system-first'
    | 'unanswered-call'
    | 'orphan-result'
    | 'duplicate-result'
    | 'result-order'
    | 'duplicate-call-id'
    | 'empty-message'
    | 'unparsed-arguments'
    | 'lone-surrogate'
    | 'adjacent-users'
    | 'adjacent-assistants'
  readonly index: number
  readonly message: string
}

/** What a provider wants beyond the rules that hold for all of them. */
export interface RepairRules {
  /** Merge neighbouring user messages into one. Default true: several providers refuse two in a row. */
  readonly mergeAdjacentUsers?: boolean
  /** The user speaks first: a line of theirs comes before an assistant that begins. Default false. */
  readonly startWithUser?: boolean
  /** The assistant does not have the last word: a line of the user comes after it. Default false. */
  readonly endWithUser?: boolean
  /** The user does not speak right after a result: a line of the assistant comes between. Default false. */
  readonly assistantAfterResults?: boolean
}

const INTERRUPTED = 'No result was recorded for this call: it was interrupted and may or may not have run.'
const EMPTY = '(empty)'
const CONTINUE = '(continue)'
const NOTED = '(noted)'

/** Every violation in `messages`; empty means that any supported provider accepts the shape. Pure. */
export function checkConversation(messages: readonly Message[]): Violation[] {
  const found: Violation[] = []
  let open: ToolCallPart[] = []
  let answered = new Set<string>()
  const used = new Set<string>()
  const closeCalls = (index: number) => {
    for (const call of open) {
      if (!answered.has(call.id))
        found.push({ rule: 'unanswered-call', index, message: `Call ${call.id} has no result.` })
    }
    open = []
    answered = new Set()
  }
  let position = 0
  messages.forEach((message, index) => {
    if (hasLoneSurrogate(message)) {
      found.push({ rule: 'lone-surrogate', index, message: 'Half of a surrogate pair.' })
    }
    if (message.role !== 'tool') closeCalls(index - 1)
    const previous = messages[index - 1]
    switch (message.role) {
      case 'system':
        if (index !== 0) found.push({ rule: 'system-first', index, message: 'A system message after the start.' })
        break
      case 'user':
        if (!hasContent(message))
          found.push({ rule: 'empty-message', index, message: 'A user message without content.' })
        if (previous?.role === 'user')
          found.push({ rule: 'adjacent-users', index, message: 'Two user messages in a row.' })
        break
      case 'assistant': {
        if (!hasContent(message))
          found.push({ rule: 'empty-message', index, message: 'An assistant message without content.' })
        if (previous?.role === 'assistant') {
          found.push({ rule: 'adjacent-assistants', index, message: 'Two assistant messages in a row.' })
        }
        open = [...toolCalls(message)]
        position = 0
        if (new Set(open.map((call) => call.id)).size !== open.length || open.some((call) => used.has(call.id))) {
          found.push({ rule: 'duplicate-call-id', index, message: 'Two calls share an id.' })
        }
        for (const call of open) used.add(call.id)
        for (const call of open) {
          if (call.args === null)
            found.push({ rule: 'unparsed-arguments', index, message: `Call ${call.id} has no parsed arguments.` })
        }
        break
      }
      case 'tool': {
        const at = open.findIndex((call) => call.id === message.callId)
        if (at < 0) found.push({ rule: 'orphan-result', index, message: `Result for unknown call ${message.callId}.` })
        else if (answered.has(message.callId)) {
          found.push({ rule: 'duplicate-result', index, message: `Second result for call ${message.callId}.` })
        } else {
          if (at !== position)
            found.push({ rule: 'result-order', index, message: 'Results are not in the order of the calls.' })
          position = at + 1
          answered.add(message.callId)
        }
        break
      }
      default:
        message satisfies never
    }
  })
  closeCalls(messages.length - 1)
  return found
}

/**
 * The same conversation in a shape that providers accept: each call answered once and in order, orphans dropped, no call id used
 * twice, nothing empty, unparsed arguments as `{}`, halves of surrogate pairs replaced. Pure and idempotent; `checkConversation` finds
 * nothing after it. Monotone: repairing a longer log gives the shorter one's result plus more, except that its last message may gain
 * parts, and that a line put after the assistant goes once somebody speaks.
 */
export function repairConversation(messages: readonly Message[], rules: RepairRules = {}): Message[] {
  const merge = rules.mergeAdjacentUsers ?? true
  const repaired: Message[] = []
  const used = new Set<string>()
  for (let index = 0; index < messages.length; index++) {
    const message = wellFormedMessage(messages[index]!)
    switch (message.role) {
      case 'system':
        if (repaired.length === 0 && hasContent(message)) repaired.push(message)
        break
      case 'user':
        if (rules.assistantAfterResults && repaired.at(-1)?.role === 'tool')
          repaired.push({ role: 'assistant', content: [{ type: 'text', text: NOTED }] })
        pushUser(repaired, message, merge)
        break
      case 'assistant': {
        const { assistant, calls } = repairAssistant(message)
        if (needsUserBefore(repaired.at(-1), rules)) repaired.push(goOn())
        const ids = unusedIds(calls, used)
        repaired.push(ids === null ? assistant : renameCalls(assistant, ids))
        const first = index + 1
        while (messages[index + 1]?.role === 'tool') index++
        for (let at = 0; at < calls.length; at++)
          repaired.push(renameResult(resultFor(calls[at]!, messages, first, index), ids))
        break
      }
      case 'tool':
        break
      default:
        message satisfies never
    }
  }
  if (rules.endWithUser && repaired.at(-1)?.role === 'assistant') repaired.push(goOn())
  return repaired
}

function goOn(): UserMessage {
  return { role: 'user', content: [{ type: 'text', text: CONTINUE, origin: 'reminder' }] }
}

function needsUserBefore(last: Message | undefined, { startWithUser = false }: RepairRules): boolean {
  if (last?.role === 'assistant') return true
  return startWithUser && (last === undefined || last.role === 'system')
}

/** New ids for calls whose own were used by an earlier message; `null` when none was, which is nearly always. */
function unusedIds(calls: readonly ToolCallPart[], used: Set<string>): ReadonlyMap<string, string> | null {
  // Runs over the whole conversation before each request, hence plain loops.
  let isFree = true
  for (let at = 0; at < calls.length; at++) if (used.has(calls[at]!.id)) isFree = false
  if (isFree) {
    for (let at = 0; at < calls.length; at++) used.add(calls[at]!.id)
    return null
  }
  const own = new Set(calls.map(({ id }) => id))
  const ids = new Map<string, string>()
  for (const { id } of calls) {
    let unused = id
    for (let count = 2; used.has(unused) || (unused !== id && own.has(unused)); count++) unused = `${id}_${count}`
    used.add(unused)
    ids.set(id, unused)
  }
  return ids
}

function renameCalls(message: AssistantMessage, ids: ReadonlyMap<string, string>): AssistantMessage {
  const content = message.content.map((part) =>
    part.type === 'tool-call' ? { ...part, id: ids.get(part.id) ?? part.id } : part,
  )
  return { ...message, content }
}

function renameResult(result: ToolMessage, ids: ReadonlyMap<string, string> | null): ToolMessage {
  const id = ids?.get(result.callId) ?? result.callId
  return id === result.callId ? result : { ...result, callId: id }
}

function pushUser(repaired: Message[], message: UserMessage, merge: boolean): void {
  const full: UserMessage = hasContent(message) ? message : { ...message, content: [{ type: 'text', text: EMPTY }] }
  const last = repaired.at(-1)
  if (merge && last?.role === 'user')
    repaired[repaired.length - 1] = { ...last, content: [...last.content, ...full.content] }
  else repaired.push(full)
}

interface RepairedAssistant {
  readonly assistant: AssistantMessage
  readonly calls: readonly ToolCallPart[]
}

/** Like {@link seenWellFormed}. */
const repairedAssistants = new WeakMap<AssistantMessage, RepairedAssistant>()

function repairAssistant(message: AssistantMessage): RepairedAssistant {
  const known = repairedAssistants.get(message)
  if (known) return known
  const assistant = isValidAssistant(message) ? message : repairedAssistant(message)
  const repaired = { assistant, calls: toolCalls(assistant) }
  repairedAssistants.set(message, repaired)
  return repaired
}

function repairedAssistant(message: AssistantMessage): AssistantMessage {
  const seen = new Set<string>()
  const content: AssistantMessage['content'][number][] = []
  for (const part of message.content) {
    if (part.type === 'tool-call') {
      if (seen.has(part.id)) continue
      seen.add(part.id)
      content.push(part.args === null ? { ...part, args: {}, rawArgs: '{}' } : part)
    } else content.push(part)
  }
  if (!hasContent({ ...message, content })) content.push({ type: 'text', text: EMPTY })
  return { ...message, content }
}

function isValidAssistant(message: AssistantMessage): boolean {
  const calls = toolCalls(message)
  if (calls.length > 1 && new Set(calls.map((call) => call.id)).size !== calls.length) return false
  return hasContent(message) && calls.every((call) => call.args !== null)
}

/** Of the results from `first` to `last`. */
function resultFor(call: ToolCallPart, messages: readonly Message[], first: number, last: number): ToolMessage {
  for (let at = first; at <= last; at++) {
    const message = messages[at] as ToolMessage
    if (message.callId.toWellFormed() !== call.id) continue
    const result = wellFormedMessage(message)
    return result.content.length > 0 ? result : { ...result, content: [{ type: 'text', text: EMPTY }] }
  }
  return {
    role: 'tool',
    callId: call.id,
    toolName: call.name,
    isError: true,
    content: [{ type: 'text', text: INTERRUPTED }],
  }
}

function hasContent(message: Message): boolean {
  return message.content.some((part) => {
    if (part.type === 'text') return part.text.trim() !== ''
    return part.type !== 'reasoning'
  })
}

/** Runs over the whole conversation before each request, hence plain loops. */
function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) {
    for (const item of value) if (hasLoneSurrogate(item)) return true
    return false
  }
  for (const key in value) if (hasLoneSurrogate((value as Record<string, unknown>)[key])) return true
  return false
}

/** Each message goes out with every later request and never changes, so what was looked through once is known. */
const seenWellFormed = new WeakSet<Message>()

function wellFormedMessage<T extends Message>(message: T): T {
  if (seenWellFormed.has(message)) return message
  const result = wellFormed(message)
  seenWellFormed.add(result)
  return result
}

function wellFormed<T>(value: T): T {
  if (!hasLoneSurrogate(value)) return value
  const walk = (inner: unknown): unknown => {
    if (typeof inner === 'string') return inner.toWellFormed()
    if (Array.isArray(inner)) return inner.map(walk)
    if (typeof inner === 'object' && inner !== null) {
      return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, walk(item)]))
    }
    return inner
  }
  return walk(value) as T
}
