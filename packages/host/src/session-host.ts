import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createSessionId, type RunInput, type RunOptions } from '@hermes/agent-core'
import { type Clock, errorLine, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type { TextSource } from '@hermes/contracts/conversation'
import type { Approval, ApprovalChoice } from '@hermes/contracts/policy'
import type { Answer } from '@hermes/contracts/tool'
import type { ReadyAgent, Runtime } from '@hermes/runtime'
import type { EventBus, EventReader, ReadOptions } from './event-bus.js'
import {
  hostClosed,
  LiveSession,
  type Opening,
  type OpenRequest,
  type OwnedRequest,
  type PermissionMode,
  type Turn,
  unknownSession,
} from './live-session.js'
import type { SessionJobs } from './session-jobs.js'
import type { Place } from './session-queue.js'

const SWEEP_EVERY_MS = 60_000
/** Agents that are too many are closed when nobody was heard for a moment, and within a second. */
const [CLOSE_AFTER_MS, CLOSE_WITHIN_MS] = [100, 1_000]
const CHAT_ID_DIGITS = 32

/** An agent as those who use its session see it; it runs through {@link SessionHandle.send} only. */
export type SessionAgent = Omit<ReadyAgent, 'agent' | 'changeModel' | 'close'> & {
  readonly agent: Omit<ReadyAgent['agent'], 'run' | 'steer' | 'interrupt' | 'takeOver' | 'close'>
}

/** A session that this process has open, for one who uses it. */
export interface SessionHandle {
  readonly id: string
  /** Whose it is: `null` for the owner of the home, `undefined` while nobody has used a stored one. */
  readonly person: string | null | undefined
  /** Whether a run or something in the background goes on. */
  readonly isAtWork: boolean
  /** Whether it may yet go on by itself, as a goal that waits does. */
  readonly isResting: boolean
  /** Another process that has the session open, by its platform and process; `null` where none does. */
  otherUser(): Promise<string | null>
  /** Its agent, made on first use and made again after it was closed. Rejects as {@link Runtime.createAgent}. */
  agent(): Promise<SessionAgent>
  /** Its agent, while there is one. */
  readonly ready: SessionAgent | null
  /** Runs this input once nothing else is before it. Abort of `signal` withdraws it, or interrupts its run. */
  send(input: RunInput, options?: { readonly signal?: AbortSignal }): Turn
  /**
   * Waits until nothing else is in the session, and is in it then: for who has to look before sending. `run` leaves it at the end of the
   * run, `leave` without one. Abort of `signal` gives the place up and rejects.
   * @throws HermesError `host.session_full` when eight wait already.
   */
  queue(options?: { readonly signal?: AbortSignal }): Promise<QueuePlace>
  /** A note for the run under way; `queued` when no tool result could carry it: it leads the next message. `sources`: whose words they are, default the owner's. */
  steer(text: string, sources?: readonly TextSource[]): Promise<'delivered' | 'queued'>
  /** Ends the run under way; what waits comes next. */
  interrupt(reason?: string): void
  /**
   * Answers an approval or a question of this session or of what it delegated, from whichever process it comes. The first answer counts:
   * `false` for any other, and for an id of another session. `by` says who, in a word. Rejects as the store does.
   */
  answer(id: string, answer: ApprovalChoice | Answer, by?: string): Promise<boolean>
  /** Who answers approvals from now on. */
  setPermissions(mode: PermissionMode): void
  /** Another model goes on with the session. Rejects as {@link ReadyAgent.changeModel}. */
  changeModel(change: Parameters<ReadyAgent['changeModel']>[0]): Promise<SessionAgent>
  /** Events of the session from now on, or after a cursor. A reader may leave or be slow; neither holds anything up. */
  subscribe(options?: { readonly after?: number }): Promise<EventReader>
  /** Ends the run under way, waits for it and frees what the agent holds, `reason` being why in a word. The session is kept and can be used again. */
  end(reason: string): Promise<void>
  /** Leaves the session; it ends nothing. */
  close(): void
}

/** The right to run in a session, once. */
export interface QueuePlace {
  run(input: RunInput, options?: RunOptions): Turn
  /** Without a run. Nothing happens when it was left. */
  leave(): void
}

/** Options of {@link createSessionHost}. */
export interface SessionHostOptions {
  readonly runtime: Runtime
  /** Agents of sessions that nobody used for so long are closed. Default: none is. */
  readonly idleMs?: number
  /** Of more agents those used longest ago are closed, unless a run or something in the background goes on. Default: no limit. */
  readonly maxAgents?: number
  /** The same of agents that have called a tool, and so may hold a shell, a container or a page. Default: no limit. */
  readonly maxAgentsWithTools?: number
  /** The same where what their conversations take in memory comes to more, in characters. Default: no limit. */
  readonly maxChars?: number
  /** The process ends with its answer: a process that stays gives titles, writes summaries and looks for what should last. Default `false`. */
  readonly leavesJobs?: boolean
  readonly logger?: Logger
  readonly clock?: Clock
}

/** The sessions that a process has open. */
export interface SessionHost {
  /**
   * Opens nothing heavy: an agent is made by the first input.
   * @throws HermesError `host.closed` after {@link SessionHost.close}; `host.unknown_session` for a session of another person, here or with
   * its first use. The owner of the home may open all.
   */
  open(request: OpenRequest): SessionHandle
  /** The agent of a session, while it has one, for a person who may see it; `null`, the default, is the owner, who sees all. */
  agentOf(sessionId: string, person?: string | null): SessionAgent | null
  /** Whether a run is in a session that will not end by itself soon. */
  isBusy(sessionId: string): boolean
  /** As {@link SessionHandle.steer}, for one who does not use the session; `null` where no run is under way. */
  steer(sessionId: string, text: string, sources?: readonly TextSource[]): Promise<'delivered' | 'queued'> | null
  /** As {@link SessionHandle.interrupt}; `false` where no run is under way. */
  interrupt(sessionId: string, reason?: string): boolean
  /** Events of all sessions, from now on or after a cursor. */
  subscribe(options?: Pick<ReadOptions, 'after'>): Promise<EventReader>
  /** Questions of all sessions of the home that wait for an answer, and answers that were not used yet, oldest first. */
  approvals(): Promise<readonly Approval[]>
  /** Closes the agents that nobody used for `idleMs`, as the host does by itself every minute with {@link SessionHostOptions.idleMs}, when it also begins what is due for sessions. */
  closeIdle(idleMs?: number): Promise<void>
  /** Closes the agent of a session in which nothing goes on, so that the session can be removed; `false` where something does. */
  release(sessionId: string): Promise<boolean>
  /**
   * Waits for titles and summaries that are under way, a second at most, before the runtime is closed. What is not done by then is done by
   * another process of the home.
   */
  settle(): Promise<void>
  /** Ends every run, frees all agents and settles; inputs that wait reject with `host.closed`. The runtime stays open. */
  close(reason?: string): Promise<void>
}

/** A host of the sessions of one home. */
export function createSessionHost(options: SessionHostOptions): SessionHost {
  return new Host(options)
}

class Host implements SessionHost {
  readonly #options: SessionHostOptions
  readonly #clock: Clock
  readonly #logger: Logger
  /** The one used longest ago comes first. */
  readonly #sessions = new Map<string, LiveSession>()
  readonly #stopSweeping = new AbortController()
  #bus: Promise<EventBus> | null = null
  #jobs: Promise<SessionJobs> | null = null
  #closer: NodeJS.Timeout | null = null
  #closeByMs = 0
  #isClosed = false

  constructor(options: SessionHostOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    if (options.idleMs !== undefined) void this.#sweep(this.#stopSweeping.signal)
  }

  /** Each minute until the signal fires, whatever an agent takes to close. Keeps no process from ending. Never rejects. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const isReal = this.#clock === systemClock
    for (;;) {
      const minute = isReal
        ? delay(SWEEP_EVERY_MS, undefined, { ref: false, signal })
        : this.#clock.sleep(SWEEP_EVERY_MS, signal)
      await minute.catch(() => undefined)
      if (signal.aborted) return
      void this.closeIdle()
      this.#due((jobs) => jobs.begin())
    }
  }

  open(request: OpenRequest): SessionHandle {
    if (this.#isClosed) throw hostClosed()
    const person = this.#options.runtime.people.personOf(request)
    const named = request.session?.id ?? request.sessionId ?? chatSessionId(request, person)
    const id = named ?? createSessionId(this.#clock.now())
    if (request.session && person !== null && request.session.person !== person) throw unknownSession(id)
    const owned = { ...request, person }
    let session = this.#sessionFor(id, person)
    if (!session) this.#sessions.set(id, (session = this.#create(id, owned, named === null)))
    return new Handle(session, session.open(owned), () => this.#forget(session))
  }

  /** One that others have opened, and of whom it is not known yet, is left to them: they may not be who may use it. */
  #sessionFor(id: string, person: string | null): LiveSession | undefined {
    const session = this.#sessions.get(id)
    const whose = session?.person
    if (whose === undefined) return session?.openedBy === person ? session : undefined
    if (person !== null && whose !== person) throw unknownSession(id)
    return session
  }

  #create(id: string, request: OwnedRequest, isNew: boolean): LiveSession {
    const options = {
      id,
      runtime: this.#options.runtime,
      bus: () => this.#openBus(),
      isPooled: this.#options.idleMs !== undefined,
      used: (session: LiveSession) => this.#used(session),
      ran: (sessionId: string, isNameable: boolean) => this.#due((jobs) => jobs.ran(sessionId, isNameable)),
      left: (sessionId: string) => this.#isClosed || this.#due((jobs) => jobs.left(sessionId)),
      clock: this.#clock,
      logger: this.#logger,
    }
    return new LiveSession(options, request, isNew)
  }

  /** Loaded while the first request is under way: what happens until then waits in its run. */
  #openBus(): Promise<EventBus> {
    this.#bus ??= import('./event-bus.js').then(({ EventBus }) => new EventBus())
    return this.#bus
  }

  /** What is due beside the conversation. */
  #due(notify: (jobs: SessionJobs) => void): void {
    const { runtime, leavesJobs = false } = this.#options
    if (runtime.sessionJobs.length === 0) return
    const options = {
      ...{ runtime, isLeft: leavesJobs, clock: this.#clock, logger: this.#logger },
      done: (sessionId: string) => this.#sessions.get(sessionId)?.changedAside(),
    }
    this.#jobs ??= import('./session-jobs.js').then(({ SessionJobs }) => new SessionJobs(options))
    void this.#jobs.then(notify)
  }

  #used(session: LiveSession): void {
    session.usedAtMs = this.#clock.now()
    if (this.#sessions.get(session.id) !== session) return
    this.#sessions.delete(session.id)
    this.#sessions.set(session.id, session)
    if (this.#options.idleMs !== undefined) this.#closeSoon()
  }

  /** Who speaks now does not wait for the agents of others to be closed, nor is each looked at for each word. Keeps no process from ending. */
  #closeSoon(): void {
    const now = performance.now()
    if (!this.#closer) {
      this.#closer = setTimeout(() => {
        this.#closer = null
        void this.closeIdle()
      }, CLOSE_AFTER_MS).unref()
      this.#closeByMs = now + CLOSE_WITHIN_MS
    } else if (now + CLOSE_AFTER_MS < this.#closeByMs) this.#closer.refresh()
  }

  async closeIdle(idleMs = this.#options.idleMs ?? Number.POSITIVE_INFINITY): Promise<void> {
    const none = Number.POSITIVE_INFINITY
    const { maxAgents = none, maxAgentsWithTools = none, maxChars = none } = this.#options
    const withAgents = [...this.#sessions.values()].filter(({ ready }) => ready !== null)
    const charsOf = ({ ready }: LiveSession) => ready!.agent.size()
    let surplus = withAgents.length - maxAgents
    let surplusWithTools = withAgents.filter(({ hasCalled }) => hasCalled).length - maxAgentsWithTools
    let surplusChars = withAgents.reduce((chars, session) => chars + charsOf(session), 0) - maxChars
    const isOld = (session: LiveSession) => this.#clock.now() - session.usedAtMs >= idleMs
    const chosen = withAgents.filter((session) => {
      if (session.isAtWork || session.isResting) return false
      const isTooMany = surplus > 0 || surplusChars > 0 || (session.hasCalled && surplusWithTools > 0)
      if (!isTooMany && !isOld(session)) return false
      surplus--
      surplusChars -= charsOf(session)
      if (session.hasCalled) surplusWithTools--
      return true
    })
    // Beside a large one a small one often need not go; of these the one used last stays first.
    const idle = chosen.reverse().filter((session) => {
      const chars = charsOf(session)
      const hasRoom = surplus < 0 && surplusChars + chars <= 0 && (!session.hasCalled || surplusWithTools < 0)
      if (!hasRoom || isOld(session)) return true
      surplus++
      surplusChars += chars
      if (session.hasCalled) surplusWithTools++
      return false
    })
    // Who only makes room for others may be in the midst of a conversation.
    const drop = (session: LiveSession) => session.drop('idle', { isLeft: isOld(session) })
    await Promise.all(idle.map((session) => this.#freed(session, drop(session))))
  }

  async #freed(session: LiveSession, freed: Promise<void>): Promise<void> {
    try {
      await freed
    } catch (error) {
      this.#logger.warn('An agent did not close cleanly.', { sessionId: session.id, error: errorLine(error) })
    }
    this.#forget(session)
  }

  #forget(session: LiveSession): void {
    const isUnused = !session.isOpen && session.ready === null && !session.isAtWork
    if (isUnused && this.#sessions.get(session.id) === session) this.#sessions.delete(session.id)
  }

  agentOf(sessionId: string, person: string | null = null): SessionAgent | null {
    const session = this.#sessions.get(sessionId)
    return person === null || session?.person === person ? (session?.ready ?? null) : null
  }

  isBusy(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.queue.isBusy ?? false
  }

  steer(sessionId: string, text: string, sources?: readonly TextSource[]): Promise<'delivered' | 'queued'> | null {
    return this.isBusy(sessionId) ? this.#sessions.get(sessionId)!.steer(text, sources) : null
  }

  interrupt(sessionId: string, reason = 'interrupted'): boolean {
    const isBusy = this.isBusy(sessionId)
    if (isBusy) this.#sessions.get(sessionId)!.interrupt(reason)
    return isBusy
  }

  async subscribe(options: Pick<ReadOptions, 'after'> = {}): Promise<EventReader> {
    return (await this.#openBus()).read(options)
  }

  async approvals(): Promise<readonly Approval[]> {
    const { approvals } = await this.#options.runtime.storage()
    const now = this.#clock.now()
    return (await approvals.pending()).filter(({ expiresAtMs }) => expiresAtMs > now)
  }

  async release(sessionId: string): Promise<boolean> {
    const session = this.#sessions.get(sessionId)
    if (!session) return true
    if (session.isAtWork || session.isResting) return false
    await this.#freed(session, session.drop('released'))
    return true
  }

  async settle(): Promise<void> {
    await (await this.#jobs)?.settle()
  }

  async close(reason = 'closed'): Promise<void> {
    this.#stopSweeping.abort()
    this.#isClosed = true
    clearTimeout(this.#closer ?? undefined)
    await Promise.all([...this.#sessions.values()].map((session) => this.#freed(session, session.shut(reason))))
    this.#sessions.clear()
    await this.settle()
  }
}

/** Any key gives an id of safe characters, and the same in every process; whoever turns out to be another person begins anew. */
function chatSessionId({ platform, chatKey }: OpenRequest, person: string | null): string | null {
  if (chatKey === undefined) return null
  const digest = createHash('sha256')
    .update(JSON.stringify([platform, chatKey, person]))
    .digest('hex')
  return `chat-${digest.slice(0, CHAT_ID_DIGITS)}`
}

class Handle implements SessionHandle {
  readonly #session: LiveSession
  readonly #opening: Opening
  readonly #left: () => void
  #isClosed = false

  constructor(session: LiveSession, opening: Opening, left: () => void) {
    this.#session = session
    this.#opening = opening
    this.#left = left
  }

  get id(): string {
    return this.#session.id
  }

  get person(): string | null | undefined {
    return this.#session.person
  }

  get isAtWork(): boolean {
    return this.#session.isAtWork
  }

  get isResting(): boolean {
    return this.#session.isResting
  }

  get ready(): SessionAgent | null {
    return this.#session.ready
  }

  otherUser(): Promise<string | null> {
    return this.#session.otherUser()
  }

  agent(): Promise<SessionAgent> {
    return this.#session.agent()
  }

  send(input: RunInput, { signal }: { readonly signal?: AbortSignal } = {}): Turn {
    return this.#session.send(this.#opening, input, signal)
  }

  async queue({ signal }: { readonly signal?: AbortSignal } = {}): Promise<QueuePlace> {
    const place: Place = await this.#session.queue.enter(signal)
    return {
      run: (input, options) => this.#session.run(this.#opening, place, input, options),
      leave: place.leave,
    }
  }

  steer(text: string, sources?: readonly TextSource[]): Promise<'delivered' | 'queued'> {
    return this.#session.steer(text, sources)
  }

  interrupt(reason = 'interrupted'): void {
    this.#session.interrupt(reason)
  }

  answer(id: string, answer: ApprovalChoice | Answer, by?: string): Promise<boolean> {
    return this.#session.answer(id, answer, by)
  }

  setPermissions(mode: PermissionMode): void {
    this.#session.setPermissions(this.#opening, mode)
  }

  changeModel(change: Parameters<ReadyAgent['changeModel']>[0]): Promise<SessionAgent> {
    return this.#session.changeModel(change)
  }

  subscribe(options: { readonly after?: number } = {}): Promise<EventReader> {
    return this.#session.read(options)
  }

  end(reason: string): Promise<void> {
    return this.#session.drop(reason)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#session.leave(this.#opening)
    this.#left()
  }
}
