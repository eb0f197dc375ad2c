// What one session is while a process has it open: its queue, its agent, its questions.
//
//   inputs ─▶ queue ─▶ one run at a time ─▶ bus ─▶ readers
//                          └─ questions ─▶ bus ─▶ the first answer counts, the others are withdrawn
import { stat } from 'node:fs/promises'
import type { AgentEvent, Run, RunInput, RunOptions, RunResult } from '@hermes/agent-core'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import { type TextSource, type UserPart, userText } from '@hermes/contracts/conversation'
import { type ApprovalChoice, type ApprovalQuestion, rootSessionOf, type Unanswered } from '@hermes/contracts/policy'
import type { SessionInfo } from '@hermes/contracts/store'
import { type Answer, answerIn } from '@hermes/contracts/tool'
import type { AgentRequest, ReadyAgent, Runtime } from '@hermes/runtime'
import type { EventBus, EventReader } from './event-bus.js'
import type { HostEventBody } from './session-event.js'
import { SessionQuestions } from './session-questions.js'
import { type Place, SessionQueue } from './session-queue.js'

/**
 * Who answers what the policy asks: a reader of the session; nobody now, so that the run parks or is denied what it asked for; or a yes to
 * everything that may be approved. What nobody answers now is kept.
 */
export type PermissionMode = 'ask' | 'park' | 'deny' | 'approve'

/** What config.yaml wants where no reader answers. */
export function unattendedMode(platform: string, approvals: Runtime['config']['approvals']): PermissionMode {
  if (platform === 'oneshot') return approvals.single_query_mode
  return platform === 'cron' ? approvals.cron_mode : approvals.unattended_mode
}

const UNANSWERED: Readonly<Record<PermissionMode, Unanswered>> = {
  ask: 'wait',
  approve: 'wait',
  park: 'park',
  deny: 'deny',
}

/** A session to be opened. */
export interface OpenRequest extends Omit<AgentRequest, 'session' | 'sessionId' | 'platform' | 'person' | 'ask'> {
  /** Where it speaks: `cli`, `oneshot`, `acp`, `gateway` … */
  readonly platform: string
  /** The chat, as the platform calls it: without another id the session is the one of that chat. Any text. */
  readonly chatKey?: string
  /** Several people are in the chat: the session belongs to the group. */
  readonly isGroup?: boolean
  /** Resumes this one. */
  readonly session?: SessionInfo
  /** Resumes the stored session of that id, else begins one under it. Default: a new session. */
  readonly sessionId?: string
  /** For the runs that this opening begins and what begins by itself after them, until it is left. Who opens the session meanwhile changes nothing of a run under way. */
  readonly permissions: PermissionMode
  /** A stored session works in its own folder where that still exists, in place of `cwd`. Default `false`. */
  readonly keepsFolder?: boolean
  /**
   * Who answers what the model asks: a reader at once (`now`), or the next input (`later`): then the run parks, and resumes with what is
   * said next as the answer, a number being that choice. Default: nobody, so that the model decides; an answer that was given elsewhere counts all the same.
   */
  readonly answersQuestions?: 'now' | 'later'
  /** Told of a run that begins by itself, with what came of background tasks or for a goal. Must not throw. */
  readonly onWakeUp?: (turn: Turn) => void
  /** Told what a session at rest does, a line before it goes on by itself or stays. Must not throw. */
  readonly onRest?: (line: string) => void
  /** Told when work beside the conversation has changed the session: its title, what is known of it, what it costs. Must not throw. */
  readonly onAside?: () => void
}

/** With whom opens it: `null` for the owner of the home. */
export type OwnedRequest = OpenRequest & { readonly person: string | null }

/** One opening of a session, until it is left: what its runs go by. */
export interface Opening {
  /** What an agent that is made for them is made with. */
  request: OwnedRequest
  permissions: PermissionMode
}

