import type { ProviderQuirks } from '../catalogue.js'

interface Part {
  readonly type: string
  readonly text?: string
}

/** A message as it is about to leave. */
interface Sent {
  readonly role: string
  readonly content?: string | readonly Part[] | null
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly type: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly [key: string]: unknown
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  developer: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'reasoning_content', 'reasoning', 'reasoning_details'],
  tool: ['role', 'content', 'tool_call_id'],
}

/**
 * What servers of chat completions refuse in messages, one line each: the rules of OpenAI's reference, and those of single vendors as
 * far as the quirks of an endpoint say that it has them. Written apart from the wire, from the vendors' documentation.
 * @see https://platform.openai.com/docs/api-reference/chat/create
 */
export function checkChatMessages(messages: readonly unknown[], quirks: ProviderQuirks): string[] {
  const sent = messages as readonly Sent[]
  return [
    ...sent.flatMap((message, at) => checkMessage(message, quirks).map((line) => `messages[${at}]: ${line}`)),
    ...checkOrder(sent, quirks),
    ...(JSON.stringify(messages).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(messages)) ? [] : ['a lone surrogate']),
  ]
}

function checkMessage(message: Sent, quirks: ProviderQuirks): string[] {
  const { role, content, tool_calls: calls = [] } = message
  const allowed = KEYS[role]
  if (!allowed) return [`role ${role}`]
  const problems = Object.keys(message).flatMap((key) => (allowed.includes(key) ? [] : [`the field ${key}`]))
  const isEmpty = content === null || content === undefined || content.length === 0
  if (isEmpty && calls.length === 0) problems.push(`empty content of ${role}`)
  if (typeof content === 'string' && content !== '' && content.trim() === '') problems.push('blank content')
  if (Array.isArray(content))
    for (const part of content as readonly Part[]) if (part.type === 'text' && !part.text?.trim()) problems.push('a blank part')
  if (message.tool_calls && calls.length === 0) problems.push('an empty list of calls')
  for (const call of calls) problems.push(...checkCall(call, quirks))
  if (quirks.reasoningRequired && calls.length > 0 && typeof message['reasoning_content'] !== 'string')
    problems.push('calls without reasoning_content')
  return problems
}

function checkCall(call: NonNullable<Sent['tool_calls']>[number], { callIds }: ProviderQuirks): string[] {
  const problems: string[] = []
  if (call.type !== 'function') problems.push(`a call of type ${call.type}`)
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.function.name)) problems.push(`the name ${JSON.stringify(call.function.name)}`)
  if (call.id === '') problems.push('an empty call id')
  if (callIds && call.id.length > callIds.maxChars) problems.push(`the call id ${call.id} is too long`)
  if (callIds?.exactly && !/^[a-zA-Z0-9]+$/.test(call.id)) problems.push(`the call id ${call.id}`)
  if (callIds?.exactly && call.id.length !== callIds.maxChars) problems.push(`the length of the call id ${call.id}`)
  try {
    const value: unknown = JSON.parse(call.function.arguments)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) problems.push('arguments that are no object')
  } catch {
    problems.push('arguments that are not JSON')
  }
  return problems
}

function checkOrder(messages: readonly Sent[], { repair = {} }: ProviderQuirks): string[] {
  const problems: string[] = []
  const ids = new Set<string>()
  let open: string[] = []
  messages.forEach(({ role, tool_call_id, tool_calls = [] }, at) => {
    const previous = messages[at - 1]?.role
    const isSystem = role === 'system' || role === 'developer'
    if (isSystem && at > 0) problems.push(`messages[${at}]: system text after the start`)
    if (role === 'tool') {
      if (open[0] !== tool_call_id) problems.push(`messages[${at}]: a result for ${tool_call_id}, expected ${open[0]}`)
      open = open.slice(1)
      return
    }
    if (open.length > 0) problems.push(`messages[${at}]: ${open.join(', ')} have no result`)
    if (role === previous) problems.push(`messages[${at}]: ${role} twice in a row`)
    if (repair.startWithUser && role === 'assistant' && (previous === undefined || /system|developer/.test(previous)))
      problems.push(`messages[${at}]: the assistant speaks first`)
    if (repair.assistantAfterResults && role === 'user' && previous === 'tool')
      problems.push(`messages[${at}]: the user speaks right after a result`)
    open = tool_calls.map(({ id }) => id)
    for (const id of open) {
      if (ids.has(id)) problems.push(`messages[${at}]: the call id ${id} is used twice`)
      ids.add(id)
    }
  })
  if (open.length > 0) problems.push(`${open.join(', ')} have no result`)
  if (repair.endWithUser && messages.at(-1)?.role === 'assistant') problems.push('the assistant has the last word')
  return problems
}
