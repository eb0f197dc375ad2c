/** A wire message as the OpenAI chat-completions protocol has it. */
export interface WireMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly {
    readonly id: string
    readonly type?: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly tool_call_id?: string
  readonly [key: string]: unknown
}

/** The parsed body of a request, in the terms of chat completions; other wires fill the other keys. */
export interface WireBody {
  readonly model: string
  readonly messages: readonly WireMessage[]
  readonly tools?: readonly unknown[]
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
  readonly [key: string]: unknown
}

/**
 * Every way in which tool calls and results of `messages` fail to pair up, one line each: a call without result, a result without
 * call, a second result, arguments that are not a JSON object.
 */
export function checkWirePairs(messages: readonly WireMessage[]): string[] {
  const problems: string[] = []
  let open = new Map<string, boolean>()
  const close = (index: number) => {
    for (const [id, answered] of open)
      if (!answered) problems.push(`messages[${index}]: tool call ${id} has no result before this message`)
    open = new Map()
  }
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? ''
      if (!open.has(id)) problems.push(`messages[${index}]: tool result for unknown call ${JSON.stringify(id)}`)
      else if (open.get(id)) problems.push(`messages[${index}]: second result for tool call ${id}`)
      else open.set(id, true)
      return
    }
    if (open.size > 0) close(index)
    for (const call of message.tool_calls ?? []) {
      if (open.has(call.id)) problems.push(`messages[${index}]: two tool calls share the id ${call.id}`)
      if (!isObjectText(call.function.arguments))
        problems.push(`messages[${index}]: the arguments of tool call ${call.id} are not a JSON object`)
      open.set(call.id, false)
    }
  })
  if (open.size > 0) close(messages.length)
  return problems
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
