import type { JsonObject } from '@hermes/contracts'
import type { EndpointStamp, Message } from '@hermes/contracts/conversation'
import { toolCalls } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import { closedSchema } from '../answer-format.js'
import type { ModelFamily as ClaudeFamily } from '../anthropic-messages/model-families.js'
import { familyOf as claudeOf } from '../anthropic-messages/model-families.js'
import type { ConverseFamily } from './model-families.js'
import { familyOf } from './model-families.js'
import { toWireConversation } from './wire-conversation.js'
import type { WireBlock, WireJson, WireMessage, WireRequest, WireTool } from './wire-types.js'

/** What a request is made with, apart from what is asked. */
interface RequestOptions {
  readonly stamp: EndpointStamp
  readonly cacheTtl: '5m' | '1h'
  /** The endpoint has refused marks for its cache with this model. */
  readonly uncached: boolean
  /** Further members of each request, such as `guardrailConfig`. */
  readonly body?: JsonObject | undefined
}

/** Asked for from Claude when a request names no limit. Bedrock takes the limit off the quota until the answer is complete. */
const DEFAULT_CLAUDE_TOKENS = 32_000

const BUDGETS = { minimal: 1_024, low: 4_096, medium: 8_192, high: 16_384 } as const

/** The input of a request. Pure: equal input gives equal bytes. */
export function toWireRequest(request: ModelRequest, options: RequestOptions): WireRequest {
  const { stamp, cacheTtl, uncached, body } = options
  const family = familyOf(request.model)
  const { resultStatus = false, withoutTools: callsAsText = false } = family
  const { system, messages } = toWireConversation(request.messages, { stamp, resultStatus, callsAsText })
  const reasoning = reasoningOf(request, family, messages)
  const tools = callsAsText ? [] : toolsOf(request)
  const inferenceConfig = limits(request, family, reasoning)
  const input: WireRequest = {
    modelId: request.model,
    messages,
    ...(system.length === 0 ? {} : { system }),
    ...(inferenceConfig ? { inferenceConfig } : {}),
    ...(tools.length === 0 ? {} : { toolConfig: { tools, ...toolChoice(request, reasoning) } }),
    ...(reasoning ? { additionalModelRequestFields: { ...reasoning } } : {}),
    ...outputConfig(request, family),
    ...body,
  }
  return uncached ? input : markCache(input, family, cacheTtl)
}

/** How reasoning is asked for, which differs from maker to maker; `null` when it is not. */
type Reasoning =
  | { readonly thinking: { readonly type: 'enabled'; readonly budget_tokens: number } }
  | {
      readonly thinking: { readonly type: 'adaptive'; readonly display: 'summarized' }
      readonly output_config?: { readonly effort: Effort }
    }
  | { readonly reasoningConfig: { readonly type: 'enabled'; readonly maxReasoningEffort: Effort } }
  | { readonly reasoning_effort: Effort }

type Effort = 'low' | 'medium' | 'high'

function reasoningOf(
  request: ModelRequest,
  family: ConverseFamily,
  messages: readonly WireMessage[],
): Reasoning | null {
  const { model, reasoningEffort } = request
  const effort = reasoningEffort === 'minimal' ? 'low' : reasoningEffort
  switch (family.reasoning) {
    case 'claude':
      return thinkingOf(claudeOf(model), request, messages)
    case 'nova':
      return effort ? { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } } : null
    case 'effort':
      return effort ? { reasoning_effort: effort } : null
    case undefined:
      return null
    default:
      return family.reasoning satisfies never
  }
}

function thinkingOf(
  claude: ClaudeFamily,
  { reasoningEffort }: ModelRequest,
  messages: readonly WireMessage[],
): Reasoning | null {
  switch (claude.thinking) {
    case 'adaptive': {
      if (!reasoningEffort && !claude.thinksByDefault) return null
      const effort = reasoningEffort === 'minimal' ? 'low' : reasoningEffort
      return { thinking: { type: 'adaptive', display: 'summarized' }, ...(effort ? { output_config: { effort } } : {}) }
    }
    case 'budget':
      if (!reasoningEffort || goesOnWithoutThoughts(messages)) return null
      return { thinking: { type: 'enabled', budget_tokens: BUDGETS[reasoningEffort] } }
    case 'none':
      return null
    default:
      return claude.thinking satisfies never
  }
}

/** With a budget, a turn that called tools without a thought of this endpoint has to end that way. */
function goesOnWithoutThoughts(messages: readonly WireMessage[]): boolean {
  const [requested, answered] = messages.slice(-2)
  const first = requested?.content[0]
  return answered?.content[0]?.toolResult !== undefined && first?.reasoningContent === undefined
}

