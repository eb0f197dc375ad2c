import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import type { ProviderQuirks } from '../../catalogue.js'
import { toWireMessages } from './wire-messages.js'
import type { WireMessage } from './wire-types.js'

/** A chat-completions request, its keys in a fixed order. */
export interface WireRequest {
  readonly model: string
  readonly messages: readonly WireMessage[]
  readonly [key: string]: unknown
}

/** The body of a request. Pure: equal input gives equal bytes. */
export function toWireRequest(
  request: ModelRequest,
  options: { readonly quirks: ProviderQuirks; readonly stamp: EndpointStamp; readonly streaming: boolean },
): WireRequest {
  const { quirks, stamp, streaming } = options
  const { model, tools, toolChoice, temperature, maxOutputTokens, reasoningEffort } = request
  return {
    model,
    messages: toWireMessages(request.messages, { quirks, model, stamp }),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
          ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
        }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { [quirks.outputLimitParameter ?? 'max_tokens']: maxOutputTokens }),
    ...(reasoningEffort === undefined ? {} : effort(reasoningEffort, quirks)),
    ...(streaming ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

function effort(level: string, quirks: ProviderQuirks): object {
  return quirks.reasoningEffortShape === 'nested' ? { reasoning: { effort: level } } : { reasoning_effort: level }
}
