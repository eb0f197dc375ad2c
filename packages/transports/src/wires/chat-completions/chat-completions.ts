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
import type { WireChunk } from './wire-types.js'

const PATH = '/chat/completions'

/** The OpenAI chat-completions wire to one endpoint. */
export class ChatCompletionsTransport implements Transport {
  readonly api = 'chat-completions'
  readonly #options: WireOptions
  readonly #client = oncePer(async (credential: string | null) => {
    const { createOpenAiClient } = await import('../openai-client.js')
    return createOpenAiClient({ ...this.#options, credential })
  })
  readonly #open = createOpener()

  constructor(options: WireOptions) {
    this.#options = options
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
    const { quirks, cacheTtl } = this.#options
    const stamp = this.stamp(request.model)
    const client = await this.#client(credential)
    const assembler = new AnswerAssembler(request, stamp, quirks)
    const send = (streaming: boolean) =>
      client.send(PATH, toWireRequest(request, { quirks, stamp, streaming, cacheTtl }), controller)
    const response = await this.#open({ target, send, takeWhole: (text) => takeWhole(assembler, text), onHeaders })
    if (response === null) return wholeAnswer(() => assembler.finish())
    touch()
    const chunks = new EventBody<WireChunk>(response, { signal: controller.signal })
    return reading({
      chunks,
      push: (chunk) => {
        const events = assembler.push(chunk)
        if (events.length > 0) touch()
        return events
      },
      finish: () => {
        if (!assembler.isFinished && !chunks.isDone) throw cutError(target)
        return assembler.finish()
      },
    })
  }
}

function takeWhole(assembler: AnswerAssembler, text: string): void {
  const body = JSON.parse(text) as WireChunk
  if (body.error) throw reportedError(body.error)
  if (!body.choices?.length) throw new SyntaxError('The completion has no choices.')
  assembler.push(body)
}