/** What a session needs of its host. */
interface LiveSessionOptions {
  readonly id: string
  readonly runtime: Pick<Runtime, 'createAgent' | 'storage' | 'policy'>
  readonly bus: () => Promise<EventBus>
  /** Agents come and go with use, and so after a failure of the store too. */
  readonly isPooled: boolean
  /** An agent was made or used. */
  readonly used: (session: LiveSession) => void
  /** A run has ended and did not fail; `isNameable` when it is the first that its agent completed. Not where model traffic is recorded. */
  readonly ran: (sessionId: string, isNameable: boolean) => void
  /** An agent that had such a run is closed. */
  readonly left: (sessionId: string) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** One input and what comes of it. Its events wait for the one who iterates them, however long that takes; iterate at once or not at all. */
export interface Turn extends AsyncIterable<AgentEvent> {
  /** Rejects when no agent could be made, with what {@link Runtime.createAgent} throws, or when `signal` fired before its turn came. */
  readonly result: Promise<RunResult>
}

/** Runs in a row that begin by themselves; what comes of tasks after that waits for the next message. */
const MAX_WAKE_UPS = 5

/** An input whose turn has come, from before its agent is there until its run is over. */
interface CurrentInput {
  readonly opening: Opening
  place: Place | null
  readonly stop: AbortController
}

interface BegunRun {
  readonly id: string
  /** Before its first event. */
  readonly cursor: number
  readonly result: Promise<RunResult>
}

/** A session that this process has open, whoever uses it. */
export class LiveSession {
  readonly #options: LiveSessionOptions
  readonly queue = new SessionQueue()
  /** What is open; the newest is the last. */
  readonly #openings = new Set<Opening>()
  /** The one that counts now. */
  #opening: Opening
  /** Whose it is, once that is known. */
  #person: string | null | undefined
  /** Where the answers of the newest agent go. */
  #deliversTo: OpenRequest['deliverTo']
  /** Whether the store may have it: a session that was just given its id is not looked up. */
  #isStored: boolean
  #ready: ReadyAgent | null = null
  /** Has completed a run. */
  #proven: ReadyAgent | null = null
  /** The agent there is has called a tool. */
  #hasCalled = false
  /** A run that left something to do has ended since the session was last left. */
  #hasRun = false
  #making: Promise<ReadyAgent> | null = null
  #current: CurrentInput | null = null
  /** Settles when the former agent is closed; the next one is not made before. */
  #closing: Promise<void> = Promise.resolve()
  #isShut = false
  #stopListening: () => void = () => undefined
  #stopWatching: () => void = () => undefined
  readonly #questions: SessionQuestions
  readonly #approvals = new Set<string>()
  /** A task in the background has ended since its results were last looked for. */
  #hasResults = false
  /** Of the last run; `null` before the first one. */
  #lastStatus: RunResult['status'] | null = null
  /** While extensions are asked whether it goes on. */
  #rest: { readonly stop: AbortController; readonly over: Promise<unknown> } | null = null
  /** Since the last input of a person. */
  #wakeUps = 0
  usedAtMs = 0

