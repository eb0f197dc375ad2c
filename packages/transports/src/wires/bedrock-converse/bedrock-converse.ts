import { HermesError } from '@hermes/contracts'
import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelRequest, Transport } from '@hermes/contracts/model'
import { refusesCaching } from '../../classify-error.js'
import type { CallTarget } from '../../transport-error.js'
import { type CallGuard, cutError, guardCall } from '../guarded-call.js'
import { oncePer } from '../once-per.js'
import { createOpener } from '../open-answer.js'
import { type Reading, reading, wholeAnswer } from '../read-events.js'
import type { WireOptions } from '../wire-options.js'
import { AnswerAssembler } from './answer-assembler.js'
import type { SdkAnswer, SdkClient } from './sdk-client.js'
import { streamError } from './service-error.js'
import { toWireRequest } from './wire-request.js'
import type { WireAnswer } from './wire-types.js'

/** The Bedrock converse wire to one endpoint. */
export class BedrockConverseTransport implements Transport {
  readonly api = 'bedrock-converse'
  readonly #options: WireOptions
  readonly #client = oncePer(async (credential: string | null) => {
    const { createSdkClient } = await import('./sdk-client.js')
    return createSdkClient({ ...this.#options, credential })
  })
  /** Which models stream is for each to say. */
  readonly #opener = oncePer((_model: string) => createOpener<SdkAnswer>())
  /** Models with which this endpoint refused marks for its cache. */
  readonly #uncached = new Set<string>()

  constructor(options: WireOptions) {
    this.#options = options
  }

  stamp = (model: string): EndpointStamp => {
    return { provider: this.#options.provider, endpoint: this.#options.baseUrl, model }
  }

  reset = (): void => this.#client.clear()

  stream(request: ModelRequest, options: Parameters<Transport['stream']>[1]): AsyncGenerator<ModelEvent> {
    const path = `/model/${encodeURIComponent(request.model)}/converse-stream`
    const call = { wire: this.#options, path, request, ...options }
    return guardCall(call, (guard) => this.#read(request, guard))
  }

  async #read(
    request: ModelRequest,
    { target, credential, onHeaders, controller, touch }: CallGuard,
  ): Promise<Reading> {
    const client = await this.#client(credential)
    const assembler = new AnswerAssembler(request, this.stamp(request.model))
    const send = (streaming: boolean) => this.#send(client, request, { streaming, controller })
    const open = this.#opener(request.model)
    const answer = await open({ target, send, takeWhole: (text) => takeWhole(assembler, text), onHeaders })
    const finish = () => {
      if (assembler.isMalformed) throw malformed(target)
      return assembler.finish()
    }
    if (!answer?.events) return wholeAnswer(async () => finish())
    touch()
    return reading({
      chunks: answer.events,
      push: (event) => {
        const added = assembler.push(event)
        if (added.length > 0) touch()
        return added
      },
      explain: streamError,
      finish: () => {
        if (!assembler.isFinished) throw cutError(target)
        return finish()
      },
    })
  }

  /** A model that turns out to take no marks for the cache is asked once more without, and so from then on. */
  #send(
    client: SdkClient,
    request: ModelRequest,
    { streaming, controller }: { readonly streaming: boolean; readonly controller: AbortController },
  ): Promise<SdkAnswer> {
    const { cacheTtl, quirks } = this.#options
    const { model } = request
    const ask = () => {
      const uncached = this.#uncached.has(model)
      const input = toWireRequest(request, { stamp: this.stamp(model), cacheTtl, uncached, body: quirks.body })
      return client.send(input, streaming, controller)
    }
    return ask().catch((error: unknown) => {
      if (this.#uncached.has(model) || !refusesCaching(error)) throw error
      this.#uncached.add(model)
      return ask()
    })
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