/** Tokens of a budget come on top of those that were asked for. A model that reasons as much as it likes takes no limits. */
function limits(request: ModelRequest, family: ConverseFamily, reasoning: Reasoning | null) {
  const { maxOutputTokens, temperature } = request
  if (family.reasoning === 'claude') {
    const budget =
      reasoning && 'thinking' in reasoning && reasoning.thinking.type === 'enabled' ? reasoning.thinking : null
    const requested = (maxOutputTokens ?? DEFAULT_CLAUDE_TOKENS) + (budget?.budget_tokens ?? 0)
    const claude = claudeOf(request.model)
    return {
      maxTokens: Math.min(claude.maxOutputTokens, requested),
      // Thoughts and a temperature exclude each other.
      ...(claude.sampling && !reasoning && temperature !== undefined ? { temperature: Math.min(temperature, 1) } : {}),
    }
  }
  if (reasoning && 'reasoningConfig' in reasoning && reasoning.reasoningConfig.maxReasoningEffort === 'high')
    return null
  if (maxOutputTokens === undefined && temperature === undefined) return null
  return {
    ...(maxOutputTokens === undefined ? {} : { maxTokens: maxOutputTokens }),
    // This wire knows temperatures up to 1.
    ...(temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }),
  }
}

/** Definitions must be there when the conversation has calls, even where none is to be made any more. */
function toolsOf({ tools, messages }: ModelRequest): WireTool[] {
  if (tools.length > 0)
    return tools.map(({ name, description, parameters }) => tool(name, description, parameters as JsonObject))
  return [...calledTools(messages)].map((name) => tool(name, 'No longer available.', { type: 'object' }))
}

function calledTools(messages: readonly Message[]): Set<string> {
  return new Set(messages.flatMap((message) => toolCalls(message).map(({ name }) => name)))
}

function tool(name: string, description: string, parameters: JsonObject): WireTool {
  return {
    toolSpec: { name, ...(description === '' ? {} : { description }), inputSchema: { json: parameters as WireJson } },
  }
}

/**
 * The wire has no way to forbid calls: `none` leaves the choice open and relies on what the conversation says. Claude cannot be made to
 * call a tool while it thinks.
 */
function toolChoice({ toolChoice: choice, tools }: ModelRequest, reasoning: Reasoning | null) {
  if (tools.length === 0 || choice === undefined || choice === 'none') return {}
  if (choice === 'auto' || (reasoning && 'thinking' in reasoning)) return { toolChoice: { auto: {} } }
  return { toolChoice: choice === 'required' ? { any: {} } : { tool: { name: choice.name } } }
}

/** Claude alone is known to take it with every schema that is sent. */
function outputConfig({ model, answerFormat: format }: ModelRequest, { reasoning }: ConverseFamily) {
  if (format?.type !== 'json-schema' || reasoning !== 'claude' || !claudeOf(model).formats) return {}
  const closed = closedSchema(format.schema)
  if (!closed) return {}
  const jsonSchema = { schema: JSON.stringify(closed), name: format.name }
  return { outputConfig: { textFormat: { type: 'json_schema' as const, structure: { jsonSchema } } } }
}

const MARKED_MESSAGES = 3

/**
 * The request with marks for the provider's cache: one after the system text, which tool definitions precede, and one at the end of each
 * of the last three messages. Four is what the provider allows. Unchanged for a model that takes none; an hour becomes five minutes for
 * one that keeps nothing longer.
 */
function markCache(request: WireRequest, family: ConverseFamily, requested: '5m' | '1h'): WireRequest {
  if (!family.cacheTtl) return request
  const isLong = requested === '1h' && family.cacheTtl === '1h'
  const point = { cachePoint: { type: 'default' as const, ...(isLong ? { ttl: '1h' as const } : {}) } }
  const { system, messages = [] } = request
  const firstMarked = messages.length - MARKED_MESSAGES
  return {
    ...request,
    ...(system ? { system: [...system, point] } : {}),
    messages: messages.map((message, index) => (index < firstMarked ? message : markMessage(message, point))),
  }
}

/** A mark stands right after what it marks, and thoughts take none. */
function markMessage(message: NonNullable<WireRequest['messages']>[number], point: WireBlock) {
  const content = message.content ?? []
  const at = content.findLastIndex((block) => !('reasoningContent' in block))
  return at < 0 ? message : ({ ...message, content: content.toSpliced(at + 1, 0, point) } satisfies WireMessage)
}
