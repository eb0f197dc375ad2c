import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import type { ProviderQuirks } from '../../catalogue.js'
import { toSchemaDialect } from '../tool-schemas.js'
import { effortOf, familyOf, type ModelFamily } from './model-families.js'
import { toWireInput } from './wire-input.js'
import type { WireRequest } from './wire-types.js'

/** The least that the server lets a request ask for. */
const MIN_OUTPUT_TOKENS = 16

/** What the body depends on besides the request. */
interface WireRequestOptions {
  readonly quirks: ProviderQuirks
  readonly stamp: EndpointStamp
  readonly streaming: boolean
  /** Whether the server shows what its models think. */
  readonly summaries: boolean
}

/** The body of a request. Pure: equal input gives equal bytes. Nothing is stored by the server. */
export function toWireRequest(request: ModelRequest, options: WireRequestOptions): WireRequest {
  const { quirks } = options
  const { model, toolChoice, temperature } = request
  const family = familyOf(model)
  const { instructions, input } = toWireInput(request.messages, options.stamp)
  const tools = toolFields(request.tools, quirks)
  return {
    model,
    store: false,
    ...(instructions === '' ? {} : { instructions }),
    input,
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || !toolChoice ? {} : { tool_choice: toolChoice }),
    ...thinking(request, family, options.summaries),
    ...outputLimit(request, quirks),
    ...(temperature === undefined || !family.sampling ? {} : { temperature }),
    ...quirks.body,
    ...(options.streaming ? { stream: true } : {}),
  }
}

function toolFields(tools: ModelRequest['tools'], { schemaDialect }: ProviderQuirks) {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    parameters: schemaDialect ? toSchemaDialect(parameters, schemaDialect) : parameters,
    strict: false as const,
  }))
}

function outputLimit(request: ModelRequest, quirks: ProviderQuirks): Pick<WireRequest, 'max_output_tokens'> {
  const { maxOutputTokens = quirks.defaultMaxOutputTokens } = request
  if (maxOutputTokens === undefined || quirks.refusesOutputLimit) return {}
  return { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxOutputTokens) }
}

/** Models that never think refuse every word about it. */
function thinking(
  { reasoningEffort }: ModelRequest,
  family: ModelFamily,
  summaries: boolean,
): Pick<WireRequest, 'reasoning' | 'include'> {
  if (family.thinks === 'never' || (family.thinks === 'when-asked' && !reasoningEffort)) return {}
  const effort = reasoningEffort && effortOf(reasoningEffort, family)
  const reasoning = {
    ...(effort ? { effort } : {}),
    ...(summaries && family.efforts.length > 0 ? { summary: 'auto' as const } : {}),
  }
  return {
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    include: ['reasoning.encrypted_content'],
  }
}
