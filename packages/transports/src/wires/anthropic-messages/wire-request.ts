import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelRequest, ToolChoice } from '@hermes/contracts/model'
import type { ProviderQuirks } from '../../catalogue.js'
import { closedSchema } from '../answer-format.js'
import { toSchemaDialect } from '../tool-schemas.js'
import type { ModelFamily } from './model-families.js'
import { familyOf } from './model-families.js'
import { toWireConversation } from './wire-conversation.js'
import type { CacheControl, Thinking, WireBlock, WireMessage, WireRequest } from './wire-types.js'

/** Asked for when a request names no limit and the model allows as much. */
const DEFAULT_OUTPUT_TOKENS = 64_000

const BUDGETS = { minimal: 1_024, low: 4_096, medium: 8_192, high: 16_384 } as const

/** The body of a request. Pure: equal input gives equal bytes. */
export function toWireRequest(
  request: ModelRequest,
  options: {
    readonly stamp: EndpointStamp
    readonly streaming: boolean
    readonly cacheTtl: CacheTtl
    readonly quirks?: ProviderQuirks
  },
): WireRequest {
  const { model, toolChoice } = request
  const family = familyOf(model)
  const { schemaDialect, serviceTiers, body: more } = options.quirks ?? {}
  const { system, messages } = toWireConversation(request.messages, options.stamp)
  const thinking = thinkingOf(request, family, messages)
  const tools = request.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: schemaDialect ? toSchemaDialect(parameters, schemaDialect) : parameters,
  }))
  const body: WireRequest = {
    model,
    max_tokens: outputTokens(request, family, thinking),
    ...(system.length === 0 ? {} : { system }),
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || !toolChoice ? {} : { tool_choice: choiceOf(toolChoice, thinking) }),
    ...(thinking ? { thinking } : {}),
    ...outputConfig(request, family, thinking),
    ...(family.sampling && !thinking ? samplingOf(request) : {}),
    ...(serviceTiers && family.fast && request.serviceTier === 'fast' ? { speed: 'fast' } : {}),
    ...more,
    ...(options.streaming ? { stream: true } : {}),
  }
  return markCache(body, options.cacheTtl)
}

function thinkingOf(
  { reasoningEffort }: ModelRequest,
  family: ModelFamily,
  messages: readonly WireMessage[],
): Thinking | undefined {
  switch (family.thinking) {
    case 'adaptive':
      return reasoningEffort || family.thinksByDefault ? { type: 'adaptive', display: 'summarized' } : undefined
    case 'budget':
      if (!reasoningEffort || goesOnWithoutThoughts(messages)) return undefined
      return { type: 'enabled', budget_tokens: BUDGETS[reasoningEffort] }
    case 'none':
      return undefined
    default:
      return family.thinking satisfies never
  }
}

/** With a budget, a turn that called tools without a thought of this endpoint has to end that way. */
function goesOnWithoutThoughts(messages: readonly WireMessage[]): boolean {
  const [requested, answered] = messages.slice(-2)
  if (answered?.content[0]?.type !== 'tool_result') return false
  return requested?.content[0]?.type !== 'thinking' && requested?.content[0]?.type !== 'redacted_thinking'
}

/** Tokens of a budget come on top of those that were asked for. */
function outputTokens(request: ModelRequest, family: ModelFamily, thinking: Thinking | undefined): number {
  const requested = request.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS
  return Math.min(family.maxOutputTokens, requested + (thinking?.type === 'enabled' ? thinking.budget_tokens : 0))
}

/** A model that thinks cannot be made to call a tool. */
function choiceOf(choice: ToolChoice, thinking: Thinking | undefined): NonNullable<WireRequest['tool_choice']> {
  if (choice === 'auto' || choice === 'none') return { type: choice }
  if (thinking) return { type: 'auto' }
  return choice === 'required' ? { type: 'any' } : { type: 'tool', name: choice.name }
}

function outputConfig(
  { reasoningEffort, answerFormat }: ModelRequest,
  family: ModelFamily,
  thinking: Thinking | undefined,
): Pick<WireRequest, 'output_config'> {
  const schema = family.formats && answerFormat?.type === 'json-schema' ? closedSchema(answerFormat.schema) : null
  const config = {
    ...(thinking?.type === 'adaptive' && reasoningEffort ? { effort: effortOf(reasoningEffort) } : {}),
    ...(schema ? { format: { type: 'json_schema' as const, schema } } : {}),
  }
  return Object.keys(config).length === 0 ? {} : { output_config: config }
}

function effortOf(effort: NonNullable<ModelRequest['reasoningEffort']>): 'low' | 'medium' | 'high' {
  return effort === 'minimal' ? 'low' : effort
}

/** This wire knows temperatures up to 1. */
function samplingOf({ temperature }: ModelRequest): Pick<WireRequest, 'temperature'> {
  return temperature === undefined ? {} : { temperature: Math.min(temperature, 1) }
}

/** How long the provider keeps a prefix: five minutes, or an hour at a higher price for writing. */
type CacheTtl = '5m' | '1h'

const MARKED_MESSAGES = 3

/**
 * The request with marks for the provider's cache: one after the system text, which tool definitions precede (without system text
 * after the definitions), and one at the end of each of the last three messages. Four is what the provider allows.
 */
function markCache(request: WireRequest, ttl: CacheTtl): WireRequest {
  const cache_control: CacheControl = ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' }
  const { system, tools, messages } = request
  const firstMarked = messages.length - MARKED_MESSAGES
  return {
    ...request,
    ...(system ? { system: markAt(system, system.length - 1, cache_control) } : {}),
    ...(tools && !system ? { tools: markAt(tools, tools.length - 1, cache_control) } : {}),
    messages: messages.map((message, index) => (index < firstMarked ? message : markMessage(message, cache_control))),
  }
}

function markMessage(message: WireMessage, mark: CacheControl): WireMessage {
  return { ...message, content: markAt(message.content, message.content.findLastIndex(isMarkable), mark) }
}

function isMarkable({ type }: WireBlock): boolean {
  return type !== 'thinking' && type !== 'redacted_thinking'
}

function markAt<Item extends object>(items: readonly Item[], at: number, cache_control: CacheControl): Item[] {
  return items.map((item, index) => (index === at ? { ...item, cache_control } : item))
}
