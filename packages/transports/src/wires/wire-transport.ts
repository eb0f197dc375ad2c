import type { Clock } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { EndpointStamp } from '@hermes/contracts/conversation'
import type { ModelEvent, ModelFinish, ModelRequest, StreamOptions, Transport, WireApi } from '@hermes/contracts/model'
import { refusesStreaming } from '../classify-error.js'
import type { CallTarget } from '../transport-error.js'
import { addressHint, nameFirst, shownAddress, toTransportError } from '../transport-error.js'
import type { CallFrame, Reading } from './read-events.js'
import { CallReader, reading, wholeAnswer } from './read-events.js'
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
  /** See {@link Transport.cacheLifetimeMs}. Default: always `null`. */
  readonly cacheLifetimeMs?: (request: ModelRequest) => number | null
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

  cacheLifetimeMs = (request: ModelRequest): number | null => this.#wire.cacheLifetimeMs?.(request) ?? null

  reset = (): void => this.#client.clear()

  stream(request: ModelRequest, options: Parameters<Transport['stream']>[1]): AsyncGenerator<ModelEvent> {
    const call = { wire: this.#options, path: this.#wire.path(request.model), request, ...options }
    return guardCall(call, (guard) => this.#read(request, this.#stampFor(request.model, options.account), guard))
  }

  /** The Responses API seals thoughts for the organisation of a key; thoughts of the other wires go to any account. */
  #stampFor(model: string, account: string | undefined): EndpointStamp {
    const stamp = this.stamp(model)
    return account === undefined || this.api !== 'responses' ? stamp : { ...stamp, account }
  }

  async #read(
    request: ModelRequest,
    stamp: EndpointStamp,
    { target, credential, onHeaders, controller, touch }: CallGuard,
  ): Promise<Reading> {
    const client = await this.#client(credential)
    const exchange = await this.#wire.begin(request, stamp)
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

/** {@link oncePer}'s function, and the way to forget what it made. */
interface OncePer<Key, Value> {
  (key: Key): Value
  clear(): void
}

/** `create`, called once per key; later calls give the same value until it is cleared. */
function oncePer<Key, Value>(create: (key: Key) => Value): OncePer<Key, Value> {
  const made = new Map<Key, Value>()
  const get = (key: Key): Value => {
    const value = made.get(key) ?? create(key)
    made.set(key, value)
    return value
  }
  return Object.assign(get, { clear: () => made.clear() })
}

/** What has to be known of a response of success. */
type Answered = Pick<Response, 'headers' | 'text'>

/** One request on its way. */
interface Opening<Answer extends Answered> {
  readonly target: CallTarget
  readonly send: (streaming: boolean) => Promise<Answer>
  /** Takes the text of an answer that came in one piece. Throws when it is none. */
  readonly takeWhole: (text: string) => void
  /** Told the headers of a response of success. */
  readonly onHeaders?: ((headers: Readonly<Record<string, string>>) => void) | undefined
}

/**
 * Makes the function that sends the requests to one endpoint and gives the response to be read as a stream, or `null` when the answer
 * came in one piece. A server that cannot stream is asked once without, and so from then on.
 */
function createOpener<Answer extends Answered = Response>(): (opening: Opening<Answer>) => Promise<Answer | null> {
  let streams = true
  return async ({ target, send, takeWhole, onHeaders }) => {
    const response = await send(streams).catch((error: unknown) => {
      if (!streams || !refusesStreaming(error)) throw error
      streams = false
      return send(false)
    })
    onHeaders?.(Object.fromEntries(response.headers))
    const mediaType = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
    if (mediaType === 'text/html') throw webPage(target)
    const isJson = mediaType.endsWith('json') && !mediaType.includes('ndjson')
    if (streams && !isJson) return response
    takeWhole(await response.text())
    streams = false
    return null
  }
}

function webPage(target: CallTarget): HermesError {
  return new HermesError(
    `${shownAddress(target.baseUrl)} answered with a web page, not with a model's answer; check the base URL, ${addressHint(target)}.`,
    { code: 'transport.wrong_address', details: { provider: target.provider } },
  )
}

/** One call to guard. */
interface GuardedCall extends StreamOptions {
  readonly wire: WireOptions
  /** What the wire adds to the base URL. */
  readonly path: string
  readonly request: ModelRequest
  readonly credential: string | null
  readonly onHeaders?: ((headers: Readonly<Record<string, string>>) => void) | undefined
}

/** What the guard gives to the call. */
interface CallGuard extends Pick<GuardedCall, 'credential' | 'onHeaders'> {
  readonly target: CallTarget
  /** Ends the request. Fires on abort, on a stall, and when the reader leaves before the end. */
  readonly controller: AbortController
  /** Progress was made; the first call of it starts the watch for stalls. */
  readonly touch: () => void
}

/**
 * Runs one call of any wire: it ends with an `AbortError` on abort, with `transport.stalled` when nothing comes for too long, and with
 * one `transport.*` error on any other failure. The complete answer is the last event.
 */
function guardCall(call: GuardedCall, run: (guard: CallGuard) => Promise<Reading>): AsyncGenerator<ModelEvent> {
  return new CallReader(frame(call, run))
}

async function* frame(
  { wire, path, request, credential, onHeaders, signal }: GuardedCall,
  run: (guard: CallGuard) => Promise<Reading>,
): CallFrame {
  throwIfAborted(signal)
  const { provider, name, baseUrl, clock, stallTimeoutMs, keySource } = wire
  const target = { provider, name, baseUrl, path, model: request.model, credential, keySource }
  const controller = new AbortController()
  const abort = () => controller.abort()
  signal?.addEventListener('abort', abort, { once: true })
  const watch = watchStall(clock, stallTimeoutMs, abort)
  let complete = false
  try {
    const answer = await run({ target, credential, onHeaders, controller, touch: watch.touch })
    try {
      yield answer
    } catch (error) {
      throw answer.explain?.(error) ?? error
    }
    const finish = await answer.finish()
    // SDKs end the iteration without a word when a request is aborted.
    throwIfAborted(controller.signal)
    complete = true
    yield finish
  } catch (error) {
    throwIfAborted(signal)
    if (watch.stalled) throw stalled(target, stallTimeoutMs)
    throw toTransportError(error, target, { nowMs: clock.now() })
  } finally {
    watch.stop()
    signal?.removeEventListener('abort', abort)
    // A finished request is left alone: aborting it would close a connection that the next one can use.
    if (!complete) controller.abort()
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new DOMException('The request was aborted.', 'AbortError')
}

function stalled(target: CallTarget, stallTimeoutMs: number): HermesError {
  const { provider, baseUrl, model } = target
  return new HermesError(
    `${nameFirst(target)} at ${shownAddress(baseUrl)} sent nothing for ${Math.round(stallTimeoutMs / 1_000)} s.`,
    {
      code: 'transport.stalled',
      retryable: true,
      details: { provider, model, stallTimeoutMs },
    },
  )
}

/** The error for an answer that ended before it was complete. */
function cutError(target: CallTarget): HermesError {
  const { provider } = target
  return new HermesError(`${nameFirst(target)} ended its answer in the middle.`, {
    code: 'transport.stream_cut',
    retryable: true,
    details: { provider },
  })
}

/** Made once: the stack trace of such an error costs more than the rest of a stop. */
const STOPPED = new DOMException('The answer is complete.', 'AbortError')

/** Notices when nothing has come for too long. */
interface StallWatch {
  /** Something came; the first one starts the watch. */
  touch(): void
  /** Whether the limit was passed. */
  readonly stalled: boolean
  stop(): void
}

/** Calls `onStall` once when `limitMs` pass after a `touch` without another one. Wakes once per limit, not once per touch. */
function watchStall(clock: Clock, limitMs: number, onStall: () => void): StallWatch {
  const stop = new AbortController()
  let lastMs: number | null = null
  const wait = async () => {
    for (let leftMs = limitMs; leftMs > 0; leftMs = (lastMs ?? 0) + limitMs - clock.now())
      await clock.sleep(leftMs, stop.signal)
    watch.stalled = true
    onStall()
  }
  // No getter: V8 keeps what one of an object literal sees until it next looks through the whole heap, and here that is the whole exchange.
  const watch = {
    stalled: false,
    touch: () => {
      const isFirst = lastMs === null
      lastMs = clock.now()
      if (isFirst) wait().catch(() => undefined)
    },
    stop: () => stop.abort(STOPPED),
  }
  return watch
}
