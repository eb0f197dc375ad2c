import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import type { ProviderQuirks } from '../../catalogue.js'
import { refusesSummaries } from '../../classify-error.js'
import { EventBody, reportedError } from '../event-body.js'
import type { OpenAiClient } from '../openai-client.js'
import type { Exchange } from '../wire-transport.js'
import { AnswerAssembler } from './answer-assembler.js'
import { toWireRequest } from './wire-request.js'
import type { WireEvent, WireResponse } from './wire-types.js'

// Loaded on first use: who speaks another wire has no need of it.

/** What an endpoint was found to refuse. */
export interface Refusals {
  /** Summaries of thoughts are for verified organisations. */
  summaries: boolean
}

/** What an exchange depends on besides the request. */
interface ExchangeOptions {
  readonly path: string
  readonly stamp: EndpointStamp
  readonly quirks: ProviderQuirks
  /** Written to when the endpoint refuses more. */
  readonly refusals: Refusals
}

/** Begins one exchange with the endpoint. */
export function beginExchange(
  request: ModelRequest,
  { path, stamp, quirks, refusals }: ExchangeOptions,
): Exchange<OpenAiClient, Response, WireEvent> {
  const assembler = new AnswerAssembler(request, stamp)
  let headers: Headers | undefined
  const finish = () => {
    if (assembler.failure) throw reportedError(assembler.failure, headers)
    return assembler.finish()
  }
  return {
    send: async (client, streaming, controller) => {
      const send = () => {
        const body = toWireRequest(request, { quirks, stamp, streaming, summaries: !refusals.summaries })
        return client.send(path, { body, conversation: request.messages[0] ?? request, controller })
      }
      try {
        return await send()
      } catch (error) {
        if (refusals.summaries || !refusesSummaries(error)) throw error
        refusals.summaries = true
        return send()
      }
    },
    takeWhole: (text) => {
      const body = JSON.parse(text) as WireResponse
      if (!body.error && !Array.isArray(body.output)) throw new SyntaxError('The response has no output.')
      assembler.end(body)
    },
    read: (response, signal) => {
      headers = response.headers
      return new EventBody<WireEvent>(response, { signal, isComplete: () => assembler.isFinished })
    },
    push: (event) => assembler.push(event),
    isProgress: ({ type }) => type.startsWith('response.output_item.'),
    isOver: () => assembler.isFinished,
    isComplete: () => assembler.isFinished,
    finish,
  }
}
