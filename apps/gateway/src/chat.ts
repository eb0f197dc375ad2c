import { randomUUID } from 'node:crypto'
import { type Clock, isAbort } from '@hermes/contracts'
import type { UserMessage } from '@hermes/contracts/conversation'
import type { SessionHandle, Turn } from '@hermes/host'
import { ApiError } from './api-error.js'
import type { ChatRequest } from './chat-request.js'
import { type ChatCommands, CommandReply, isUrgent, type TypedCommand } from './commands.js'
import {
  ChunkWriter,
  completionBody,
  type Ending,
  type Envelope,
  type ReplyForm,
  toAnswer,
  toEnding,
} from './completion.js'
import type { Conversation, Conversations } from './conversations.js'
import { Idempotency } from './idempotency.js'
import { type FetchImage, NamedImages } from './named-images.js'
import { PieceSource, type ReplySource } from './piece-source.js'
import { type Piece, ReplyReader } from './reply.js'
import type { ResponsePlace } from './response-id.js'
import type { ResponsesRequest } from './responses-request.js'
import { type Load, Slots } from './slots.js'
import { streamReply } from './stream-reply.js'

const STOP_GRACE_MS = 8_000
const LATE_TOOLS =
  'The tools of this request came after the session had begun without any, so the model does not see them.'
/** Clients wait longer for an answer, but none of it would have begun. */
const WAIT_MS = 60_000

/** Options of {@link Chat}. */
interface ChatOptions {
  readonly conversations: Conversations
  readonly commands: ChatCommands
  readonly fetchImage: FetchImage
  /** Model ids that may be asked for; the first one is the answer's when none is named. */
  readonly models: readonly string[]
  /** Requests under way at once. */
  readonly maxRuns: number
  /** Requests that may wait beside these. */
  readonly maxWaiting: number
  readonly clock: Pick<Clock, 'now'>
}

/** One request as it came in. */
export interface ChatCall {
  readonly body: string
  /** Who asks; `null` for the owner. */
  readonly person: string | null
  /** The session to go on with, when the client names one. */
  readonly sessionId: string | undefined
  /** A name of the client's own for a session, which begins with the first request that has it. */
  readonly sessionKey?: string | undefined
  /** The response to go on after, when the client names one. */
  readonly previous?: string | null
  /** Under which a request without a stream is answered once. */
  readonly idempotencyKey: string | undefined
  /** Fires when the client is gone. */
  readonly signal: AbortSignal
  /** Resolves once the answer has left whole, and never where it does not. */
  readonly delivered?: Promise<void>
  /** Is told the session before anything is said in it; nothing is, where that fails. */
  readonly onSession?: (sessionId: string) => Promise<void>
}

/** A request that is being answered. */
interface BegunReply {
  readonly source: ReplySource
  /** @throws ApiError when there is no answer */
  endingOf(piece: Piece & { readonly type: 'end' }): Ending
}

/** Answers chat requests: each becomes one run of the agent of its session, or is a command. */
export class Chat {
  readonly #options: ChatOptions
  readonly #active = new Set<{ readonly controller: AbortController; readonly done: Promise<void> }>()
  readonly #slots: Slots
  readonly #idempotency: Idempotency
  readonly #leaving = new Set<Promise<void>>()
  #isStopping = false

  constructor(options: ChatOptions) {
    this.#options = options
    const { maxRuns: size, maxWaiting, clock } = options
    this.#slots = new Slots({ size, maxWaiting, waitMs: WAIT_MS })
    this.#idempotency = new Idempotency(clock)
  }

  get load(): Load {
    return this.#slots.load
  }

  /** @throws ApiError for everything that cannot be answered */
  async answer(call: ChatCall): Promise<Response> {
    const { parseChatRequest } = await import('./chat-request.js')
    return this.#once(call, { ...parseChatRequest(call.body), form: chatForm })
  }

  /** The same in the Responses form. @throws ApiError as {@link Chat.answer} */
  async respond(call: ChatCall): Promise<Response> {
    const { parseResponsesRequest } = await import('./responses-request.js')
    const { responseForm } = await import('./response-form.js')
    const { chat, previous, conversation, echo } = parseResponsesRequest(call.body)
    const sessionId = conversation ?? call.sessionId
    return this.#once({ ...call, sessionId, previous }, { ...chat, form: responseForm({ previous, echo }) })
  }

