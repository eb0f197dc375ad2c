import { EventBody, reportedError } from '../event-body.js'
import { CACHE_LIFETIME_MS, type WireOptions } from '../wire-options.js'
import type { Wire } from '../wire-transport.js'
import { AnswerAssembler } from './answer-assembler.js'
import { familyOf } from './model-families.js'
import type { SdkClient } from './sdk-client.js'
import { toWireRequest } from './wire-request.js'
import type { WireAnswer, WireEvent } from './wire-types.js'

const PATH = '/v1/messages'

/** The Anthropic messages wire to one endpoint, whose base URL does not end in `/v1`. */
export function anthropicMessages(options: WireOptions): Wire<SdkClient, Response, WireEvent> {
  const { cacheTtl, quirks } = options
  const { credentialHeader } = quirks
  return {
    path: () => PATH,
    // A budget for thoughts comes on top of the one token, and without it the prefix is another one.
    cacheLifetimeMs: ({ model, reasoningEffort }) =>
      reasoningEffort && familyOf(model).thinking === 'budget' ? null : CACHE_LIFETIME_MS[cacheTtl],
    createClient: async (credential) =>
      (await import('./sdk-client.js')).createSdkClient({ ...options, credential, credentialHeader }),
    begin: (request, stamp) => {
      const assembler = new AnswerAssembler(request, stamp, quirks)
      return {
        send: (client, streaming, controller) => {
          const body = toWireRequest(request, { stamp, streaming, cacheTtl, quirks })
          return client.send(PATH, { body, conversation: request.messages[0] ?? request, controller })
        },
        takeWhole: (text) => takeWhole(assembler, text),
        read: (response, signal) => new EventBody<WireEvent>(response, { signal, isComplete: () => assembler.isOver }),
        push: (event) => assembler.push(event),
        isProgress: ({ type }) => type !== 'ping',
        isOver: () => assembler.isOver,
        isComplete: () => assembler.isFinished,
        finish: () => assembler.finish(),
      }
    },
  }
}

function takeWhole(assembler: AnswerAssembler, text: string): void {
  const body = JSON.parse(text) as WireAnswer
  if (body.error) throw reportedError(body.error)
  if (!Array.isArray(body.content)) throw new SyntaxError('The answer has no content.')
  assembler.pushWhole(body)
}
