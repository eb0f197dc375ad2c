// One session of a chat: what is said in it waits in the inbox, and runs go on until nothing waits and every answer is in the outbox.
//
//   inbox ─▶ open, written down ─▶ run ─▶ answer in the outbox ─▶ closed, written down ─▶ looked at once more
import { randomUUID } from 'node:crypto'
import type { RunResult } from '@hermes/agent-core'
import { type Clock, errorLine, HermesError, isAbort, type JsonObject, type Logger } from '@hermes/contracts'
import { CHAT_MESSAGE, type ChatMessageBody } from '@hermes/contracts/store'
import type { OpenRequest, SessionHandle, SessionHost } from '@hermes/host'
import { type Chat, type ChatStore, isShared, type Outgoing, targetOf } from '@hermes/platform'
import type { Storage } from '@hermes/storage'
import { approvalMessage, questionMessage } from './pending-questions.js'

const BUSY_ELSEWHERE_MS = 1_000
/** After which a store that failed is tried again, twice as long each time. */
const FIRST_STORE_WAIT_MS = 1_000
const MAX_STORE_WAIT_MS = 60_000
/** Of many chats that were open when the process ended so often, one may be why: from then on each goes on alone. */
const MAX_BEGUN = 3
/** A message that ended the process so often while nothing else was taken up is not tried again by itself. */
const MAX_ALONE = 2

/** Options of {@link ChatWorker}. */
export interface ChatWorkerOptions {
  readonly chats: ChatStore
  readonly storage: Storage
  readonly host: Pick<SessionHost, 'open'>
  /** What agents of chats are made with. */
  readonly request: Omit<
    OpenRequest,
    'platform' | 'session' | 'sessionId' | 'user' | 'chatKey' | 'isGroup' | 'deliverTo'
  >
  readonly hasButtons: boolean
  /** What agents of this chat are made with instead. */
  readonly overrides: (chat: Chat['chat']) => Partial<OpenRequest>
  /** Somebody as the model gets to know them. */
  readonly masked: <User extends Chat['user']>(user: User) => User
  /** Something is in the outbox. */
  readonly written: () => void
  readonly clock: Clock
  readonly logger: Logger
}

/** `elsewhere`: another process has the session now. */
type Outcome = 'ran' | 'elsewhere' | 'failed'

/** A session of a chat in this process. */
export class ChatWorker {
  readonly #options: ChatWorkerOptions
  #chat: Chat
  #handle: SessionHandle | null = null
  #isStored = false
  #loop: Promise<void> | null = null
  #isWanted = false
  /** Something other than words of people waits for a run. */
  #isWoken = false
  /** Runs under way, of what was said and such that began by themselves. */
  readonly #runs = new Set<symbol>()
  readonly #ownRuns = new Set<Promise<void>>()
  #isLeft = false
  readonly #stopping = new AbortController()
  /** Ends the wait for more of what is being said. */
  #joining: AbortController | null = null

  constructor(chat: Chat, options: ChatWorkerOptions) {
    this.#chat = chat
    this.#options = options
  }

  get chat(): Chat {
    return this.#chat
  }

  /** The chat has another id from now on. */
  move({ key, chat, firstId = chat.id }: Chat): void {
    this.#chat = { ...this.#chat, key, chat, firstId }
    // Who goes on with it is told the new place; a run ends with what it has.
    if (!this.isRunning) this.#letGo()
  }

  /** What its people chose to see, from now on. */
  async choose(chosen: Pick<Chat, 'calls' | 'hasFooter'>): Promise<void> {
    this.#chat = { ...this.#chat, ...chosen }
    await this.#options.chats.change(this.#chat.key, (stored) => ({ ...(stored ?? this.#chat), ...chosen }))
  }

