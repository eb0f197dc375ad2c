// Which session a request belongs to, and how it goes on there.
import { createHash, randomBytes } from 'node:crypto'
import type { RunInput } from '@hermes/agent-core'
import {
  type Entry,
  liveEntries,
  type Message,
  messageText,
  type TextPart,
  type ToolCallPart,
  toolCalls,
  type UserMessage,
  type UserPart,
} from '@hermes/contracts/conversation'
import type { OpenRequest, QueuePlace, SessionHandle, SessionHost } from '@hermes/host'
import type { Storage } from '@hermes/storage'
import { ApiError } from './api-error.js'
import type { ChatRequest, PastMessage } from './chat-request.js'
import { type ClientCall, type ClientResult, type ClientTools, clientCallsIn, SessionTools } from './client-tools.js'
import type { HeardAnswers } from './heard-answers.js'
import { brokenOffAt, endsWith, findContinuation, isSame, isWords, messagesOf, textsIn, unheardIn } from './history.js'
import type { NamedImages } from './named-images.js'
import { responsePlace } from './response-id.js'

const RESUME = { resume: true } as const
const ID_DIGITS = 16
const SESSION_KEY = /^[\x21-\x7e]{1,256}$/
const MOST_ELSEWHERE_CHARS = 20_000

/** A session that is ready to run a request; nobody else runs in it until `place` is left. */
export interface Conversation {
  readonly session: SessionHandle
  readonly input: RunInput
  readonly place: QueuePlace
  /** What the agent has said by itself and the client has not heard. */
  readonly unheard: string
  /** Another process that has it open, by its name; `null` where none does. */
  readonly otherUser: string | null
  /** The tools of the client; `null` where it brought none. */
  readonly clientTools: ClientTools | null
  /** The last entry of the log before the run. */
  readonly afterSeq: number
  /** The client brought tools to an agent that was made without them. */
  readonly isLateWithTools: boolean
  /** Notes that its answer is on the way. What that resolves to notes that it has left whole. Neither rejects. */
  begin(): Promise<() => Promise<void>>
}

/** A request and who asks; `null` is the owner. */
type PersonalRequest = ChatRequest & { readonly person: string | null }

/** The request as it is served. */
interface Call {
  readonly signal: AbortSignal
  readonly images: NamedImages
  /** Its Idempotency-Key. */
  readonly key?: string | undefined
}

/** Options of {@link Conversations}. */
interface ConversationsOptions {
  readonly storage: () => Promise<Storage>
  readonly host: SessionHost
  readonly heard: HeardAnswers
  /** What agents are made with. Nobody at the other end of a request can be asked. */
  readonly request: Omit<OpenRequest, 'session' | 'sessionId' | 'instructions'>
}

/** Finds the session of a request, or begins one. */
export class Conversations {
  readonly #options: ConversationsOptions
  readonly #tools: SessionTools

  constructor(options: ConversationsOptions) {
    this.#options = options
    this.#tools = new SessionTools((sessionId) => options.host.agentOf(sessionId) !== null)
  }

