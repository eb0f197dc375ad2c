import { type Clock, HermesError } from '@hermes/contracts'
import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelRequest, StreamOptions, Transport } from '@hermes/contracts/model'
import type { OpenAI } from 'openai/client'
import type { ProviderQuirks } from '../../catalogue.js'
import { refusesStreaming } from '../../classify-error.js'
import { toTransportError } from '../../transport-error.js'
import { AnswerAssembler } from './answer-assembler.js'
import { createSdkClient } from './sdk-client.js'
import { type StallWatch, watchStall } from './stall-watch.js'
import { watchDone } from './watch-done.js'
import { toWireRequest } from './wire-request.js'
import type { WireChunk } from './wire-types.js'

/** What a chat-completions transport needs; `createTransport` fills in the defaults. */
export interface ChatCompletionsOptions {
  readonly provider: string
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
  readonly quirks: ProviderQuirks
  readonly timeoutMs: number
  readonly stallTimeoutMs: number
  readonly clock: Clock
  readonly fetch: typeof fetch | undefined
}

/** One call under way. */
interface Call {
  readonly client: OpenAI
  readonly request: ModelRequest
  readonly assembler: AnswerAssembler
  readonly controller: AbortController
  readonly watch: StallWatch
}

/** The OpenAI chat-completions wire to one endpoint. */
export class ChatCompletionsTransport implements Transport {
  readonly api = 'chat-completions'
  readonly #options: ChatCompletionsOptions
  readonly #clients = new Map<string | null, Promise<OpenAI>>()
  /** Turns false for good once the server has shown that it cannot stream. */
  #streams = true

  constructor(options: ChatCompletionsOptions) {
    this.#options = options
  }

  stamp = (model: string): EndpointStamp => {
    return { provider: this.#options.provider, endpoint: this.#options.baseUrl, model }
  }

  async *stream(
    request: ModelRequest,
    { signal, credential }: StreamOptions & { readonly credential: string | null },
  ): AsyncGenerator<ModelEvent> {
    throwIfAborted(signal)
    const controller = new AbortController()
    const abort = () => controller.abort()
    signal?.addEventListener('abort', abort, { once: true })
    const watch = watchStall(this.#options.clock, this.#options.stallTimeoutMs, abort)
    let complete = false
    try {
      const client = await this.#client(credential)
      const assembler = new AnswerAssembler(request, this.stamp(request.model))
      const call: Call = { client, request, assembler, controller, watch }
      if (this.#streams) yield* this.#streamed(call)
      else await this.#whole(call)
      throwIfAborted(signal)
      complete = true
      yield await assembler.finish()
    } catch (error) {
      throwIfAborted(signal)
      if (watch.stalled) throw this.#stalled(request.model)
      throw toTransportError(error, { ...this.#options, model: request.model, credential })
    } finally {
      watch.stop()
      signal?.removeEventListener('abort', abort)
      // A finished request is left alone: aborting it would close a connection that the next one can use.
      if (!complete) controller.abort()
    }
  }

  #client(credential: string | null): Promise<OpenAI> {
    let client = this.#clients.get(credential)
    if (!client) {
      client = createSdkClient({ ...this.#options, credential })
      this.#clients.set(credential, client)
    }
    return client
  }

  async #send({ client, request, controller }: Call): Promise<Response> {
    const { quirks } = this.#options
    const body = toWireRequest(request, { quirks, stamp: this.stamp(request.model), streaming: this.#streams })
    return client.chat.completions
      .create(body as unknown as Parameters<typeof client.chat.completions.create>[0], { signal: controller.signal })
      .asResponse()
  }

  async *#streamed(call: Call): AsyncGenerator<ModelEvent> {
    let response: Response
    try {
      response = await this.#send(call)
    } catch (error) {
      if (!refusesStreaming(error)) throw error
      this.#streams = false
      return this.#whole(call)
    }
    if (isJson(response)) {
      this.#takeWhole(call, await response.text())
      this.#streams = false
      return
    }
    if (isWebPage(response)) throw this.#webPage()
    const { Stream } = await import('openai/streaming')
    const { body, done } = watchDone(response.body)
    call.watch.touch()
    // The SDK reads headers and body, which may be any async iterable; a whole response around it would only cost time.
    const watched = { headers: response.headers, body } as unknown as Response
    const chunks = Stream.fromSSEResponse<WireChunk>(watched, call.controller, call.client)
    for await (const chunk of chunks) {
      const events = call.assembler.push(chunk)
      if (events.length > 0) call.watch.touch()
      yield* events
    }
    if (call.controller.signal.aborted) throw new DOMException('The request was aborted.', 'AbortError')
    if (!call.assembler.isFinished && !done()) throw this.#cut()
  }

  async #whole(call: Call): Promise<void> {
    const response = await this.#send(call)
    if (isWebPage(response)) throw this.#webPage()
    this.#takeWhole(call, await response.text())
  }

  #takeWhole({ assembler }: Call, text: string): void {
    const body = JSON.parse(text) as WireChunk
    if (body.error) throw Object.assign(new Error('The server answered with an error.'), { error: body.error })
    if (!body.choices?.length) throw new SyntaxError('The completion has no choices.')
    assembler.push(body)
  }

  #stalled(model: string): HermesError {
    const { provider, baseUrl, stallTimeoutMs } = this.#options
    return new HermesError(`${provider} at ${baseUrl} sent nothing for ${Math.round(stallTimeoutMs / 1_000)} s.`, {
      code: 'transport.stalled',
      retryable: true,
      details: { provider, model, stallTimeoutMs },
    })
  }

  #cut(): HermesError {
    const { provider } = this.#options
    return new HermesError(`${provider} ended its answer in the middle.`, {
      code: 'transport.stream_cut',
      retryable: true,
      details: { provider },
    })
  }

  #webPage(): HermesError {
    const { provider, baseUrl } = this.#options
    return new HermesError(
      `${baseUrl} answered with a web page, not with a model's answer; check the base URL, which usually ends in /v1.`,
      { code: 'transport.wrong_address', details: { provider } },
    )
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new DOMException('The request was aborted.', 'AbortError')
}

function mediaType(response: Response): string {
  return response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
}

function isJson(response: Response): boolean {
  return mediaType(response).endsWith('json') && !mediaType(response).includes('ndjson')
}

function isWebPage(response: Response): boolean {
  return mediaType(response) === 'text/html'
}
