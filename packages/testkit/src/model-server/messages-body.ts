import type { IncomingHttpHeaders } from 'node:http'
import type { WireBody } from './wire-body.js'

interface Block {
  readonly type: string
  readonly id?: string
  readonly tool_use_id?: string
  readonly text?: string
  readonly thinking?: string
  readonly signature?: string
  readonly input?: unknown
  readonly cache_control?: unknown
}

interface Message {
  readonly role: string
  readonly content: readonly Block[]
}

const MAX_CACHE_MARKS = 4

/** What Anthropic would refuse in a request, one line each. `sign` gives the signature a thought of a model must carry. */
export function checkMessagesRequest(
  body: WireBody,
  headers: IncomingHttpHeaders,
  sign: (model: string, thought: string) => string,
): string[] {
  const messages = body.messages.map(({ role, content }) => ({ role, content: blocksOf(content) }))
  return [
    ...(headers['anthropic-version'] ? [] : ['the header anthropic-version is missing']),
    ...checkParameters(body),
    ...checkRoles(messages),
    ...checkBlocks(messages, (thought) => sign(body.model, thought)),
    ...checkToolPairs(messages),
  ]
}

function blocksOf(content: unknown): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly Block[])
}

/** Models since Opus 4.7 make their answers in their own way. */
const FIXED_SAMPLING = /claude-(?:opus-4[.-][7-9]|(?:opus|sonnet|haiku)-[5-9]|fable|mythos)/

function checkParameters({ max_tokens, model, temperature, thinking, tool_choice, ...rest }: WireBody): string[] {
  const problems: string[] = []
  if (!(Number.isInteger(max_tokens) && (max_tokens as number) > 0))
    problems.push('max_tokens: must be a positive integer')
  if (temperature !== undefined && FIXED_SAMPLING.test(model))
    problems.push('`temperature` is deprecated for this model.')
  const budget = (thinking as { readonly budget_tokens?: number } | undefined)?.budget_tokens
  if (budget !== undefined && (budget < 1024 || budget >= (max_tokens as number)))
    problems.push('thinking.budget_tokens: must be at least 1024 and less than max_tokens')
  if (thinking && (tool_choice as { readonly type?: string } | undefined)?.type === 'any')
    problems.push('tool_choice: thinking may not be enabled when tool_choice forces tool use')
  const marks = JSON.stringify(rest).split('"cache_control"').length - 1
  if (marks > MAX_CACHE_MARKS) problems.push(`cache_control: ${marks} blocks are marked, ${MAX_CACHE_MARKS} may be`)
  return problems
}

function checkRoles(messages: readonly Message[]): string[] {
  const problems = messages.flatMap(({ role }, index) =>
    role === (index % 2 === 0 ? 'user' : 'assistant') ? [] : [`messages[${index}]: roles must alternate, user first`],
  )
  if (messages.at(-1)?.role !== 'user') problems.push('messages: the conversation must end with a user message')
  return problems
}

function checkBlocks(messages: readonly Message[], sign: (thought: string) => string): string[] {
  return messages.flatMap(({ content }, at) => {
    if (content.length === 0) return [`messages[${at}]: content is empty`]
    return content.flatMap((block, index) =>
      checkBlock(block, sign).map((line) => `messages[${at}].content[${index}]: ${line}`),
    )
  })
}

function checkBlock(block: Block, sign: (thought: string) => string): string[] {
  if (block.type === 'text') return block.text?.trim() ? [] : ['text content blocks must be non-empty']
  if (block.type === 'thinking') {
    if (block.cache_control) return ['thinking blocks take no cache_control']
    return block.signature === sign(block.thinking ?? '') ? [] : ['Invalid `signature` in `thinking` block']
  }
  if (block.type !== 'tool_use') return []
  if (!/^[\w-]+$/.test(block.id ?? ''))
    return [`tool_use.id ${JSON.stringify(block.id)} does not match ^[a-zA-Z0-9_-]+$`]
  const isObject = typeof block.input === 'object' && block.input !== null && !Array.isArray(block.input)
  return isObject ? [] : ['tool_use.input is not an object']
}

/** Each call is answered once, in the message after it, before anything else that message says. */
function checkToolPairs(messages: readonly Message[]): string[] {
  const problems: string[] = []
  messages.forEach(({ role, content }, at) => {
    const results = content.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id)
    const previous = messages[at - 1]?.content ?? []
    const requested = new Set(previous.filter(({ type }) => type === 'tool_use').map(({ id }) => id))
    if (content.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
      problems.push(`messages[${at}]: tool_result blocks come after other content`)
    if (new Set(results).size < results.length) problems.push(`messages[${at}]: two results for one call`)
    for (const id of results)
      if (!requested.delete(id)) problems.push(`messages[${at}]: tool_result for unknown call ${JSON.stringify(id)}`)
    for (const id of requested) problems.push(`messages[${at}]: tool_use ${id} has no tool_result right after it`)
    const calls = role === 'assistant' ? content.filter(({ type }) => type === 'tool_use').map(({ id }) => id) : []
    if (new Set(calls).size < calls.length) problems.push(`messages[${at}]: tool_use ids must be unique`)
    if (calls.length > 0 && at === messages.length - 1) problems.push(`messages[${at}]: calls without results`)
  })
  return problems
}
