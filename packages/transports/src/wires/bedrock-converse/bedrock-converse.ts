import { HermesError } from '@hermes/contracts'
import { refusesCaching } from '../../classify-error.js'
import type { CallTarget } from '../../transport-error.js'
import { CACHE_LIFETIME_MS, type WireOptions } from '../wire-options.js'
import type { Wire } from '../wire-transport.js'
import { AnswerAssembler } from './answer-assembler.js'
import { familyOf } from './model-families.js'
import type { SdkAnswer, SdkClient } from './sdk-client.js'
import { streamError } from './service-error.js'
import { toWireRequest } from './wire-request.js'
import type { WireAnswer, WireEvent } from './wire-types.js'

/** The Bedrock converse wire to one endpoint. */
export function bedrockConverse(options: WireOptions): Wire<SdkClient, SdkAnswer, WireEvent> {
  const { cacheTtl, quirks } = options
  /** Models with which this endpoint refused marks for its cache. */
  const uncached = new Set<string>()
  return {
    path: (model) => `/model/${encodeURIComponent(model)}/converse-stream`,
    // Limits of output and reasoning hang together here.
    cacheLifetimeMs: ({ model, reasoningEffort }) => {
      const { cacheTtl: longest } = familyOf(model)
      if (!longest || reasoningEffort || uncached.has(model)) return null
      return CACHE_LIFETIME_MS[longest === '1h' ? cacheTtl : longest]
    },
    createClient: async (credential) => (await import('./sdk-client.js')).createSdkClient({ ...options, credential }),
    begin: (request, stamp) => {
      const { model } = request
      const assembler = new AnswerAssembler(request, stamp)
      return {
        // A model that turns out to take no marks for the cache is asked once more without, and so from then on.
        send: (client, streaming, controller) => {
          const ask = () => {
            const input = toWireRequest(request, { stamp, cacheTtl, uncached: uncached.has(model), body: quirks.body })
            return client.send(input, streaming, controller)
          }
          return ask().catch((error: unknown) => {
            if (uncached.has(model) || !refusesCaching(error)) throw error
            uncached.add(model)
            return ask()
          })
        },
        takeWhole: (text) => takeWhole(assembler, text),
        read: ({ events }) => events,
        push: (event) => assembler.push(event),
        explain: streamError,
        isComplete: () => assembler.isFinished,
        finish: async (target) => {
          if (assembler.isMalformed) throw malformed(target)
          return assembler.finish()
        },
      }
    },
  }
}

function takeWhole(assembler: AnswerAssembler, text: string): void {
  const body = JSON.parse(text) as WireAnswer
  if (!Array.isArray(body.output?.message?.content)) throw new SyntaxError('The answer has no content.')
  assembler.pushWhole(body)
}

function malformed({ provider, model }: CallTarget): HermesError {
  return new HermesError(`${model} at ${provider} made a call or an answer that could not be read.`, {
    code: 'transport.malformed_response',
    retryable: true,
    details: { provider, model },
  })
}
