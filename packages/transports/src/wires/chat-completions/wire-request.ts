import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelRequest, ToolChoice } from '@hermes/contracts/model'
import { nameHas } from '../../catalogue/provider.js'
import type { ProviderQuirks } from '../../catalogue.js'
import { schemaFormat } from '../answer-format.js'
import { tierField } from '../service-tier.js'
import { toSchemaDialect } from '../tool-schemas.js'
import { markCache } from './cache-marks.js'
import { toWireMessages } from './wire-messages.js'
import type { WireMessage } from './wire-types.js'

/** A chat-completions request, its keys in a fixed order. */
interface WireRequest {
  readonly model: string
  readonly messages: readonly WireMessage[]
  readonly [key: string]: unknown
}

/** What a body depends on besides the request. */
interface WireRequestOptions {
  readonly quirks: ProviderQuirks
  readonly stamp: EndpointStamp
  readonly streaming: boolean
  /** For endpoints that take marks for their cache. Default `5m`. */
  readonly cacheTtl?: '5m' | '1h'
}

/** The body of a request. Pure: equal input gives equal bytes. */
export function toWireRequest(request: ModelRequest, options: WireRequestOptions): WireRequest {
  const { quirks, streaming } = options
  const { model, temperature, reasoningEffort } = request
  const { maxOutputTokens = quirks.defaultMaxOutputTokens } = request
  return {
    model,
    messages: wireMessages(request, options),
    ...toolFields(request, quirks),
    ...formatFields(request, quirks),
    ...(temperature === undefined || nameHas(model, quirks.fixedTemperatureModels) ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { [quirks.outputLimitParameter ?? 'max_tokens']: maxOutputTokens }),
    ...(reasoningEffort === undefined ? {} : effortFields(reasoningEffort, model, quirks)),
    ...tierField(request, quirks),
    ...quirks.body,
    ...(streaming ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

function wireMessages({ model, messages }: ModelRequest, options: WireRequestOptions): readonly WireMessage[] {
  const wire = toWireMessages(messages, { ...options, model })
  const ttl = cacheTtlOf(model, options)
  return ttl ? markCache(wire, ttl) : wire
}

/** How long a model's endpoint is told to keep a prefix; `null` where it takes no marks. */
export function cacheTtlOf(
  model: string,
  { quirks, cacheTtl = '5m' }: Pick<WireRequestOptions, 'quirks' | 'cacheTtl'>,
): '5m' | '1h' | null {
  const { cacheMarks } = quirks
  return cacheMarks && nameHas(model, cacheMarks.models) ? (cacheMarks.maxTtl ?? cacheTtl) : null
}

function toolFields({ tools, toolChoice }: ModelRequest, { schemaDialect }: ProviderQuirks): object {
  if (tools.length === 0) return {}
  return {
    tools: wireTools(tools, schemaDialect),
    ...(toolChoice === undefined ? {} : { tool_choice: wireChoice(toolChoice) }),
  }
}

function wireChoice(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } }
}

function formatFields({ model, tools, answerFormat: format }: ModelRequest, quirks: ProviderQuirks): object {
  const { answerFormats = 'schema', schemaDialect, formatWithoutToolsModels } = quirks
  if (!format || answerFormats === 'none') return {}
  if (tools.length > 0 && nameHas(model, formatWithoutToolsModels)) return {}
  if (format.type === 'json' || answerFormats === 'json') return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: schemaFormat(format, schemaDialect) } }
}

type Dialect = ProviderQuirks['schemaDialect']

/** The definitions of a session are frozen, so they are converted once for a dialect. */
const converted = new WeakMap<ModelRequest['tools'], { readonly dialect: Dialect; readonly tools: readonly object[] }>()

function wireTools(definitions: ModelRequest['tools'], dialect: Dialect): readonly object[] {
  const known = converted.get(definitions)
  if (known && known.dialect === dialect) return known.tools
  const tools = definitions.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: dialect ? toSchemaDialect(parameters, dialect) : parameters },
  }))
  converted.set(definitions, { dialect, tools })
  return tools
}

type Effort = NonNullable<ModelRequest['reasoningEffort']>

/** How a request asks for an effort of reasoning; nothing where the model takes none. */
function effortFields(effort: Effort, model: string, quirks: ProviderQuirks): object {
  if (quirks.reasoningEffortModels && !nameHas(model, quirks.reasoningEffortModels)) return {}
  const shape = quirks.reasoningEffortShape ?? 'flat'
  switch (shape) {
    case 'flat':
      return { reasoning_effort: effort }
    case 'nested':
      return { reasoning: { effort } }
    case 'thinking':
      return { reasoning_effort: effort === 'minimal' ? 'low' : effort, thinking: { type: 'enabled' } }
    case 'google':
      return googleFields(effort, model.toLowerCase())
    case 'none':
      return {}
    default:
      return shape satisfies never
  }
}

/** Version 2.5 shows thoughts and takes no level; later ones take three, their Pro models two. */
function googleFields(effort: Effort, model: string): object {
  const name = model.slice(model.lastIndexOf('/') + 1)
  if (!name.startsWith('gemini')) return { reasoning_effort: effort }
  const low = effort === 'minimal' || effort === 'low'
  const level = name.includes('-pro') ? (low ? 'low' : 'high') : effort === 'minimal' ? 'low' : effort
  const thinking_config = {
    include_thoughts: true,
    ...(name.startsWith('gemini-2') ? {} : { thinking_level: level }),
  }
  return { extra_body: { google: { thinking_config } } }
}
