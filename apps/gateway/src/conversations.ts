// Which session a request belongs to, and how it goes on there.
import { createHash, randomBytes } from 'node:crypto'
import type { RunInput } from '@hermes/agent-core'
import { type Entry, type Message, messageText, toolCalls } from '@hermes/contracts/conversation'
import type { OpenRequest, QueuePlace, SessionHandle, SessionHost } from '@hermes/host'
import type { Storage } from '@hermes/storage'
import { ApiError } from './api-error.js'
import type { ChatRequest, PastMessage } from './chat-request.js'
import { brokenOffAt, findContinuation, messagesOf, textsIn, unheardIn } from './history.js'

const ID_DIGITS = 16

/** A session that is ready to run a request; nobody else runs in it until `place` is left. */
export interface Conversation {
  readonly session: SessionHandle
  readonly input: RunInput
  readonly place: QueuePlace
  /** What the agent has said by itself and the client has not heard. */
  readonly unheard: string
  /** Another process that has it open, by its name; `null` where none does. */
  readonly otherUser: string | null
}

/** A request and who asks; `null` is the owner. */
type PersonalRequest = ChatRequest & { readonly person: string | null }

/** Options of {@link Conversations}. */
interface ConversationsOptions {
  readonly storage: () => Promise<Storage>
  readonly host: SessionHost
  /** What agents are made with. Nobody at the other end of a request can be asked. */
  readonly request: Omit<OpenRequest, 'session' | 'sessionId' | 'instructions'>
}

/** Finds the session of a request, or begins one. */
export class Conversations {
  readonly #options: ConversationsOptions

  constructor(options: ConversationsOptions) {
    this.#options = options
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
  async named(sessionId: string, request: PersonalRequest, signal: AbortSignal): Promise<Conversation> {
    await this.#stored(sessionId, request)
    const found = await this.#enter(sessionId, { request, signal, partial: true })
    if (found) return found
    const message = `The messages differ from what was said in session ${sessionId}. Send the new message alone, or leave X-Hermes-Session-Id out.`
    throw new ApiError(message, {
      status: 409,
      code: 'session_conflict',
      param: 'messages',
      headers: { 'x-should-retry': 'false' },
    })
  }

  /** @throws ApiError 404 where there is none, or none of this person: the same, so that nobody learns which there are. */
  async #stored(sessionId: string, { person }: PersonalRequest): Promise<string> {
    const storage = await this.#options.storage()
    const session = await storage.sessions.get(sessionId)
    if (session && (person === null || session.person === person)) return sessionId
    const message = `There is no session "${sessionId}". Leave X-Hermes-Session-Id out to begin one.`
    throw new ApiError(message, { status: 404, code: 'session_not_found' })
  }

  #open(sessionId: string, request: PersonalRequest): SessionHandle {
    const { host, request: options } = this.#options
    const { person, system: instructions } = request
    return host.open({ ...options, ...(person === null ? {} : { user: person }), sessionId, instructions })
  }

  /**
   * Goes on with the session whose log the client's messages begin with. Where there is none, a new one takes them over, so that an
   * edited message or a second conversation with the same beginning never gets into another one's log.
   */
  async derived(request: PersonalRequest, signal: AbortSignal): Promise<Conversation> {
    const base = derivedId(request)
    // A session that another request runs in cannot be what this client has seen the end of.
    for await (const sessionId of this.#candidates(base, request)) {
      if (this.#options.host.isBusy(sessionId)) continue
      const found = await this.#enter(sessionId, { request, signal, partial: false })
      if (found) return found
    }
    const fork = `${base}-${randomBytes(4).toString('hex')}`
    return (await this.#enter(fork, { request, signal, partial: false }))!
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
      signal,
      partial,
    }: { readonly request: PersonalRequest; readonly signal: AbortSignal; readonly partial: boolean },
  ): Promise<Conversation | null> {
    const session = this.#open(sessionId, request)
    let place: QueuePlace | undefined
    try {
      place = await session.queue({ signal })
      const entries = await this.#entries(sessionId)
      const messages = messagesOf(entries)
      const input = inputOf(messages, request, partial)
      if (input) {
        const { agent } = await session.agent()
        // The same messages get a new answer, as from any server of this API; the model does not see the half one.
        const fromSeq = isResume(input) ? brokenOffAt(entries) : null
        if (fromSeq !== null) await agent.undo({ fromSeq })
        const otherUser = entries.length > 0 ? await session.otherUser() : null
        return { session, input, place, unheard: unheardIn(messages, request.history), otherUser }
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

function isResume(input: RunInput): boolean {
  return typeof input === 'object' && 'resume' in input
}

/** What the run starts with, or `null` when the request contradicts the log. */
function inputOf(messages: readonly Message[], request: PersonalRequest, partial: boolean): RunInput | null {
  const { history, historyWithAnswers, message } = request
  return (
    continued(messages, { history, message }, partial) ??
    continued(messages, { history: historyWithAnswers, message }, partial)
  )
}

function continued(
  messages: readonly Message[],
  { history, message }: Pick<ChatRequest, 'history' | 'message'>,
  partial: boolean,
): RunInput | null {
  const past = withoutRepeats(history)
  const [text] = textsIn([message])
  const pastTexts = past.map(({ text }) => text)
  const isWaiting = endsInCalls(messages)
  const continuation = findContinuation({
    log: textsIn(messages),
    history: pastTexts,
    message: text!,
    partial,
    isWaiting,
  })
  if (!continuation) return null
  if (continuation.type === 'resume') return { resume: true }
  const missing = past.slice(past.length - continuation.missing).flatMap(({ messages }) => messages)
  return { content: message.content, history: missing }
}

/** Whether the newest calls of the model have no results: the run parked, or its process ended. */
function endsInCalls(messages: readonly Message[]): boolean {
  const last = messages.at(-1)
  return last?.role === 'assistant' && toolCalls(last).length > 0
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
function derivedId({ person, system, history, message }: PersonalRequest): string {
  const first = history.find((candidate) => candidate.role === 'user') ?? message
  const digest = createHash('sha256')
    .update(`${person === null ? '' : JSON.stringify(person)}${system}\n${messageText(first)}`)
    .digest('hex')
  return `api-${digest.slice(0, ID_DIGITS)}`
}