  constructor(options: LiveSessionOptions, request: OwnedRequest, isNew: boolean) {
    this.#options = options
    this.#opening = { request, permissions: request.permissions }
    this.#person = isNew ? request.person : request.session?.person
    this.#isStored = !isNew
    const { id: sessionId, runtime, clock, logger } = options
    const store = async () => (await runtime.storage()).questions
    this.#questions = new SessionQuestions({
      sessionId,
      store,
      publish: (event) => this.#publish(event),
      clock,
      logger,
    })
  }

  get id(): string {
    return this.#options.id
  }

  get ready(): ReadyAgent | null {
    return this.#ready
  }

  /** Whether anybody has it open. */
  get isOpen(): boolean {
    return this.#openings.size > 0
  }

  get #request(): OwnedRequest {
    return this.#opening.request
  }

  /** Whose it is; `undefined` before anybody has used it. */
  get person(): string | null | undefined {
    return this.#person
  }

  /** Who has opened it. */
  get openedBy(): string | null {
    return this.#request.person
  }

  /** The stored session. @throws HermesError `host.unknown_session` for one of another person, unless the owner of the home opens it. */
  async #admitted(): Promise<SessionInfo | null> {
    const { session: known, person } = this.#request
    const stored = this.#isStored
      ? (known ?? (await (await this.#options.runtime.storage()).sessions.get(this.id)))
      : null
    const whose = stored ? stored.person : person
    if (person !== null && whose !== person) throw unknownSession(this.id)
    this.#person = whose
    return stored
  }

  /** Whether a run or something in the background goes on. */
  get isAtWork(): boolean {
    return this.queue.isTaken || this.#making !== null || (this.#ready?.hasProcesses() ?? false)
  }

  /** Whether its agent has called a tool, and so may hold a shell, a container or a page. */
  get hasCalled(): boolean {
    return this.#hasCalled
  }

  /** Whether it may yet go on by itself, as a goal that waits does: its agent is not to be dropped before. */
  get isResting(): boolean {
    return this.#rest !== null
  }

  /** It counts at once where nothing goes on for others who have it open; else from its first run on. */
  open(request: OwnedRequest): Opening {
    const opening = { request, permissions: request.permissions }
    this.#openings.add(opening)
    if (this.#openings.size === 1 || !this.isAtWork) this.#goBy(opening)
    return opening
  }

  /** Who left answers nothing any more: where nobody else does, what asks is refused at once instead of waiting for them. */
  leave(opening: Opening): void {
    this.#openings.delete(opening)
    if (this.#opening === opening) this.#goBy(opening)
  }

  setPermissions(opening: Opening, mode: PermissionMode): void {
    opening.permissions = mode
    this.#goBy(opening)
  }

  /**
   * From now on this opening counts; where it was left, the newest other one, which makes nothing approved that was not before. The agent there
   * is stays.
   */
  #goBy(opening: Opening): void {
    this.#opening = this.#openings.has(opening) ? opening : this.#inPlaceOf(opening)
    if (this.#ready) this.#listen()
  }

  #inPlaceOf(left: Opening): Opening {
    const other = [...this.#openings].at(-1)
    const isLooser = other?.permissions === 'approve' && left.permissions !== 'approve'
    if (other && !isLooser) return other
    left.permissions = 'deny'
    return left
  }

  agent(): Promise<ReadyAgent> {
    if (this.#isShut) return Promise.reject(hostClosed())
    this.#options.used(this)
    if (this.#ready) return Promise.resolve(this.#ready)
    this.#making ??= this.#make().finally(() => {
      this.#making = null
    })
    return this.#making
  }

  async #make(): Promise<ReadyAgent> {
    const { runtime } = this.#options
    const {
      permissions: _mode,
      answersQuestions: _answers,
      keepsFolder,
      onWakeUp: _onWakeUp,
      onRest: _onRest,
      onAside: _onAside,
      chatKey: _chatKey,
      isGroup: _isGroup,
      session: _known,
      sessionId: _id,
      ...request
    } = this.#request
    this.#deliversTo = request.deliverTo
    await this.#closing
    const stored = await this.#admitted()
    if (stored) await this.#noteOpen()
    const folder = keepsFolder ? await existing(stored?.cwd ?? null) : null
    const ready = await runtime.createAgent({
      ...request,
      ...(folder === null ? {} : { cwd: folder }),
      ...(stored ? { session: stored } : { sessionId: this.id }),
      ask: (question, call) => this.#questions.ask(question, call, this.#request.answersQuestions ?? 'never'),
    })
    this.#isStored = true
    // The next agent is made from what the store has then.
    this.#change(({ session: _former, ...next }) => next)
    this.#take(ready)
    return ready
  }

  /** What agents are made with from now on, whoever has it open. */
  #change(changed: (request: OwnedRequest) => OwnedRequest): void {
    for (const opening of new Set([...this.#openings, this.#opening])) opening.request = changed(opening.request)
  }

  /**
   * Notes that it is open here, so that nobody deletes it for its age before it is used. One that another process has open is kept by that.
   * Rejects when it is gone already; a store that takes no more still shows what it has.
   */
  async #noteOpen(): Promise<void> {
    const { leases } = await this.#options.runtime.storage()
    try {
      if ((await leases.otherUser(this.id)) !== null) return
      await (await leases.acquire(this.id, { owner: this.#request.platform })).release()
    } catch (error) {
      if (HermesError.isInstance(error) && error.code === 'store.unknown_session') throw error
      this.#options.logger.debug('That a session is open could not be noted.', { error: errorLine(error) })
    }
  }

  #take(ready: ReadyAgent): void {
    this.#ready = ready
    this.#listen()
    this.#stopWatching()
    const leaveTasks = ready.children.watch(({ id, isBackground, endedAtMs, state }) => {
      if (!isBackground || endedAtMs === null) return
      this.#publish({ type: 'background-end', id, state })
      this.#hasResults = true
      this.#wakeUp()
    })
    const leaveNotices = ready.agent.watchNotices(() => this.#wakeUp())
    this.#stopWatching = () => {
      leaveTasks()
      leaveNotices()
    }
  }

  /**
   * Begins a run when nothing else is in the session: with the results of background tasks and the notices of processes, else as extensions
   * want it. A run under way wakes it at its end.
   */
  #wakeUp(): void {
    this.#beginByItself().catch((error: unknown) =>
      this.#options.logger.warn('A session did not go on by itself.', {
        sessionId: this.id,
        error: errorLine(error),
      }),
    )
  }

  /** Work beside the conversation has changed the session. */
  changedAside(): void {
    this.#request.onAside?.()
  }

  async #beginByItself(): Promise<void> {
    const input = (await this.#results()) ?? (await this.#restAs())
    if (input === null || !this.#isAtRest()) return
    const turn = this.#enqueue(this.#opening, input)
    this.#request.onWakeUp?.(turn)
    await turn.result
  }

  /** Goes on with the results of tasks and the notices of processes, when there are some. */
  async #results(): Promise<RunInput | null> {
    if (!this.#canWakeUp()) return null
    const { inbox } = await this.#options.runtime.storage()
    const results = await inbox.waiting(this.id)
    // Somebody may have said something meanwhile.
    if (!this.#canWakeUp()) return null
    this.#hasResults = false
    // A run that was under way has told them already.
    if (results.length === 0 && !this.#ready!.agent.hasNotices()) return null
    this.#wakeUps++
    return { resume: true }
  }

  #canWakeUp(): boolean {
    return this.#wakeUps < MAX_WAKE_UPS && this.#isAtRest() && this.#hasNews()
  }

  /** After a stop, a limit or a failure nothing begins by itself. Before the first run only what a person handed out can have ended. */
  #hasNews(): boolean {
    if (this.#lastStatus === null) return this.#hasResults
    return this.#lastStatus === 'completed' && (this.#hasResults || this.#ready!.agent.hasNotices())
  }

  #isAtRest(): boolean {
    const isThere = this.isOpen || this.#options.isPooled
    return isThere && this.#ready !== null && !this.#isShut && !this.queue.isTaken
  }

  /** Asks extensions whether it goes on by itself, and how. Whoever says something meanwhile comes first. */
  async #restAs(): Promise<RunInput | null> {
    const status = this.#lastStatus
    if (status === null || !this.#isAtRest()) return null
    this.#endRest()
    const stop = new AbortController()
    const over = this.#ready!.agent.atRest(status, { signal: stop.signal })
    this.#rest = { stop, over }
    const rest = await over.finally(() => {
      if (this.#rest?.stop === stop) this.#rest = null
    })
    if (stop.signal.aborted || rest === null) return null
    this.#request.onRest?.(rest.say)
    return rest.next === undefined || status !== 'completed'
      ? null
      : { content: userText(rest.next, 'reminder').content }
  }

  #endRest(): void {
    this.#rest?.stop.abort(new DOMException('The session goes on.', 'AbortError'))
    this.#rest = null
  }

  #listen(): void {
    this.#stopListening()
    const tell = (id: string, question: ApprovalQuestion) => {
      const { permissions } = this.#opening
      if (permissions === 'approve') {
        this.answer(id, 'once').catch((error: unknown) =>
          this.#options.logger.warn('An approval could not be answered.', { error: errorLine(error) }),
        )
        return
      }
      const isWaiting = permissions === 'ask'
      if (isWaiting) this.#approvals.add(id)
      this.#publish({ type: isWaiting ? 'approval-open' : 'approval-kept', id, question })
    }
    this.#stopListening = this.#options.runtime.policy.listen(this.id, tell, UNANSWERED[this.#opening.permissions])
  }

  async changeModel(change: Parameters<ReadyAgent['changeModel']>[0]): Promise<ReadyAgent> {
    this.#endRest()
    const ready = await (await this.agent()).changeModel(change)
    const { force: _force, ...chosen } = change
    this.#change((request) => ({ ...request, ...chosen }))
    this.#take(ready)
    this.#wakeUp()
    return ready
  }

  /** Runs at a place in the queue, and leaves it at the end. Throws as {@link Turn.result} rejects. */
  run(opening: Opening, place: Place, input: RunInput, options: RunOptions = {}): Turn {
    this.#wakeUps = 0
    this.#endRest()
    return this.#turn(this.#start({ opening, place, stop: new AbortController() }, input, options))
  }

  /** Runs once nothing else is before it. */
  send(opening: Opening, input: RunInput, signal?: AbortSignal): Turn {
    this.#wakeUps = 0
    return this.#enqueue(opening, input, signal)
  }

  #enqueue(opening: Opening, input: RunInput, signal?: AbortSignal): Turn {
    this.#endRest()
    const current: CurrentInput = { opening, place: null, stop: new AbortController() }
    if (!this.queue.isTaken) this.#current = current
    const begun = this.queue.enter(signal).then((place) => {
      current.place = place
      return this.#start(current, input, signal ? { signal } : {})
    })
    return this.#turn(begun)
  }

  #turn(begun: Promise<BegunRun>): Turn {
    const result = begun.then((run) => run.result)
    // Who reads the events is told there.
    result.catch(() => undefined)
    return { result, [Symbol.asyncIterator]: () => this.#events(begun) }
  }

  async *#events(begun: Promise<BegunRun>): AsyncGenerator<AgentEvent> {
    const { id, cursor, result } = await begun
    const reader = (await this.#options.bus()).read({ sessionId: this.id, after: cursor, isWhole: true })
    // Who comes late may find that the bus has forgotten the end already.
    void result.then(() => reader.finish())
    for await (const { event } of reader) {
      if (event.type === 'events-missed') yield this.#missed(id, event.count)
      if (!('runId' in event) || event.runId !== id) continue
      yield event
      if (event.type === 'run-end') return
    }
    yield { ...this.#baseOf(id), type: 'run-end', result: await result }
  }

  #missed(runId: string, count: number): AgentEvent {
    const text = `${count} events were not read in time and are left out here; the session has them.`
    return { ...this.#baseOf(runId), type: 'notice', level: 'warning', text }
  }

  #baseOf(runId: string) {
    return { runId, sessionId: this.id, agentPath: ['root'], atMs: this.#options.clock.now() }
  }

  async #start(current: CurrentInput, input: RunInput, { signal, demands }: RunOptions): Promise<BegunRun> {
    const { opening, stop } = current
    if (this.#opening !== opening || !this.#openings.has(opening)) this.#goBy(opening)
    // Before this run can be interrupted.
    if (this.#isElsewhere())
      await this.#closeAgent('moved', true).catch((error: unknown) => {
        current.place?.leave()
        throw error
      })
    this.#current = current
    const abort = () => {
      current.place?.ending()
      stop.abort(signal?.reason)
    }
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    const leave = () => {
      signal?.removeEventListener('abort', abort)
      if (this.#current === current) this.#current = null
      current.place?.leave()
    }
    try {
      const ready = await this.agent()
      const run = ready.agent.run(await this.#asAnswer(input), {
        signal: stop.signal,
        ...(demands ? { demands } : {}),
      })
      const bus = await this.#options.bus()
      const { cursor } = bus
      const result = this.#publishAll(bus, run).then(() => run.result)
      void result.then(async ({ status, error }) => {
        this.#lastStatus = status
        this.#ran(ready, status)
        // Its view of the session is no longer right; the next input gets another agent.
        if (error?.code.startsWith('store.') && this.#options.isPooled)
          await this.drop('failed').catch((cause: unknown) => {
            this.#options.logger.warn('An agent did not close cleanly.', {
              sessionId: this.id,
              error: errorLine(cause),
            })
          })
        this.#options.used(this)
        leave()
        this.#wakeUp()
      })
      return { id: run.id, cursor, result }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Whether the agent there is, or is being made, answers where this opening is not. */
  #isElsewhere(): boolean {
    const [now, next] = [this.#deliversTo, this.#request.deliverTo]
    const hasAgent = this.#ready !== null || this.#making !== null
    return hasAgent && (now?.platform !== next?.platform || now?.target !== next?.target)
  }

  #ran(ready: ReadyAgent, status: RunResult['status']): void {
    const { record, replay } = this.#request
    if (status === 'failed' || record !== undefined || replay !== undefined) return
    const isNameable = status === 'completed' && this.#proven !== ready
    if (isNameable) this.#proven = ready
    this.#hasRun = true
    this.#options.ran(this.id, isNameable)
  }

  async #publishAll(bus: EventBus, run: Run): Promise<void> {
    for await (const event of run) {
      if (event.type === 'tool-start') this.#hasCalled = true
      if (event.type === 'approval-resolve') this.#withdraw(event.approvalId)
      if (event.type === 'tool-end') await this.#questions.used(event.callId)
      bus.publish(this.id, event)
    }
    // What agents below it ask in the background is still open.
    if (!this.#ready?.hasProcesses()) for (const id of this.#approvals) this.#withdraw(id)
  }

  async steer(text: string, sources?: readonly TextSource[]): Promise<'delivered' | 'queued'> {
    const { agent } = await this.agent()
    const how = await agent.steer(text, sources)
    // Readers have by then what the run said before it.
    await new Promise((resolve) => setImmediate(resolve))
    return how
  }

  async otherUser(): Promise<string | null> {
    return (await this.#options.runtime.storage()).leases.otherUser(this.id)
  }

  interrupt(reason: string): void {
    this.#current?.place?.ending()
    this.#current?.stop.abort(new DOMException(reason, 'AbortError'))
    this.#ready?.agent.interrupt(reason)
  }

  /** `false` when it is answered already, and when it is none of this session. */
  async answer(id: string, answer: ApprovalChoice | Answer, by?: string): Promise<boolean> {
    if (typeof answer !== 'string') return this.#questions.answer(id, answer, by)
    const { runtime } = this.#options
    // One that is open here needs no look at the store, which may be what fails.
    const kept = this.#approvals.has(id) ? null : await (await runtime.storage()).approvals.get(id)
    if (!this.#approvals.has(id) && (!kept || rootSessionOf(kept.question.subject) !== this.id)) return false
    const isFirst = await runtime.policy.answer(id, answer, by)
    if (this.#approvals.delete(id) || (isFirst && kept?.status === 'parked'))
      this.#publish({ type: 'approval-close', id, choice: answer, ...(by === undefined ? {} : { by }) })
    return isFirst
  }

  /** What a person says next answers the question that parked the run, which goes on then. */
  async #asAnswer(input: RunInput): Promise<RunInput> {
    const text = typeof input === 'string' ? input : 'content' in input ? textOf(input.content) : null
    if (this.#request.answersQuestions !== 'later' || text === null) return input
    const log = async () => (await this.#options.runtime.storage()).log.entries(this.id)
    const parked = await this.#questions.parked(log)
    if (parked === null) return input
    const isTaken = await this.#questions.answer(parked.id, answerIn(parked.question, text), 'next message')
    return isTaken ? { resume: true } : input
  }

  #withdraw(id: string): void {
    if (this.#approvals.delete(id)) this.#publish({ type: 'approval-close', id })
  }

  #publish(event: HostEventBody): void {
    this.#options.bus().then(
      (bus) => bus.publish(this.id, event),
      (error: unknown) => this.#options.logger.error('An event was lost.', { error: errorLine(error) }),
    )
  }

  async read(options: { readonly after?: number }): Promise<EventReader> {
    if (this.openedBy !== null) await this.#admitted()
    return (await this.#options.bus()).read({ ...options, sessionId: this.id })
  }

  /**
   * Ends the run under way, waits for it and frees what the agent holds. The session stays; what is asked next makes a new agent. Unless it
   * `isLeft`, what is due for a session that was left comes in its time.
   */
  async drop(reason: string, { isLeft = true }: { readonly isLeft?: boolean } = {}): Promise<void> {
    this.interrupt(reason)
    await this.#closeAgent(reason, isLeft)
  }

  async #closeAgent(reason: string, isLeft: boolean): Promise<void> {
    const ready = this.#ready ?? (await this.#making?.catch(() => null))
    // Whoever came first closes it.
    if (!ready || this.#ready !== ready) return this.#closing
    this.#ready = null
    this.#hasCalled = false
    // Who keeps the session open for later keeps no agent with it.
    this.#proven = null
    const resting = this.#rest?.over
    this.#endRest()
    this.#stopListening()
    this.#stopWatching()
    this.#questions.withdrawAll()
    for (const id of this.#approvals) this.#withdraw(id)
    // What is being noted for its goal is noted first.
    const closed = resting ? resting.catch(() => undefined).then(() => ready.close(reason)) : ready.close(reason)
    this.#closing = closed.catch(() => undefined)
    if (this.#hasRun && isLeft) void this.#closing.then(() => this.#options.left(this.id))
    this.#hasRun = false
    await closed
  }

  /** As {@link LiveSession.drop}, for good: what waits, and what comes later, is refused. */
  shut(reason: string): Promise<void> {
    this.#isShut = true
    return this.drop(reason)
  }
}

/** The same for a session that another person has, so that nothing is said of it. */
export function unknownSession(sessionId: string): HermesError {
  return new HermesError(`There is no session "${sessionId}".`, {
    code: 'host.unknown_session',
    details: { sessionId },
  })
}

/** Why nothing is opened any more. */
export function hostClosed(): HermesError {
  return new HermesError('The sessions of this process are closed.', { code: 'host.closed' })
}

async function existing(folder: string | null): Promise<string | null> {
  if (folder === null) return null
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
  return isFolder ? folder : null
}

/** What is said in words alone; `null` where there is more. */
function textOf(parts: readonly UserPart[]): string | null {
  const texts = parts.map((part) => (part.type === 'text' ? part.text : null))
  return texts.includes(null) ? null : texts.join('\n')
}
