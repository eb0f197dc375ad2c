import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelRequest } from '@hermes/contracts/model'
import { refusesSummaries } from '../../classify-error.js'
import { EventBody, reportedError } from '../event-body.js'
import { type CallGuard, cutError } from '../guarded-call.js'
import { oncePer } from '../once-per.js'
import { createOpener } from '../open-answer.js'
import type { OpenAiClient } from '../openai-client.js'
import { type Reading, reading, wholeAnswer } from '../read-events.js'
import type { WireOptions } from '../wire-options.js'
import { AnswerAssembler } from './answer-assembler.js'
import { toWireRequest } from './wire-request.js'
import type { WireEvent, WireResponse } from './wire-types.js'

// Loaded on first use: who speaks another wire has no need of it.

const PATH = '/responses'

/** Asks one endpoint, and remembers what that endpoint refuses. */
export class AnswerReader {
  readonly #options: WireOptions
  readonly #client = oncePer(async (credential: string | null) => {
    const { createOpenAiClient } = await import('../openai-client.js')
    return createOpenAiClient({ ...this.#options, credential })
  })
  readonly #open = createOpener()
  #summaries = true

  constructor(options: WireOptions) {
    this.#options = options
  }

  /** Drops SDK clients. */
  reset(): void {
    this.#client.clear()
  }

  async read(
    request: ModelRequest,
    stamp: EndpointStamp,
    { target, credential, onHeaders, controller, touch }: CallGuard,
  ): Promise<Reading> {
    const client = await this.#client(credential)
    const assembler = new AnswerAssembler(request, stamp)
    const send = (streaming: boolean) => this.#send(request, { client, stamp, streaming, controller })
    const response = await this.#open({ target, send, takeWhole: (text) => takeWhole(assembler, text), onHeaders })
    if (response === null) return wholeAnswer(() => assembler.finish())
    touch()
    return reading({
      chunks: new EventBody<WireEvent>(response, { signal: controller.signal, isComplete: () => assembler.isFinished }),
      push: (event) => {
        const added = assembler.push(event)
        if (added.length > 0 || event.type.startsWith('response.output_item.')) touch()
        return added
      },
      isOver: () => assembler.isFinished,
      finish: () => {
        if (assembler.failure) throw reportedError(assembler.failure, response.headers)
        if (!assembler.isFinished) throw cutError(target)
        return assembler.finish()
      },
    })
  }

  /** Summaries of thoughts are for verified organisations; others are asked without from then on. */
  async #send(request: ModelRequest, { client, stamp, streaming, controller }: Sending): Promise<Response> {
    const { quirks } = this.#options
    const send = () => {
      const body = toWireRequest(request, { quirks, stamp, streaming, summaries: this.#summaries })
      return client.send(PATH, body, controller)
    }
    try {
      return await send()
    } catch (error) {
      if (!this.#summaries || !refusesSummaries(error)) throw error
      this.#summaries = false
      return send()
    }
  }
}

interface Sending {
  readonly client: OpenAiClient
  readonly stamp: EndpointStamp
  readonly streaming: boolean
  readonly controller: AbortController
}

function takeWhole(assembler: AnswerAssembler, text: string): void {
  const body = JSON.parse(text) as WireResponse
  if (!body.error && !Array.isArray(body.output)) throw new SyntaxError('The response has no output.')
  assembler.end(body)
  if (assembler.failure) throw reportedError(assembler.failure)
}
