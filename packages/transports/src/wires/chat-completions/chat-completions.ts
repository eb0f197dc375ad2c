import { EventBody, reportedError } from '../event-body.js'
import type { OpenAiClient } from '../openai-client.js'
import { CACHE_LIFETIME_MS, type WireOptions } from '../wire-options.js'
import type { Wire } from '../wire-transport.js'
import { AnswerAssembler } from './answer-assembler.js'
import { cacheTtlOf, toWireRequest } from './wire-request.js'
import type { WireChunk } from './wire-types.js'

const PATH = '/chat/completions'

/** The OpenAI chat-completions wire to one endpoint. */
export function chatCompletions(options: WireOptions): Wire<OpenAiClient, Response, WireChunk> {
  const { quirks, cacheTtl } = options
  return {
    path: () => PATH,
    // Endpoints make budgets of efforts, as shares of the limit of output.
    cacheLifetimeMs: ({ model, reasoningEffort }) => {
      const ttl = reasoningEffort ? null : cacheTtlOf(model, { quirks, cacheTtl })
      return ttl && CACHE_LIFETIME_MS[ttl]
    },
    createClient: async (credential) =>
      (await import('../openai-client.js')).createOpenAiClient({ ...options, credential }),
    begin: (request, stamp) => {
      const assembler = new AnswerAssembler(request, stamp, quirks)
      let chunks: EventBody<WireChunk> | null = null
      return {
        send: (client, streaming, controller) => {
          const body = toWireRequest(request, { quirks, stamp, streaming, cacheTtl })
          return client.send(PATH, { body, conversation: request.messages[0] ?? request, controller })
        },
        takeWhole: (text) => takeWhole(assembler, text),
        read: (response, signal) => {
          chunks = new EventBody<WireChunk>(response, { signal })
          return chunks
        },
        push: (chunk) => assembler.push(chunk),
        isComplete: () => assembler.isFinished || chunks?.isDone === true,
        finish: () => assembler.finish(),
      }
    },
  }
}

function takeWhole(assembler: AnswerAssembler, text: string): void {
  const body = JSON.parse(text) as WireChunk
  if (body.error) throw reportedError(body.error)
  if (!body.choices?.length) throw new SyntaxError('The completion has no choices.')
  assembler.push(body)
}
