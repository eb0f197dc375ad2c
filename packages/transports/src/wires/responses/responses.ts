import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelRequest, Transport } from '@hermes/contracts/model'
import { guardCall } from '../guarded-call.js'
import type { WireOptions } from '../wire-options.js'
import type { AnswerReader } from './answer-reader.js'

/** The OpenAI Responses wire to one endpoint. All but this much of it is loaded on first use. */
export class ResponsesTransport implements Transport {
  readonly api = 'responses'
  readonly #options: WireOptions
  #answerReader: AnswerReader | null = null

  constructor(options: WireOptions) {
    this.#options = options
  }

  stamp = (model: string): EndpointStamp => {
    return { provider: this.#options.provider, endpoint: this.#options.baseUrl, model }
  }

  reset = (): void => this.#answerReader?.reset()

  stream(request: ModelRequest, options: Parameters<Transport['stream']>[1]): AsyncGenerator<ModelEvent> {
    const call = { wire: this.#options, path: '/responses', request, ...options }
    return guardCall(call, async (guard) => (await this.#load()).read(request, this.stamp(request.model), guard))
  }

  async #load(): Promise<AnswerReader> {
    const { AnswerReader } = await import('./answer-reader.js')
    this.#answerReader ??= new AnswerReader(this.#options)
    return this.#answerReader
  }
}
