import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelRequest, Transport } from '@hermes/contracts/model'
import { EventBody, reportedError } from '../event-body.js'
import { type CallGuard, cutError, guardCall } from '../guarded-call.js'
import { oncePer } from '../once-per.js'
import { createOpener } from '../open-answer.js'
import { type Reading, reading, wholeAnswer } from '../read-events.js'
import type { WireOptions } from '../wire-options.js'
import { AnswerAssembler } from './answer-assembler.js'
import { toWireRequest } from './wire-request.js'
import type { WireAnswer, WireEvent } from './wire-types.js'

const PATH = '/v1/messages'

/** The Anthropic messages wire to one endpoint. */
export class AnthropicMessagesTransport implements Transport {
  readonly api = 'anthropic-messages'
  readonly #options: WireOptions
  readonly #client = oncePer(async (credential: string | null) => {
    const { createSdkClient } = await import('./sdk-client.js')
    const { credentialHeader } = this.#options.quirks
    return createSdkClient({ ...this.#options, credential, credentialHeader })
  })
  readonly #open = createOpener()

  constructor(options: WireOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/v1$/, '') }
  }

  stamp = (model: string): EndpointStamp => {
    return { provider: this.#options.provider, endpoint: this.#options.baseUrl, model }
  }

  reset = (): void => this.#client.clear()

  stream(request: ModelRequest, options: Parameters<Transport['stream']>[1]): AsyncGenerator<ModelEvent> {
    const call = { wire: this.#options, path: PATH, request, ...options }
    return guardCall(call, (guard) => this.#read(request, guard))
  }

  async #read(
    request: ModelRequest,
    { target, credential, onHeaders, controller, touch }: CallGuard,
  ): Promise<Reading> {
    const { cacheTtl, quirks } = this.#options
    const stamp = this.stamp(request.model)
    const client = await this.#client(credential)
    const assembler = new AnswerAssembler(request, stamp, quirks)
    const send = (streaming: boolean) =>
      client.send(PATH, toWireRequest(request, { stamp, streaming, cacheTtl, quirks }), controller)
    const response = await this.#open({ target, send, takeWhole: (text) => takeWhole(assembler, text), onHeaders })
    if (response === null) return wholeAnswer(() => assembler.finish())
    touch()
    return reading({
      chunks: new EventBody<WireEvent>(response, { signal: controller.signal, isComplete: () => assembler.isOver }),
      push: (event) => {
        if (event.type !== 'ping') touch()
        return assembler.push(event)
      },
      isOver: () => assembler.isOver,
      finish: () => {
        if (!assembler.isFinished) throw cutError(target)
        return assembler.finish()
      },
    })
  }
}

function takeWhole(assembler: AnswerAssembler, text: string): void {
  const body = JSON.parse(text) as WireAnswer
  if (body.error) throw reportedError(body.error)
  if (!Array.isArray(body.content)) throw new SyntaxError('The answer has no content.')
  assembler.pushWhole(body)
}
