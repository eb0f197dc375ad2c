import type { WireBody } from './wire-body.js'

interface Block {
  readonly text?: string
  readonly image?: object
  readonly document?: { readonly name: string }
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly input: unknown }
  readonly toolResult?: { readonly toolUseId: string; readonly content: readonly Block[] }
  readonly reasoningContent?: {
    readonly reasoningText?: { readonly text: string; readonly signature?: string }
    readonly redactedContent?: string
  }
  readonly cachePoint?: { readonly type: string; readonly ttl?: string }
}

interface Message {
  readonly role: string
  readonly content: readonly Block[]
}

interface Converse {
  readonly model: string
  readonly messages: readonly Message[]
  readonly inferenceConfig?: { readonly maxTokens?: number; readonly temperature?: number }
  readonly toolConfig?: {
    readonly tools: readonly { readonly toolSpec?: { readonly name: string; readonly description?: string } }[]
    readonly toolChoice?: { readonly any?: object }
  }
  readonly additionalModelRequestFields?: { readonly thinking?: { readonly budget_tokens?: number } }
}

const MAX_CACHE_POINTS = 4
const ID = /^[a-zA-Z0-9_-]{1,64}$/
const DOCUMENT_NAME = /^(?!.*\s\s)[A-Za-z0-9\s\-()[\]]{1,200}$/

/** What Bedrock would refuse in a request, one line each. `sign` gives the signature a thought of a model must carry. */
export function checkConverseRequest(body: WireBody, sign: (model: string, thought: string) => string): string[] {
  const request = body as unknown as Converse
  const { messages } = request
  return [
    ...checkParameters(request),
    ...checkTools(request),
    ...checkRoles(messages),
    ...messages.flatMap((message, at) => checkMessage(message, at, (thought) => sign(request.model, thought))),
    ...checkToolPairs(messages),
    ...checkDocuments(messages),
  ]
}

function checkParameters({ inferenceConfig, additionalModelRequestFields, toolConfig, ...rest }: Converse): string[] {
  const problems: string[] = []
  const { maxTokens, temperature } = inferenceConfig ?? {}
  if (maxTokens !== undefined && !(Number.isInteger(maxTokens) && maxTokens > 0))
    problems.push('inferenceConfig.maxTokens: must be a positive integer')
  if (temperature !== undefined && !(temperature >= 0 && temperature <= 1))
    problems.push('inferenceConfig.temperature: must be between 0 and 1')
  const { thinking } = additionalModelRequestFields ?? {}
  const budget = thinking?.budget_tokens
  if (budget !== undefined && (budget < 1024 || budget >= (maxTokens ?? Infinity)))
    problems.push('thinking.budget_tokens: must be at least 1024 and less than maxTokens')
  if (thinking && toolConfig?.toolChoice?.any)
    problems.push('Thinking may not be enabled when toolChoice forces tool use')
  const points = JSON.stringify({ ...rest, toolConfig }).split('"cachePoint":').length - 1
  if (points > MAX_CACHE_POINTS) problems.push(`cachePoint: ${points} are set, ${MAX_CACHE_POINTS} may be`)
  return problems
}

function checkTools({ toolConfig, messages }: Converse): string[] {
  const usesTools = messages.some(({ content }) => content.some(({ toolUse, toolResult }) => toolUse || toolResult))
  if (!toolConfig) {
    return usesTools ? ['The toolConfig field must be defined when using toolUse and toolResult content blocks.'] : []
  }
  const specs = toolConfig.tools.flatMap(({ toolSpec }) => toolSpec ?? [])
  if (specs.length === 0) return ['toolConfig.tools: must have at least one tool']
  return specs.flatMap(({ name, description }) => [
    ...(ID.test(name) ? [] : [`toolSpec.name ${JSON.stringify(name)} does not match ${ID.source}`]),
    ...(description === '' ? ['toolSpec.description must have at least one character'] : []),
  ])
}

function checkRoles(messages: readonly Message[]): string[] {
  const problems = messages.flatMap(({ role }, index) =>
    role === (index % 2 === 0 ? 'user' : 'assistant') ? [] : [`messages[${index}]: roles must alternate, user first`],
  )
  if (messages.at(-1)?.role !== 'user') problems.push('A conversation must end with a user message.')
  return problems
}

function checkMessage({ role, content }: Message, at: number, sign: (thought: string) => string): string[] {
  if (content.length === 0) return [`messages[${at}]: the content field is empty`]
  return content.flatMap((block, index) =>
    checkBlock(block, { role, index, sign }).map((line) => `messages[${at}].content[${index}]: ${line}`),
  )
}

function checkBlock(
  block: Block,
  { role, index, sign }: { readonly role: string; readonly index: number; readonly sign: (thought: string) => string },
): string[] {
  const { text, toolUse, toolResult, reasoningContent, cachePoint } = block
  if (Object.keys(block).length !== 1) return ['a content block must have exactly one member']
  if (text !== undefined) return text.trim() ? [] : ['The text field in the ContentBlock object is blank.']
  if (cachePoint && (index === 0 || cachePoint.type !== 'default')) return ['a cachePoint must follow what it marks']
  if (toolUse && role !== 'assistant') return ['toolUse blocks belong to the assistant']
  if (toolResult) {
    if (role !== 'user') return ['toolResult blocks belong to the user']
    return toolResult.content.length === 0 ? ['toolResult.content is empty'] : []
  }
  const thought = reasoningContent?.reasoningText
  if (thought && thought.signature !== sign(thought.text)) return ['Invalid `signature` in `thinking` block']
  if (!toolUse) return []
  const { toolUseId, input } = toolUse
  if (!ID.test(toolUseId)) return [`toolUseId ${JSON.stringify(toolUseId)} does not match ${ID.source}`]
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
  return isObject ? [] : ['toolUse.input is not an object']
}

/** Each call is answered once, in the message after it. */
function checkToolPairs(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }, at) => {
    const previous = messages[at - 1]?.content ?? []
    const requested = previous.flatMap(({ toolUse }) => toolUse?.toolUseId ?? [])
    const open = new Set(requested)
    const problems = open.size < requested.length ? [`messages[${at - 1}]: toolUse ids must be unique`] : []
    for (const { toolResult } of content)
      if (toolResult && !open.delete(toolResult.toolUseId))
        problems.push(`messages[${at}]: the toolResult ${toolResult.toolUseId} has no toolUse of its own before it`)
    for (const id of open)
      problems.push(`Expected toolResult blocks at messages.${at}.content for the following Ids: ${id}`)
    return problems
  })
}

function checkDocuments(messages: readonly Message[]): string[] {
  const names = messages.flatMap(({ content }) => content.flatMap(({ document }) => document?.name ?? []))
  const problems = names
    .filter((name) => !DOCUMENT_NAME.test(name))
    .map((name) => `The document name ${name} is invalid.`)
  if (new Set(names).size < names.length) problems.push("Messages can't contain duplicate document names.")
  for (const { content } of messages)
    if (content.some(({ document }) => document) && !content.some(({ text }) => text !== undefined))
      problems.push('A document needs a text block beside it.')
  return problems
}
