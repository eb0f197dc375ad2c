import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest, StreamOptions, Transport } from '@hermes/contracts/model'
import type { CallTarget } from '../../transport-error.js'
import { type CallGuard, cutError, guardCall } from '../guarded-call.js'
import { oncePer } from '../once-per.js'
import { createOpener } from '../open-answer.js'
import type { WireOptions } from '../wire-options.js'
import { AnswerAssembler } from './answer-assembler.js'
import { createSdkClient } from './sdk-client.js'
import { toWireRequest } from './wire-request.js'
import type { WireAnswer, WireEvent } from './wire-types.js'

const PATH = '/v1/messages'

/** The Anthropic messages wire to one endpoint. */
export class AnthropicMessagesTransport implements Transport {
  readonly api = 'anthropic-messages'
  readonly #options: WireOptions
  readonly #client = oncePer((credential: string | null) =>
    createSdkClient({
      ...this.#options,
      credential,
      credentialHeader: this.#options.quirks.credentialHeader ?? 'x-api-key',
    }),
  )
  readonly #open = createOpener()

  constructor(options: WireOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/v1$/, '') }
  }

  stamp = (model: string): EndpointStamp => {
    return { provider: this.#options.provider, endpoint: this.#options.baseUrl, model }
  }

  stream(
    request: ModelRequest,
    { signal, credential }: StreamOptions & { readonly credential: string | null },
  ): AsyncGenerator<ModelEvent> {
    const { provider, baseUrl, clock, stallTimeoutMs } = this.#options
    const target = { provider, baseUrl, path: PATH, model: request.model, credential }
    return guardCall({ target, clock, stallTimeoutMs, signal }, (guard) => this.#answer(request, target, guard))
  }

  async *#answer(
    request: ModelRequest,
    target: CallTarget,
    { controller, touch }: CallGuard,
  ): AsyncGenerator<ModelEvent, ModelFinish> {
    const { cacheTtl } = this.#options
    const stamp = this.stamp(request.model)
    const client = await this.#client(target.credential ?? null)
    const assembler = new AnswerAssembler(request, stamp)
    // Not `messages.create`: it writes advice about models to the console.
    const send = (streaming: boolean) => {
      const body = toWireRequest(request, { stamp, streaming, cacheTtl })
      return client.post(PATH, { body, stream: streaming, signal: controller.signal }).asResponse()
    }
    const response = await this.#open({ target, send, takeWhole: (text) => takeWhole(assembler, text) })
    if (response === null) return assembler.finish()
    const { Stream } = await import('@anthropic-ai/sdk/core/streaming')
    touch()
    // Pings do not come out of the SDK, so each event is progress.
    for await (const event of Stream.fromSSEResponse<WireEvent>(response, controller, client)) {
      touch()
      yield* assembler.push(event)
    }
    if (!assembler.isFinished) throw cutError(target)
    return assembler.finish()
  }
}

function takeWhole(assembler: AnswerAssembler, text: string): void {
  const body = JSON.parse(text) as WireAnswer
  if (body.error) throw Object.assign(new Error('The server answered with an error.'), { error: body.error })
  if (!Array.isArray(body.content)) throw new SyntaxError('The answer has no content.')
  assembler.pushWhole(body)
}