  /**
   * The session that a request belongs to, without going on there; `null` where none has begun.
   * @throws ApiError 404 when there is none of the id that the client names.
   */
  async around(sessionId: string | undefined, request: PersonalRequest): Promise<SessionHandle | null> {
    if (sessionId !== undefined) {
      return this.#open(await this.#stored(sessionId, request), request)
    }
    if (request.history.length === 0) return null
    const history = withoutRepeats(request.history).map(({ text }) => text)
    for await (const candidate of this.#candidates(derivedId(request), request)) {
      const log = textsIn(messagesOf(await this.#entries(candidate)))
      const isOurs = log.length > 0 && findContinuation({ log, history, message: { role: 'user', text: '' } }) !== null
      if (isOurs) return this.#open(candidate, request)
    }
    return null
  }

  /**
   * Goes on with the session a client names.
   * @throws ApiError 404 when there is none, 409 when the client's history contradicts it, 429 when too many wait for it
   */
  async named(
    sessionId: string,
    request: PersonalRequest & { readonly isRepeat?: boolean; readonly begins?: boolean },
    call: Call,
  ): Promise<Conversation> {
    if (!request.begins) await this.#stored(sessionId, request)
    const found = await this.#enter(sessionId, { request, call, partial: true })
    if (found) return found
    const message = `The messages differ from what was said in session ${sessionId}. Send the new message alone, or leave X-Hermes-Session-Id out.`
    throw new ApiError(message, {
      status: 409,
      code: 'session_conflict',
      param: 'messages',
      headers: { 'x-should-retry': 'false' },
    })
  }

  /**
   * The session that goes on after a response: its own, or a fork where somebody spoke there since. The same words again, with the same demands
   * and tools, are the same request, sent again.
   * @throws ApiError 404 when there is no such response, and what {@link NamedImages.bring} throws
   */
  async following(
    id: string,
    request: PersonalRequest,
    { images }: Pick<Call, 'images'>,
  ): Promise<{ readonly sessionId: string; readonly isRepeat: boolean }> {
    const { sessionId, entries, messages } = await this.#response(id, request)
    const first = messages.findIndex(({ message }) => message.role === 'assistant')
    const next = messages.findIndex(({ message }, index) => index > first && isWords(message))
    if (first < 0 || next < 0) return { sessionId, isRepeat: false }
    const [words, ...more] = messages.slice(next).flatMap(({ message }) => (isWords(message) ? [message] : []))
    const { heard } = this.#options
    const isSent = more.length === 0 && request.message && isSame(words!, request.message)
    if (isSent && !(await heard.hasOtherTerms(sessionId, entries, termsOf(request))))
      return { sessionId, isRepeat: true }
    // A request that is refused leaves no fork.
    if (request.message) await images.bring({ content: request.message.content, history: [] })
    const storage = await this.#options.storage()
    const fork = `${sessionId}-${randomBytes(4).toString('hex')}`
    await storage.sessions.fork({ from: sessionId, id: fork, upToSeq: messages[next]!.seq - 1 })
    return { sessionId: fork, isRepeat: false }
  }

  /**
   * The session that a request names, by its id or by a name of the client's own, whose session is begun by the first request. Names are
   * those of one person.
   * @throws ApiError 400 for what is no name
   */
  async sessionFor({
    sessionId,
    sessionKey,
    person,
  }: {
    readonly sessionId: string | undefined
    readonly sessionKey?: string | undefined
    readonly person: string | null
  }): Promise<{ readonly sessionId: string | undefined; readonly begins: boolean }> {
    if (sessionId !== undefined || sessionKey === undefined) return { sessionId, begins: false }
    if (!SESSION_KEY.test(sessionKey))
      throw new ApiError('X-Hermes-Session-Key takes 1 to 256 visible ASCII characters.', {
        code: 'invalid_session_key',
      })
    const digest = createHash('sha256')
      .update(JSON.stringify([person, sessionKey]))
      .digest('hex')
    const named = `api-key-${digest.slice(0, ID_DIGITS)}`
    const known = await (await this.#options.storage()).sessions.get(named)
    return { sessionId: named, begins: known === null }
  }

  /** The session that a response is of, by its id alone. @throws ApiError 404 for what is no id of a response */
  sessionOf(id: string): string {
    const place = responsePlace(id)
    if (!place) throw noResponse(id)
    return place.sessionId
  }

  /** The answer that was begun under an Idempotency-Key has left, as a replay. Never rejects. */
  heardUnder(sessionId: string, key: string): Promise<void> {
    return this.#options.heard.heardUnder(sessionId, key)
  }

  /** @throws ApiError 404 where there is no such session, or none of this person */
  async requireSession(sessionId: string, person: string | null): Promise<void> {
    await this.#stored(sessionId, { person })
  }

  /** The last entry of a session's log. */
  async lastSeq(sessionId: string): Promise<number> {
    return (await this.#entries(sessionId)).at(-1)?.seq ?? 0
  }

  /** What a response came to. @throws ApiError 404 when there is no such response */
  async spoken(
    id: string,
    request: Pick<PersonalRequest, 'person'>,
  ): Promise<{ readonly text: string; readonly calls: readonly ClientCall[]; readonly atMs: number }> {
    const { sessionId, messages } = await this.#response(id, request)
    const first = messages.findIndex(({ message }) => message.role === 'assistant')
    if (first < 0) throw noResponse(id)
    const next = messages.findIndex(({ message }, index) => index > first && isWords(message))
    const run = messages.slice(first, next < 0 ? undefined : next)
    const results = run.map(({ message }) => message)
    const tools = this.#tools.of(sessionId, [])
    const texts: string[] = []
    let calls: readonly ClientCall[] = []
    for (const { message } of run) {
      if (message.role !== 'assistant') continue
      texts.push(messageText(message))
      calls = clientCallsIn(message, results, tools)
      // What came of them is of the next response.
      if (calls.length > 0) break
    }
    return { text: texts.filter((text) => text !== '').join('\n\n'), calls, atMs: run[0]?.atMs ?? 0 }
  }

  async #response(id: string, { person }: Pick<PersonalRequest, 'person'>) {
    const place = responsePlace(id)
    const session = place && (await (await this.#options.storage()).sessions.get(place.sessionId))
    if (!place || !session || (person !== null && session.person !== person)) throw noResponse(id)
    const entries = await this.#entries(place.sessionId)
    const messages = liveEntries(entries).flatMap((entry) =>
      entry.type === 'message' && entry.seq > place.afterSeq ? [entry] : [],
    )
    return { sessionId: place.sessionId, entries, messages }
  }

  /** @throws ApiError 404 where there is none, or none of this person: the same, so that nobody learns which there are. */
  async #stored(sessionId: string, { person }: Pick<PersonalRequest, 'person'>): Promise<string> {
    const storage = await this.#options.storage()
    const session = await storage.sessions.get(sessionId)
    if (session && (person === null || session.person === person)) return sessionId
    const message = `There is no session "${sessionId}". Leave X-Hermes-Session-Id out to begin one.`
    throw new ApiError(message, { status: 404, code: 'session_not_found' })
  }

  #open(sessionId: string, request: PersonalRequest): SessionHandle {
    const { host, request: options } = this.#options
    const { person, system: instructions, tools } = request
    const clientTools = this.#tools.of(sessionId, tools)
    return host.open({
      ...options,
      ...(person === null ? {} : { user: person }),
      ...(clientTools ? { toolSources: [clientTools.source] } : {}),
      sessionId,
      instructions,
    })
  }

  /**
   * Goes on with the session whose log the client's messages begin with. Where there is none, a new one takes them over, so that an
   * edited message or a second conversation with the same beginning never gets into another one's log.
   */
  async derived(request: PersonalRequest, call: Call): Promise<Conversation> {
    const base = derivedId(request)
    const { tools } = request
    // Some clients bring results without the tools they are of.
    const bases = tools.length > 0 || request.message !== null ? [base] : [base, derivedId({ ...request, tools: null })]
    // A session that another request runs in cannot be what this client has seen the end of.
    for (const begun of bases)
      for await (const sessionId of this.#candidates(begun, request)) {
        if (this.#options.host.isBusy(sessionId)) continue
        const found = await this.#enter(sessionId, { request, call, partial: false })
        if (found) return found
      }
    if (request.message === null) throw nobodyWaits()
    const fork = `${base}-${randomBytes(4).toString('hex')}`
    return (await this.#enter(fork, { request, call, partial: false }))!
  }

  /** The session itself, then its newest forks; looked up only when they are asked for. */
  async *#candidates(base: string, { person }: PersonalRequest): AsyncGenerator<string> {
    yield base
    const storage = await this.#options.storage()
    if (!(await storage.sessions.get(base))) return
    const forks = await storage.sessions.resolve(`${base}-`, { person })
    if (forks.type === 'none') return
    const sessions = forks.type === 'found' ? [forks.session] : forks.candidates
    for (const { id } of sessions) yield id
  }

  async #enter(
    sessionId: string,
    {
      request,
      call: { signal, images, key },
      partial,
    }: {
      readonly request: PersonalRequest & { readonly isRepeat?: boolean }
      readonly call: Call
      readonly partial: boolean
    },
  ): Promise<Conversation | null> {
    const session = this.#open(sessionId, request)
    let place: QueuePlace | undefined
    try {
      place = await session.queue({ signal })
      const entries = await this.#entries(sessionId)
      const messages = messagesOf(entries)
      images.remember(messages)
      const { heard } = this.#options
      const isLost = await heard.isLost(sessionId, entries, { ...request, key, terms: termsOf(request) })
      const wanted = request.isRepeat ? RESUME : inputOf(messages, request, { partial, isLost })
      if (wanted) {
        const input = 'content' in wanted ? await images.bring(wanted) : wanted
        const clientTools = this.#tools.of(sessionId, request.tools)
        const open = new Set(openCallsIn(messages).map(({ id }) => id))
        clientTools?.offer(request.tools)
        clientTools?.begin(
          request.results.filter(({ callId }) => open.has(callId)),
          request.answer,
        )
        const { agent } = await session.agent()
        const isLateWithTools = request.tools.length > 0 && clientTools?.isKnown === false
        // Tools of ours would be called at every step in their place.
        if (isLateWithTools && request.answer.calls) throw cannotBeCalled()
        // The same messages get a new answer, as from any server of this API; the model does not see the half one.
        const fromSeq = isResume(input) ? brokenOffAt(entries) : null
        if (fromSeq !== null) await agent.undo({ fromSeq })
        const otherUser = entries.length > 0 ? await session.otherUser() : null
        const unheard = unheardIn(messages, request.history)
        const afterSeq = entries.at(-1)?.seq ?? 0
        const words = 'content' in wanted ? wanted.history.filter(({ role }) => role === 'user').length + 1 : 0
        return {
          session,
          input: await withSteer(session, messages, { input, request }),
          place,
          unheard,
          otherUser,
          clientTools,
          afterSeq,
          begin: () => heard.begin(sessionId, { afterSeq, words, key, terms: termsOf(request) }),
          isLateWithTools,
        }
      }
    } catch (error) {
      place?.leave()
      session.close()
      throw error
    }
    place.leave()
    session.close()
    return null
  }

  /** The log of a session, also what other processes wrote. */
  async #entries(sessionId: string): Promise<readonly Entry[]> {
    const { host, storage } = this.#options
    const { log } = await storage()
    const known = host.agentOf(sessionId)?.agent.entries() ?? []
    return [...known, ...(await log.entries(sessionId, { afterSeq: known.at(-1)?.seq ?? 0 }))]
  }
}

/** Said together with results that a call waits for: the run goes on with both. */
async function withSteer(
  session: Pick<SessionHandle, 'steer'>,
  messages: readonly Message[],
  { input, request: { message, results } }: { readonly input: RunInput; readonly request: PersonalRequest },
): Promise<RunInput> {
  const open = openCallsIn(messages)
  const isAnswered = open.length > 0 && open.every(({ id }) => results.some(({ callId }) => callId === id))
  const isText = message?.content.every(({ type }) => type === 'text')
  if (!isAnswered || !message || !isText || isResume(input)) return input
  await session.steer(messageText(message))
  return { resume: true }
}

/** What an answer that is given again has to have been given to. */
function termsOf({ answer, tools }: ChatRequest): object {
  return { answer, tools }
}

function cannotBeCalled(): ApiError {
  const message =
    "'tool_choice' demands a call of tools that came after the session had begun without any, so the model does not see them. Begin another session with them, or leave 'tool_choice' out."
  return new ApiError(message, { code: 'invalid_value', param: 'tool_choice' })
}

function noResponse(id: string): ApiError {
  const message = `There is no response "${id}".`
  return new ApiError(message, { status: 404, code: 'response_not_found', param: 'previous_response_id' })
}

function nobodyWaits(): ApiError {
  const message =
    'No session waits for these results of tools. Send the whole conversation with a message of the user at its end, or name the session with X-Hermes-Session-Id.'
  return new ApiError(message, { code: 'unknown_tool_call', param: 'messages' })
}

function isResume(input: RunInput): boolean {
  return typeof input === 'object' && 'resume' in input
}

/** How a run starts that a request asks for. */
type RequestedInput =
  | typeof RESUME
  | { readonly content: readonly UserPart[]; readonly history: readonly PastMessage[] }

/** What the run starts with, or `null` when the request contradicts the log. */
function inputOf(
  messages: readonly Message[],
  request: PersonalRequest,
  how: { readonly partial: boolean; readonly isLost: boolean },
): RequestedInput | null {
  const { history, historyWithAnswers, message, results } = request
  if (message === null) return withResults(messages, request)
  return (
    continued(messages, { history, message, results }, how) ??
    continued(messages, { history: historyWithAnswers, message, results }, how)
  )
}

/** Goes on after calls that the client carried out, also when it says so again. */
function withResults(messages: readonly Message[], { history, results }: PersonalRequest): RequestedInput | null {
  const newest = results.at(-1)?.callId
  const at = messages.findLastIndex((message) => toolCalls(message).some(({ id }) => id === newest))
  if (at < 0 || textsIn(messages.slice(at + 1)).some(({ role }) => role === 'user')) return null
  const past = withoutRepeats(history).map(({ text }) => text)
  // Some clients leave out what was said beside a call.
  const isKnown = [at + 1, at].some((end) => endsWith(textsIn(messages.slice(0, end)), past))
  return isKnown ? RESUME : null
}

function continued(
  messages: readonly Message[],
  { history, message, results }: Pick<ChatRequest, 'history' | 'results'> & { readonly message: UserMessage },
  { partial, isLost }: { readonly partial: boolean; readonly isLost: boolean },
): RequestedInput | null {
  const past = withoutRepeats(history)
  const [text] = textsIn([message])
  const pastTexts = past.map(({ text }) => text)
  // An answer that nobody heard is as good as one that is still to come.
  const isWaiting = isLost || openCallsIn(messages).length > 0
  const continuation = findContinuation({
    log: textsIn(messages),
    history: pastTexts,
    message: text!,
    partial,
    isWaiting,
  })
  if (!continuation) return null
  if (continuation.type === 'resume') return RESUME
  const missing = past.slice(past.length - continuation.missing).flatMap(({ messages }) => messages)
  const elsewhere = missing.length > 0 ? resultsElsewhere(messages, results) : []
  return { content: [...message.content, ...elsewhere], history: missing }
}

/** What tools gave where this session was not. */
function resultsElsewhere(messages: readonly Message[], results: readonly ClientResult[]): readonly TextPart[] {
  const ours = new Set(messages.flatMap((message) => toolCalls(message).map(({ id }) => id)))
  const texts = results.flatMap(({ callId, text }) => (ours.has(callId) ? [] : [text.slice(0, MOST_ELSEWHERE_CHARS)]))
  if (texts.length === 0) return []
  const text = ['What tools of the client gave earlier in this conversation:', ...texts].join('\n\n')
  return [{ type: 'text', origin: 'external', text: text.slice(0, MOST_ELSEWHERE_CHARS) }]
}

/** The newest calls of the model that have no result: the run parked, or its process ended. */
function openCallsIn(messages: readonly Message[]): readonly ToolCallPart[] {
  const at = messages.findLastIndex(({ role }) => role === 'assistant')
  const after = messages.slice(at + 1)
  if (at < 0 || after.some(({ role }) => role !== 'tool')) return []
  const answered = new Set(after.map((message) => (message.role === 'tool' ? message.callId : '')))
  return toolCalls(messages[at]!).filter(({ id }) => !answered.has(id))
}

/** Messages grouped as they are compared: replies that follow one another count as one. */
function withoutRepeats(history: readonly PastMessage[]) {
  const groups: { messages: PastMessage[] }[] = []
  for (const message of history) {
    const last = groups.at(-1)
    if (message.role === 'assistant' && last?.messages[0]?.role === 'assistant') last.messages.push(message)
    else groups.push({ messages: [message] })
  }
  return groups.map(({ messages }) => ({ messages, text: textsIn(messages)[0]! }))
}

/** `api-` and 16 hex digits of what a conversation begins with: the same for every request of it, and no one else's. */
function derivedId({
  person,
  system,
  history,
  message,
  tools,
}: Omit<PersonalRequest, 'tools'> & { readonly tools: PersonalRequest['tools'] | null }): string {
  const first = history.find((candidate) => candidate.role === 'user') ?? message
  if (!first) throw nobodyWaits()
  const digest = createHash('sha256')
    .update(
      `${person === null ? '' : JSON.stringify(person)}${system}\n${messageText(first)}${tools?.length === 0 ? '' : ' with tools'}`,
    )
    .digest('hex')
  return `api-${digest.slice(0, ID_DIGITS)}`
}