  /** A response that was given. @throws ApiError 404 when there is none of that id */
  async response(id: string, person: string | null): Promise<object> {
    const { pastResponse } = await import('./response-form.js')
    return pastResponse(id, await this.#options.conversations.spoken(id, { person }), this.#options.models[0]!)
  }

  /** Begins what nobody waits for with an open connection. @throws ApiError as {@link Chat.answer} */
  async begin(call: ChatCall, { chat, previous, conversation }: ResponsesRequest): Promise<BegunReply> {
    const request = await this.#personal(call, { ...chat, form: chatForm })
    const sessionId = conversation ?? call.sessionId
    return this.#within({ ...call, sessionId, previous }, request, async (opened) => ({
      source: opened.source,
      endingOf: endingOf(opened),
    }))
  }

  /** @throws ApiError 404 for a model that is none of this server */
  checkModel({ model }: Pick<ChatRequest, 'model'>): string {
    const { models } = this.#options
    if (model === null) return models[0]!
    if (models.includes(model)) return model
    const message = `There is no model "${model}" here. Valid models: ${models.join(', ')}.`
    throw new ApiError(message, { status: 404, code: 'model_not_found', param: 'model' })
  }

  async #once(call: ChatCall, parsed: ChatRequest & { readonly form: ReplyForm }): Promise<Response> {
    const { body, person, sessionKey, sessionId = sessionKey, idempotencyKey: key } = call
    const request = await this.#personal(call, parsed)
    const answer = () => this.#within(call, request, reply)
    if (key === undefined || request.stream) return answer()
    const response = await this.#idempotency.once({ key, person, sessionId, body }, answer)
    const replayed = response.headers.has('idempotency-replayed') && response.headers.get('x-hermes-session-id')
    if (replayed) void call.delivered?.then(() => this.#options.conversations.heardUnder(replayed, key))
    return response
  }

  async #personal({ person }: ChatCall, parsed: ChatRequest & { readonly form: ReplyForm }): Promise<FormedRequest> {
    const { wordsOf } = await import('./chat-request.js')
    return { ...parsed, ...wordsOf(person, this.#options.commands.withoutExchanges(parsed)), person }
  }

  /** Answers a request in its turn; what fails before it runs leaves its place. */
  async #within<Answer>(
    call: ChatCall,
    request: FormedRequest,
    answer: (opened: ReplyOptions) => Promise<Answer>,
  ): Promise<Answer> {
    const { conversations, commands } = this.#options
    const { previous = null, signal } = call
    const { sessionId, begins } = await conversations.sessionFor(call)
    const model = this.checkModel(request)
    const typed = request.message && commands.read(request.message)
    const slot = await this.#begin(signal, typed !== null && isUrgent(typed))
    try {
      if (typed) {
        const around = previous === null ? (begins ? undefined : sessionId) : conversations.sessionOf(previous)
        const handle = await conversations.around(around, request)
        const message = request.message!
        return await answer(await this.#carryOut(typed, { message, request, model, handle, slot }))
      }
      const conversation = await this.#conversation(request, { ...call, sessionId, begins, signal: slot.signal })
      const { session, unheard, otherUser, clientTools, afterSeq, isLateWithTools } = conversation
      const heard = await prepare(conversation, request, call)
      if (call.delivered) this.#leave(call.delivered.then(heard), signal)
      const { format } = request.answer
      const reader = new ReplyReader(format ? '' : unheard, clientTools, { isStructured: format !== undefined })
      if (format && unheard !== '') reader.notices.push({ level: 'info', text: unheard })
      if (otherUser !== null)
        reader.notices.push({ level: 'warning', text: `This session is also open in ${otherUser}.` })
      if (isLateWithTools) reader.notices.push({ level: 'warning', text: LATE_TOOLS })
      const source = new PieceSource(start(conversation, request, slot), reader, slot.stop)
      return await answer({ request, model, place: { sessionId: session.id, afterSeq }, source })
    } catch (error) {
      slot.endUnlessRunning()
      if (!isAbort(error)) throw error
      throw new ApiError('The request was interrupted.', { status: 503, code: 'run_interrupted' })
    }
  }

  async #conversation(
    request: FormedRequest,
    { sessionId, begins, previous = null, idempotencyKey: key, signal }: ChatCall & { readonly begins: boolean },
  ): Promise<Conversation> {
    const { conversations, fetchImage } = this.#options
    const call = { signal, key, images: new NamedImages(fetchImage, { person: request.person, signal }) }
    if (previous !== null) {
      const { sessionId: following, isRepeat } = await conversations.following(previous, request, call)
      return conversations.named(following, { ...request, isRepeat }, call)
    }
    return sessionId === undefined
      ? conversations.derived(request, call)
      : conversations.named(sessionId, { ...request, begins }, call)
  }

  async #carryOut(
    typed: TypedCommand,
    {
      message,
      request,
      model,
      handle,
      slot,
    }: Pick<ReplyOptions, 'request' | 'model'> & { message: UserMessage; handle: SessionHandle | null; slot: Slot },
  ): Promise<ReplyOptions> {
    const { signal } = slot
    const { commands } = this.#options
    const source = new CommandReply(
      (notice) => commands.carryOut(typed, { handle, message, signal, notice }),
      slot.stop,
    )
    slot.follow(source.done.finally(() => handle?.close()))
    const place = handle && { sessionId: handle.id, afterSeq: await this.#options.conversations.lastSeq(handle.id) }
    return { request, model, place, source }
  }

  /** Keeps in mind that an answer is on its way, until it has left or its reader has. */
  #leave(heard: Promise<void>, signal: AbortSignal): void {
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
    const left = Promise.race([heard, gone]).finally(() => this.#leaving.delete(left))
    this.#leaving.add(left)
  }

  /** What is urgent ends soon, or ends others. */
  async #begin(signal: AbortSignal, isUrgent: boolean): Promise<Slot> {
    if (this.#isStopping) {
      const message = 'The server is stopping.'
      throw new ApiError(message, { status: 503, code: 'overloaded', headers: { 'retry-after': '2' } })
    }
    const controller = new AbortController()
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const entry = { controller, done }
    this.#active.add(entry)
    const abort = () => controller.abort(new DOMException('The client is gone.', 'AbortError'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    let isRunning = false
    let leave: () => void = () => undefined
    const end = () => {
      leave()
      signal.removeEventListener('abort', abort)
      this.#active.delete(entry)
      resolve()
    }
    try {
      if (!isUrgent) leave = await this.#slots.enter(controller.signal)
    } catch (error) {
      end()
      if (!isAbort(error)) throw error
      throw new ApiError('The request was interrupted.', { status: 503, code: 'run_interrupted' })
    }
    return {
      signal: controller.signal,
      stop: abort,
      follow: (result) => {
        isRunning = true
        result.then(end, end)
      },
      endUnlessRunning: () => {
        if (!isRunning) end()
      },
    }
  }

  /** Takes no more requests, and waits until none is under way or the signal fires. Never rejects. */
  async drain(signal: AbortSignal): Promise<void> {
    this.#isStopping = true
    const { promise: late, resolve } = Promise.withResolvers<void>()
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
    const ended = async () => {
      await Promise.all([...this.#active].map(({ done }) => done))
      await Promise.all(this.#leaving)
    }
    await Promise.race([ended(), late])
  }

  /** Takes no more requests, interrupts those under way and waits until what was said is stored. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const reason = new DOMException('The server is stopping.', 'AbortError')
    for (const { controller } of this.#active) controller.abort(reason)
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, STOP_GRACE_MS)
    await Promise.race([Promise.all([...this.#active].map(({ done }) => done)), late])
    clearTimeout(timer)
  }
}

/** A request's place among those under way. */
interface Slot {
  readonly signal: AbortSignal
  /** Interrupts what is under way. */
  stop(): void
  /** The place is kept until this settles. */
  follow(result: Promise<unknown>): void
  endUnlessRunning(): void
}

/**
 * Keeps what the client chose for the answers, and says which session it is; the place is left where that cannot be done. Resolves to what
 * is to be called once the answer has left whole.
 */
async function prepare(
  { session, place, begin }: Conversation,
  { sampling }: FormedRequest,
  { onSession }: ChatCall,
): Promise<() => Promise<void>> {
  try {
    await onSession?.(session.id)
    if (Object.keys(sampling).length > 0) await (await session.agent()).agent.setSampling(sampling)
    return await begin()
  } catch (error) {
    place.leave()
    session.close()
    throw error
  }
}

function start({ session, input, place }: Conversation, { answer: demands }: FormedRequest, slot: Slot): Turn {
  const turn = place.run(input, { signal: slot.signal, demands })
  slot.follow(turn.result.finally(() => session.close()))
  return turn
}

/** A request, who asks (`null` is the owner), and how the answer is told. */
interface FormedRequest extends ChatRequest {
  readonly person: string | null
  readonly form: ReplyForm
}

interface ReplyOptions {
  readonly request: FormedRequest
  readonly model: string
  /** `null` where no session has begun. */
  readonly place: ResponsePlace | null
  readonly source: ReplySource
}

const chatForm: ReplyForm = {
  id: () => `chatcmpl-${randomUUID().replaceAll('-', '')}`,
  writer: (envelope, { includeUsage }) => new ChunkWriter(envelope, { includeUsage }),
  body: completionBody,
}

function endingOf({ place, source }: Pick<ReplyOptions, 'place' | 'source'>): BegunReply['endingOf'] {
  const sessionId = place?.sessionId ?? null
  return ({ result }) => toEnding({ sessionId, result, reader: source.reader })
}

async function reply({ request, model, place, source }: ReplyOptions): Promise<Response> {
  const { form } = request
  const sessionId = place?.sessionId ?? null
  const headers: Record<string, string> = sessionId === null ? {} : { 'x-hermes-session-id': sessionId }
  const envelope: Envelope = { id: form.id(place), created: Math.floor(Date.now() / 1000), model }
  const toEnd = ({ result }: Piece & { readonly type: 'end' }) => toAnswer({ sessionId, result, reader: source.reader })
  if (request.stream) {
    const body = await streamReply({
      source,
      writer: form.writer(envelope, request),
      toEnding: toEnd,
    })
    return new Response(body, {
      headers: { ...headers, 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
    })
  }
  let piece = await source.next()
  while (piece && piece.type !== 'end') piece = await source.next()
  if (!piece) throw new ApiError('The reply ended without an answer.', { status: 503, code: 'run_interrupted' })
  return Response.json(form.body(envelope, toEnd(piece)), { headers })
}
