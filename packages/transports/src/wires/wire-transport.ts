import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest, Transport, WireApi } from '@hermes/contracts/model'
import type { CallTarget } from '../transport-error.js'
import { type CallGuard, cutError, guardCall } from './guarded-call.js'
import { oncePer } from './once-per.js'
import { type Answered, createOpener } from './open-answer.js'
import { type Reading, reading, wholeAnswer } from './read-events.js'
import type { WireOptions } from './wire-options.js'

/** One request on a wire, and the answer to it. */
export interface Exchange<Client, Answer extends Answered, Chunk> {
  readonly send: (client: Client, streaming: boolean, controller: AbortController) => Promise<Answer>
  /** Takes the text of an answer that came in one piece. Throws when it is none. */
  readonly takeWhole: (text: string) => void
  /** What a streamed answer is made of, where a list stands for as many chunks; `null` when it is no stream after all. */
  readonly read: (answer: Answer, signal: AbortSignal) => AsyncIterable<Chunk | readonly Chunk[]> | null
  /** Takes in a chunk and gives what it added. Throws the error that it says. */
  readonly push: (chunk: Chunk) => readonly ModelEvent[]
  /** Whether a chunk shows the model at work that added nothing. Default: none does. */
  readonly isProgress?: (chunk: Chunk) => boolean
  /** Whether nothing more is wanted; the rest is then left alone. Default: only the end of the chunks says so. */
  readonly isOver?: () => boolean
  /** A better error for one that ended the chunks. Default: the same. */
  readonly explain?: (error: unknown) => unknown
  /** Whether the server said its last word before the chunks ended. */
  readonly isComplete: () => boolean
  /** The answer. Throws when it cannot be used. */
  readonly finish: (target: CallTarget) => Promise<ModelFinish>
}

/** How one wire asks one endpoint. What it learns about the endpoint it keeps. */
export interface Wire<Client, Answer extends Answered, Chunk> {
  /** What requests to a model add to the base URL. */
  readonly path: (model: string) => string
  readonly createClient: (credential: string | null) => Promise<Client>
  readonly begin: (
    request: ModelRequest,
    stamp: EndpointStamp,
  ) => Exchange<Client, Answer, Chunk> | Promise<Exchange<Client, Answer, Chunk>>
}

/** The way of a request that all wires share: client, guard, stream or one piece, progress, the end. */
export class WireTransport<Client, Answer extends Answered, Chunk> implements Transport {
  readonly api: WireApi
  readonly #options: WireOptions
  readonly #wire: Wire<Client, Answer, Chunk>
  readonly #client = oncePer((credential: string | null) => this.#wire.createClient(credential))
  /** Whether a server can stream is for each of its models to say. */
  readonly #opener = oncePer((_model: string) => createOpener<Answer>())

  constructor(api: WireApi, options: WireOptions, wire: Wire<Client, Answer, Chunk>) {
    this.api = api
    this.#options = options
    this.#wire = wire
  }

  stamp = (model: string): EndpointStamp => {
    return { provider: this.#options.provider, endpoint: this.#options.baseUrl, model }
  }

  reset = (): void => this.#client.clear()

  stream(request: ModelRequest, options: Parameters<Transport['stream']>[1]): AsyncGenerator<ModelEvent> {
    const call = { wire: this.#options, path: this.#wire.path(request.model), request, ...options }
    return guardCall(call, (guard) => this.#read(request, guard))
  }

  async #read(
    request: ModelRequest,
    { target, credential, onHeaders, controller, touch }: CallGuard,
  ): Promise<Reading> {
    const client = await this.#client(credential)
    const exchange = await this.#wire.begin(request, this.stamp(request.model))
    const send = (streaming: boolean) => exchange.send(client, streaming, controller)
    const open = this.#opener(request.model)
    const answer = await open({ target, send, takeWhole: exchange.takeWhole, onHeaders })
    const chunks = answer && exchange.read(answer, controller.signal)
    if (!chunks) return wholeAnswer(() => exchange.finish(target))
    touch()
    const { push, isProgress, isOver, explain } = exchange
    return reading<Chunk>({
      chunks,
      push: (chunk) => {
        const added = push(chunk)
        if (added.length > 0 || isProgress?.(chunk)) touch()
        return added
      },
      ...(isOver ? { isOver } : {}),
      ...(explain ? { explain } : {}),
      finish: async () => {
        if (!exchange.isComplete()) throw cutError(target)
        return exchange.finish(target)
      },
    })
  }
}
