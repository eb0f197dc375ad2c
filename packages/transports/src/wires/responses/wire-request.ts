import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import { effortOf, familyOf, type ModelFamily } from './model-families.js'
import { toWireInput } from './wire-input.js'
import type { WireRequest } from './wire-types.js'

/** The least that the server lets a request ask for. */
const MIN_OUTPUT_TOKENS = 16

/** What the body depends on besides the request. */
export interface WireRequestOptions {
  readonly stamp: EndpointStamp
  readonly streaming: boolean
  /** Whether the server shows what its models think. */
  readonly summaries: boolean
}

/** The body of a request. Pure: equal input gives equal bytes. Nothing is stored by the server. */
export function toWireRequest(request: ModelRequest, options: WireRequestOptions): WireRequest {
  const { model, toolChoice, temperature, maxOutputTokens } = request
  const family = familyOf(model)
  const { instructions, input } = toWireInput(request.messages, options.stamp)
  const tools = request.tools.map(
    ({ name, description, parameters }) =>
      ({ type: 'function', name, description, parameters, strict: false }) as const,
  )
  return {
    model,
    store: false,
    ...(instructions === '' ? {} : { instructions }),
    input,
    ...(tools.length === 0 ? {} : { tools }),
    ...(tools.length === 0 || !toolChoice ? {} : { tool_choice: toolChoice }),
    ...thinking(request, family, options.summaries),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxOutputTokens) }),
    ...(temperature === undefined || !family.sampling ? {} : { temperature }),
    ...(options.streaming ? { stream: true } : {}),
  }
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