  get target(): string {
    return targetOf(this.#chat)
  }

  /** Whether a run is under way. */
  get isRunning(): boolean {
    return this.#runs.size > 0
  }

  /** Of what is under way now: says later whether any of that still is. */
  underWay(): () => boolean {
    const runs = [...this.#runs]
    return () => runs.some((run) => this.#runs.has(run))
  }

  /** Whether anything goes on in its session here, or may yet by itself: a process in the background, a goal that waits. */
  get isAtWork(): boolean {
    return this.isRunning || (this.#handle?.isAtWork ?? false) || (this.#handle?.isResting ?? false)
  }

  /** How words of somebody in this chat are marked. */
  whose(sender: Chat['user']): { sender: Chat['user']; isShared: boolean; isOwner: boolean } {
    const { masked } = this.#options
    return { sender: masked(sender), isShared: isShared(this.#chat.key), isOwner: this.#chat.person === null }
  }

  get handle(): SessionHandle {
    const { host, request } = this.#options
    const { platform, chat, user, sessionId, keepsFolder = false, firstId = chat.id } = this.#chat
    const isGroup = chat.type !== 'dm'
    this.#handle ??= host.open({
      ...request,
      ...this.#options.overrides(chat),
      platform,
      sessionId,
      user: isGroup ? `group ${firstId}` : user.id,
      chatKey: firstId,
      isGroup,
      keepsFolder,
      deliverTo: { platform, target: this.target },
      onWakeUp: ({ result }) => this.#follow(result),
      onRest: (line) => this.#track(this.tell(`${sessionId}:rest:${randomUUID()}`, { text: line, markup: 'plain' })),
    })
    return this.#handle
  }

  /** A run that began by itself: what it waits for, and why it failed, is said as of any other. */
  #follow(result: Promise<RunResult>): void {
    this.#track(this.#awaited(() => result).then(() => undefined))
  }

  #track(work: Promise<void>): void {
    const { logger } = this.#options
    const tracked = work
      .catch((error: unknown) => {
        const fields = { sessionId: this.#chat.sessionId, error: errorLine(error) }
        if (!isAbort(error)) logger.error('What came of a chat by itself could not be told.', fields)
      })
      .finally(() => this.#ownRuns.delete(tracked))
    this.#ownRuns.add(tracked)
  }

  /**
   * Puts into the inbox what a person said, and runs the session; resolves once both are durable. `joinMs`: more of the same is waited for so long
   * before the run begins, and what comes in between is read with it.
   */
  async take(key: string, body: ChatMessageBody, { joinMs = 0 }: { readonly joinMs?: number } = {}): Promise<void> {
    await this.#ensureSession()
    const { sessionId } = this.#chat
    const message = { key, sessionId, kind: CHAT_MESSAGE, body: body as unknown as JsonObject }
    const { inbox } = this.#options.storage
    await inbox.send(message).catch(async (error: unknown) => {
      if (!HermesError.isInstance(error) || error.code !== 'store.unknown_session') throw error
      // It was removed meanwhile: the conversation begins anew under the same id.
      this.#isStored = false
      await this.#ensureSession()
      await inbox.send(message)
    })
    await this.open()
    this.#joining?.abort()
    if (joinMs > 0) this.#runAfter(joinMs)
    else this.#run()
  }

  /** Looks whether something is to be done; resolves once that it does is durable. */
  async resume(): Promise<void> {
    await this.open()
    this.#run()
  }

  /** Goes on with words that are not of a person, once nothing else runs. */
  async wake(): Promise<void> {
    this.#isWoken = true
    await this.resume()
  }

  /** Whether it was open so often when the process ended that it is to be taken up alone. */
  get isSuspect(): boolean {
    return this.#chat.begun >= MAX_BEGUN
  }

  /** Goes on with what another process, or this one before, did not end. */
  async recover(): Promise<void> {
    // The person may have gone on in another session, or here, while it waited for its turn.
    const stored = await this.#options.chats.get(this.#chat.key)
    if (this.#isLeft || this.#loop || !this.#chat.isOpen || stored?.sessionId !== this.#chat.sessionId) return
    const { begun } = this.#chat
    if (begun >= MAX_BEGUN + MAX_ALONE) {
      const text = `Your last message ended this program ${begun} times and is not tried again by itself. Send anything to try again.`
      await this.tell(`${this.#chat.sessionId}:given-up:${randomUUID()}`, { text, markup: 'plain' })
      await this.#note({ isOpen: false, begun: 0 })
      return
    }
    await this.#note({ begun: begun + 1 })
    this.#run()
  }

  async #ensureSession(): Promise<void> {
    if (this.#isStored) return
    const { sessions } = this.#options.storage
    const { sessionId: id, platform: source, person } = this.#chat
    const { cwd } = this.#options.request
    try {
      if ((await sessions.get(id)) === null)
        await sessions.create({ id, source, person, ...(cwd === undefined ? {} : { cwd }) })
    } catch (error) {
      if (!HermesError.isInstance(error) || error.code !== 'store.session_exists') throw error
    }
    this.#isStored = true
  }

  /** Writes down that something is to be done; not where the chat went on in another session, which stays the one it is in. */
  async open(): Promise<void> {
    if (this.#chat.isOpen) return
    try {
      await this.#note({ isOpen: true, begun: 0, heardAtMs: this.#options.clock.now() })
    } catch (error) {
      // It stands nowhere: who tries again writes it down.
      this.#chat = { ...this.#chat, isOpen: false }
      throw error
    }
  }

  /** Here at once, and in the store where the chat is in this session still. */
  async #note(change: Pick<Chat, 'begun'> & Partial<Pick<Chat, 'isOpen' | 'heardAtMs'>>): Promise<void> {
    this.#chat = { ...this.#chat, ...change }
    const { key, sessionId } = this.#chat
    await this.#options.chats.change(key, (stored) => {
      if (stored === null) return this.#chat
      return stored.sessionId === sessionId ? { ...stored, ...change } : null
    })
  }

  /** What was said while it was being closed is seen by the look after it, or opens it again. */
  async #close(isAnswered: boolean): Promise<void> {
    await this.#note({ isOpen: false, begun: 0, heardAtMs: this.#options.clock.now() })
    if (isAnswered && (await this.#hasWords())) await this.resume()
  }

  /** What ends in between is begun by the next process: it is open. */
  #runAfter(ms: number): void {
    const joining = new AbortController()
    this.#joining = joining
    this.#options.clock.sleep(ms, AbortSignal.any([joining.signal, this.#stopping.signal])).then(
      () => this.#run(),
      () => undefined,
    )
  }

  #run(): void {
    this.#isWanted = true
    if (this.#isLeft) return
    this.#loop ??= this.#work().finally(() => {
      this.#loop = null
      if (this.#isWanted && !this.#isLeft) this.#run()
    })
  }

  /** Never rejects. Where the store takes nothing for a while it goes on once it does. */
  async #work(): Promise<void> {
    const { clock, logger } = this.#options
    const { signal } = this.#stopping
    for (let waitMs = FIRST_STORE_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_STORE_WAIT_MS)) {
      try {
        return await this.#runAll()
      } catch (error) {
        if (isAbort(error)) return
        logger.error('A chat could not be answered.', { sessionId: this.#chat.sessionId, error: errorLine(error) })
        this.#isWanted = true
        const isOver = await clock.sleep(waitMs, signal).then(
          () => false,
          () => true,
        )
        if (isOver) return
      }
    }
  }

  /** Runs until nothing waits. Rejects as the store does. */
  async #runAll(): Promise<void> {
    let outcome: Outcome = 'ran'
    while (this.#isWanted && !this.#isLeft) {
      this.#isWanted = false
      outcome = await this.#once()
      if (this.#isLeft) return
      if (outcome === 'elsewhere') {
        await this.#options.clock.sleep(BUSY_ELSEWHERE_MS, this.#stopping.signal)
        this.#isWanted = true
      } else if (outcome === 'ran' && (await this.#hasWords())) this.#isWanted = true
    }
    if (!this.#isLeft) await this.#close(outcome === 'ran')
  }

  #once(): Promise<Outcome> {
    const input = this.#isWoken ? ({ resume: true } as const) : ({ inbox: true } as const)
    this.#isWoken = false
    return this.#awaited(() => this.handle.send(input).result)
  }

  async #awaited(begin: () => Promise<RunResult>): Promise<Outcome> {
    const run = Symbol('run')
    this.#runs.add(run)
    try {
      const ended = await begin()
      if (this.#isLeft) return 'failed'
      return await this.#ended(ended)
    } catch (error) {
      if (this.#isLeft || isAbort(error)) return 'failed'
      if (isBusyElsewhere(error)) return 'elsewhere'
      await this.#tellFailure(errorLine(error))
      return 'failed'
    } finally {
      this.#runs.delete(run)
    }
  }

  async #ended({ status, error, text }: RunResult): Promise<Outcome> {
    this.#options.written()
    switch (status) {
      case 'failed':
        if (isBusyElsewhere(error)) return 'elsewhere'
        await this.#tellFailure(error?.message ?? 'It failed without saying why.')
        return 'failed'
      case 'stopped':
        if (error) await this.#tellFailure(error.message)
        return 'ran'
      case 'parked':
        await this.tellPending()
        return 'ran'
      case 'completed':
        if (text.trim() === '') await this.#tellFailure('The model ended without a word. Ask again, or in other words.')
        await this.tellPending()
        return 'ran'
      case 'interrupted':
        return 'ran'
      default:
        return status satisfies never
    }
  }

  #tellFailure(line: string): Promise<void> {
    return this.tell(`${this.#chat.sessionId}:failed:${randomUUID()}`, { text: `⚠ ${line}`, markup: 'plain' })
  }

  async #hasWords(): Promise<boolean> {
    const waiting = await this.#options.storage.inbox.waiting(this.#chat.sessionId)
    return waiting.some(({ kind }) => kind === CHAT_MESSAGE)
  }

  /** Asks in the chat what the session waits for, each thing once. */
  async tellPending(): Promise<void> {
    const { storage, hasButtons, clock } = this.#options
    const { sessionId } = this.#chat
    const nowMs = clock.now()
    const approvals = (await storage.approvals.pending(sessionId)).filter(
      (one) => one.choice === null && one.expiresAtMs > nowMs,
    )
    for (const approval of approvals)
      await this.tell(`approval:${approval.id}`, approvalMessage(approval, { nowMs, hasButtons }))
    const questions = (await storage.questions.pending(sessionId)).filter(
      (one) => one.answer === null && one.expiresAtMs > nowMs,
    )
    for (const kept of questions) await this.tell(`question:${kept.id}`, questionMessage(kept, { hasButtons }))
  }

  /** A key is told once. */
  async tell(key: string, body: Outgoing): Promise<void> {
    const { platform } = this.#chat
    await this.#options.storage.outbox.add([
      { key, platform, target: this.target, body: { ...body } as unknown as JsonObject },
    ])
    this.#options.written()
  }

  /** Resolves when nothing runs any more. */
  async settled(): Promise<void> {
    while (this.#loop || this.#ownRuns.size > 0) await Promise.all([this.#loop, ...this.#ownRuns])
  }

  /** The chat is in another session: this one is let go of once nothing goes on in it, unless something does by itself. */
  async retire(): Promise<void> {
    await this.settled()
    if (!this.isAtWork) this.#letGo()
  }

  /** Begins nothing more; what runs is ended by who ends the session, and stays open for the next process. */
  leave(): void {
    this.#isLeft = true
    this.#stopping.abort(new DOMException('The chat was left.', 'AbortError'))
    this.#letGo()
  }

  #letGo(): void {
    this.#handle?.close()
    this.#handle = null
  }
}

function isBusyElsewhere(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null ? (error as { readonly code?: unknown }).code : null
  return code === 'store.session_busy' || code === 'store.lease_lost'
}
