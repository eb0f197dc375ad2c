import { randomUUID } from 'node:crypto'
import { errorLine, HermesError, type JsonObject } from '@hermes/contracts'
import type { CompactOutcome, CompactPlan } from '@hermes/contracts/context'
import type { Entry, NewEntry, Sampling, SamplingChange, TextSource } from '@hermes/contracts/conversation'
import { noUsage, usageSince } from '@hermes/contracts/conversation'
import type { Rest } from '@hermes/contracts/extension'
import type { Notice, ToolMail } from '@hermes/contracts/tool'
import { type AgentOptions, assembleAgent } from './agent-options.js'
import { askAside } from './answers/aside.js'
import type { AnswerDemands } from './answers/demands.js'
import { type CompactOptions, compactRequest, compactWith } from './context-window/context-window.js'
import type { Activity } from './events/activity.js'
import type { AgentEvent, AgentEventBody, RunResult } from './events/event.js'
import { EventQueue } from './events/event-queue.js'
import { observe } from './hooks/dispatch.js'
import { hookEvent } from './hooks/run-hook-event.js'
import { askAtRest, endSession } from './hooks/session-hooks.js'
import { run } from './loop/run.js'
import type { AgentParts, RunContext } from './loop/run-context.js'
import { type RunInput, textsIn } from './loop/run-input.js'
import { startTimeLimit } from './loop/time-limit.js'
import { requestPermit } from './permits/request-permit.js'
import { isPlanning, type PlanEnd, planBeginning, planEnding } from './planning/planning.js'
import type { SessionLog } from './session/session.js'
import { type Undone, type UndoOptions, undo } from './session/undo.js'
import { toolMail } from './steering/mail.js'

/** One run: iterate it for events, or await `result`, or both. Leaving the iteration early interrupts the run. */
export interface Run extends AsyncIterable<AgentEvent> {
  readonly id: string
  /** Never rejects. */
  readonly result: Promise<RunResult>
}

/** Options of one run. */
export interface RunOptions {
  readonly signal?: AbortSignal
  /** What its answer has to be; one that is not so after two tries fails the run. Default: any. */
  readonly demands?: AnswerDemands
}

/** An agent on one session. */
export interface Agent {
  readonly sessionId: string
  /**
   * Starts at once. `resume` goes on after a crash, a park or an interrupt without new input.
   * Abort of `signal` is an interrupt. @throws HermesError `agent.busy` while another run is active.
   */
  run(input: RunInput, options?: RunOptions): Run
  /**
   * A note for the run under way; `queued` when no tool result could carry it: it leads the next user message. `sources`: whose words they
   * are; default the owner's.
   */
  steer(text: string, sources?: readonly TextSource[]): Promise<'delivered' | 'queued'>
  /**
   * Holds the run under way, or the next one, before its next model call or tool call, until the function that is returned is called; what
   * is being done is done first. Of several that hold it the last lets it go on. An interrupt ends a run that is held.
   */
  pause(): () => void
  /** Ends the model call and foreground process trees; background processes live on. Nothing happens when idle. */
  interrupt(reason?: string): void
  /**
   * Compacts the session now, telling most about `focus`, what is older than the newest `keepTurns` messages of the user. Rejects with
   * `agent.busy` while a run is active, and with an `AbortError`.
   */
  compact(options?: CompactOptions & { readonly signal?: AbortSignal }): Promise<CompactOutcome>
  /** What {@link Agent.compact} would take out; `null` when there is nothing. */
  planCompaction(options?: CompactOptions): Promise<CompactPlan | null>
  /**
   * Takes back the newest `turns` of the user (default 1), or everything from the entry `fromSeq` on. The log keeps what was said; models
   * see it no more, and are not told that somebody changed `files`, absolute paths that went back with it. `null` when there is nothing to take back. Rejects with `agent.busy` while a run is active.
   */
  undo(options?: UndoOptions): Promise<Undone | null>
  /**
   * From now on, and after a resume, only tools that change nothing may be used: others answer with an error. The model learns of it with
   * the next message. What was handed to children is held until planning ends. `false` when it was so already.
   */
  plan(): Promise<boolean>
  /**
   * Ends planning. An accepted plan becomes the task list; `run({ resume: true })` has it carried out. `false` when nothing was planned.
   */
  endPlan(how: PlanEnd): Promise<boolean>
  /** Writes a note into the log, beside a run too: no model sees it, and undo leaves it. */
  note(kind: string, data: JsonObject): Promise<void>
  /**
   * What the model answers to a question about the conversation so far, by itself and without tools; nothing of it is kept but what it cost.
   * Also beside a run. Rejects as the model does; abort ends it.
   */
  aside(question: string, options: { readonly signal: AbortSignal }): Promise<string>
  /**
   * How word for later runs of the session is left, which is there then with what it began with; `null` where no run comes later, or the store
   * takes none.
   */
  mail(): Promise<ToolMail | null>
  /**
   * What extensions want of the session now that a run has ended with `status` and nothing else is in it; `null` for nothing. Abort of `signal`
   * gives `null`.
   */
  atRest(status: RunResult['status'], options: { readonly signal: AbortSignal }): Promise<Rest | null>
  /** Whether notices of tools, such as the end of a process in the background, wait for the next run. */
  hasNotices(): boolean
  /** Calls `listener` each time a notice of a tool has come while nothing runs, until the function that is returned is called. Must not throw. */
  watchNotices(listener: () => void): () => void
  /** How the model makes its answers: as chosen in this session, else as the options say. */
  sampling(): Sampling
  /**
   * Has answers made otherwise from the next request on, also after a resume; a `null` goes back to the options. `false` when it was so
   * already.
   */
  setSampling(change: SamplingChange): Promise<boolean>
  /**
   * Has one key or login of the model's provider used alone from the next request on, by its label, also after a resume; `null` goes back to
   * what the project or the home uses. `false` when it was so already.
   */
  setAccount(account: string | null): Promise<boolean>
  /** The key or login that the session chose at a provider, which may have several names; `null` for none. */
  accountAt(isProvider: (name: string) => boolean): string | null
  /**
   * Takes the place of another agent of the same session: notes that wait there, and notices that its tools give later, come here, and
   * tools keep what they have in memory. Do not run the former agent any more; {@link Agent.close} undoes its setup.
   */
  takeOver(former: Agent): void
  /** What it is doing, since when, and how many calls it made. */
  activity(): Activity
  /** The log so far, as this process knows it. */
  entries(): readonly Entry[]
  /** Roughly what the log takes in memory, in characters. */
  size(): number
  /** Interrupts the run under way, waits for its end, and undoes the setup of the extensions. Call it when the agent is not used any more. Never rejects. */
  close(): Promise<void>
}

/**
 * An agent with nothing but a model and tools; everything else has an in-memory or empty default.
 * @throws HermesError `agent.bad_options` naming the option.
 */
export function createAgent(options: AgentOptions): Agent {
  return new CoreAgent(options)
}

class CoreAgent implements Agent {
  #parts: AgentParts
  #active: AbortController | null = null
  readonly #noticeListeners = new Set<() => void>()
  /** The agent that took this one's place. */
  #successor: CoreAgent | null = null
  #running: Promise<unknown> = Promise.resolve()
  /** Notes that are being written down while no run is active. Whoever gave one is told when that fails. */
  #storing: Promise<void> = Promise.resolve()

  constructor(options: AgentOptions) {
    this.#parts = assembleAgent(options, (notice) => this.#notify(notice))
  }

  get sessionId(): string {
    return this.#parts.session.id
  }

  run(input: RunInput, options: RunOptions = {}): Run {
    if (this.#active) throw busy()
    const controller = new AbortController()
    this.#active = controller
    const abort = () => controller.abort(options.signal?.reason)
    if (options.signal?.aborted) abort()
    options.signal?.addEventListener('abort', abort, { once: true })
    const id = randomUUID()
    const events = new EventQueue(() => this.interrupt('nobody reads the events any more'))
    const context = this.#context(id, controller, { events, demands: options.demands ?? {} })
    const result = this.#drive(context, controller, input).finally(() => {
      options.signal?.removeEventListener('abort', abort)
      context.timeLimit.stop()
      events.end()
    })
    this.#running = result
    return { id, result, [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() }
  }

  #context(
    runId: string,
    controller: AbortController,
    { events, demands }: { readonly events: EventQueue; readonly demands: AnswerDemands },
  ): RunContext {
    const { session, subject, clock, maxSeconds } = this.#parts
    const base = { runId, sessionId: session.id, agentPath: subject.agentPath }
    const emit = (event: AgentEventBody, seq?: number) => {
      events.push({ ...base, atMs: clock.now(), ...(seq === undefined ? {} : { seq }), ...event } as AgentEvent)
    }
    const own = {
      scratch: new Map<string, unknown>(),
      ending: { requested: null },
      requestPermit,
      demands,
      demandedCalls: { made: false },
      timeLimit: startTimeLimit(maxSeconds, { clock, end: (reason) => controller.abort(reason) }),
    }
    return { ...this.#parts, ...own, runId, signal: controller.signal, emit }
  }

  async #drive(context: RunContext, controller: AbortController, input: RunInput): Promise<RunResult> {
    const waiting = context.steering.size
    const { children } = context
    const before = children?.usage() ?? noUsage
    context.emit({ type: 'run-start' })
    context.activity.start()
    let result: RunResult
    try {
      await this.#storing.catch(() => undefined)
      await this.#open(controller)
      await this.#queueSteering(context, waiting)
      result = await run(context, input)
    } catch (error) {
      const code = HermesError.isInstance(error) ? error.code : 'agent.failed'
      const details = HermesError.isInstance(error) ? error.details : {}
      result = { status: 'failed', text: '', usage: noUsage, error: { code, message: errorLine(error), details } }
    }
    await this.#queueSteering(context)
    await context.session.release()
    context.activity.set('idle', 'idle')
    this.#active = null
    const delegated = usageSince(before, children?.usage() ?? noUsage)
    if (delegated.inputTokens + delegated.outputTokens > 0) result = { ...result, delegated }
    context.emit({ type: 'run-end', result })
    this.#observeEnd(context, input, result)
    return result
  }

  /** Nobody waits for it; what it throws is logged, never passed on. */
  #observeEnd(context: RunContext, input: RunInput, { status, text, usage, error }: RunResult): void {
    const hooks = context.hooks.at('run-end')
    if (hooks.length === 0) return
    // The run is over, also one that was interrupted: nothing ends what is done about that.
    const ended = { ...context, signal: new AbortController().signal }
    void observe(
      hooks,
      'run-end',
      hookEvent(ended, { status, text, usage, input: textsIn(input), ...(error ? { error } : {}) }),
    )
  }

  /** What no tool result could carry is written down for the next user message: all, or the oldest `count`. */
  async #queueSteering({ steering, session, logger }: AgentParts, count?: number): Promise<void> {
    for (const { text, origin, sources, inboxMessage, settle } of steering.take(count)) {
      // An inbox message waits in the inbox, from where the next run takes it.
      if (inboxMessage !== undefined) continue
      const known: JsonObject = sources ? { sources: sources as never } : {}
      const data: JsonObject = origin === 'steer' ? { text, ...known } : { text, origin, ...known }
      try {
        await session.append({ type: 'note', kind: 'steer.queued', data })
      } catch (error) {
        // It stays in line in this process and leads the next message all the same.
        logger.warn('A note for the model could not be stored.', { error: errorLine(error) })
        steering.putBack({ text, origin, ...(sources ? { sources } : {}), settle: () => undefined })
      }
      settle('queued')
    }
  }

  async compact(options: CompactOptions & { readonly signal?: AbortSignal } = {}): Promise<CompactOutcome> {
    const { engine } = this.#parts
    if (!engine) return { type: 'unchanged', reason: 'This agent was made without anything that compacts a session.' }
    return this.#alone(options.signal, (signal) => compactWith(engine, this.#parts, 'asked', { ...options, signal }))
  }

  async planCompaction(options: CompactOptions = {}): Promise<CompactPlan | null> {
    const { engine } = this.#parts
    return engine
      ? this.#alone(undefined, async (signal) =>
          engine.plan((await compactRequest(this.#parts, 'asked', { ...options, signal, isPlan: true })).request),
        )
      : null
  }

  async undo(options: UndoOptions = {}): Promise<Undone | null> {
    return this.#alone(undefined, async () => {
      const undone = await undo(this.#parts.session, options)
      this.#pauseChildren()
      return undone
    })
  }

  async plan(): Promise<boolean> {
    return this.#write((session) => (isPlanning(session.entries) ? [] : planBeginning()))
  }

  async endPlan(how: PlanEnd): Promise<boolean> {
    return this.#write((session) =>
      isPlanning(session.entries) ? planEnding(how, session.entries, session.state) : [],
    )
  }

  async note(kind: string, data: JsonObject): Promise<void> {
    const { session } = this.#parts
    if (session.isOpen) await session.append({ type: 'note', kind, data })
    else if (this.#active) throw busy()
    else await this.#whileIdle(() => session.append({ type: 'note', kind, data }))
  }

  async aside(question: string, { signal }: { readonly signal: AbortSignal }): Promise<string> {
    const { model, session } = this.#parts
    return askAside({ model, session, sampling: this.sampling() }, question, signal)
  }

  async mail(): Promise<ToolMail | null> {
    const mail = toolMail(this.#parts)
    if (mail) await this.#write(() => [])
    return mail ?? null
  }

  async atRest(status: RunResult['status'], { signal }: { readonly signal: AbortSignal }): Promise<Rest | null> {
    if (this.#parts.hooks.at('rest').length === 0) return null
    const note = async (kind: string, data: JsonObject) => {
      signal.throwIfAborted()
      await this.note(kind, data)
    }
    return askAtRest(this.#parts, { status, signal, note })
  }

  hasNotices(): boolean {
    return this.#parts.session
      .notesSince('steer.queued', 'steer.taken')
      .some(({ data }) => data['origin'] !== undefined)
  }

  watchNotices(listener: () => void): () => void {
    this.#noticeListeners.add(listener)
    return () => this.#noticeListeners.delete(listener)
  }

  sampling(): Sampling {
    return { ...this.#parts.sampling, ...this.#parts.session.sampling() }
  }

  async setSampling(change: SamplingChange): Promise<boolean> {
    const { provider, model } = this.#parts.model
    return this.#write((session) => {
      const now = session.sampling()
      const names = Object.keys(change) as (keyof Sampling)[]
      const isNew = names.some((name) => change[name] !== undefined && change[name] !== (now[name] ?? null))
      return isNew ? [{ type: 'model', provider, model, ...change }] : []
    })
  }

  async setAccount(account: string | null): Promise<boolean> {
    const { provider, model } = this.#parts.model
    return this.#write((session) =>
      session.accountAt((name) => name === provider) === account ? [] : [{ type: 'model', provider, model, account }],
    )
  }

  accountAt(isProvider: (name: string) => boolean): string | null {
    return this.#parts.session.accountAt(isProvider)
  }

  /** Appends at any time: beside the run under way, or between runs. `false` when there was nothing to append. */
  async #write(entries: (session: SessionLog) => readonly NewEntry[]): Promise<boolean> {
    const { session } = this.#parts
    const append = async () => {
      const written = entries(session)
      if (written.length > 0) await session.append(...written)
      this.#pauseChildren()
      return written.length > 0
    }
    return session.isOpen ? append() : this.#alone(undefined, append)
  }

  /** Works on the session while no run does. An interrupt ends it. */
  async #alone<T>(input: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#active) throw busy()
    const controller = new AbortController()
    this.#active = controller
    const { session } = this.#parts
    try {
      await this.#storing.catch(() => undefined)
      await this.#open(controller)
      return await work(input ? AbortSignal.any([input, controller.signal]) : controller.signal)
    } finally {
      await session.release()
      this.#active = null
    }
  }

  /** The log says whether the session plans, whichever agent of it began to. */
  async #open(controller: AbortController): Promise<void> {
    await this.#parts.session.open((error) => controller.abort(error))
    this.#pauseChildren()
  }

  #pauseChildren(): void {
    const { children, session } = this.#parts
    children?.setPause('plan', isPlanning(session.entries))
  }

  takeOver(former: Agent): void {
    if (!(former instanceof CoreAgent)) return
    former.#successor = this
    this.#storing = former.#storing
    this.#parts = { ...this.#parts, steering: former.#parts.steering }
    this.#parts.session.shareScratch(former.#parts.session)
  }

  async steer(text: string, sources?: readonly TextSource[]): Promise<'delivered' | 'queued'> {
    if (this.#successor) return this.#successor.steer(text, sources)
    const waiting = this.#parts.steering.add(text, sources)
    if (!this.#active) await this.#storeWhileIdle()
    return waiting
  }

  #notify(notice: Notice | (() => Notice | null)): void {
    if (this.#successor) {
      this.#successor.#notify(notice)
      return
    }
    this.#parts.steering.notify(notice)
    if (this.#active) return
    // The notice stays in line then, for the next run of this agent.
    this.#storeWhileIdle().then(
      () => {
        for (const listener of this.#noticeListeners) listener()
      },
      (error: unknown) => this.#parts.logger.warn('A notice could not be stored.', { error: errorLine(error) }),
    )
  }

  /** A run that began meanwhile takes the notes along. */
  #storeWhileIdle(): Promise<void> {
    return this.#whileIdle(async () => {
      if (!this.#active) await this.#queueSteering(this.#parts)
    })
  }

  /** One after the other, as each needs the session for itself; a run that begins meanwhile waits. */
  #whileIdle(work: () => Promise<unknown>): Promise<void> {
    const stored = this.#storing
      .catch(() => undefined)
      .then(async () => {
        const { session } = this.#parts
        await session.open(() => undefined)
        try {
          await work()
        } finally {
          await session.release()
        }
      })
    this.#storing = stored
    return stored
  }

  interrupt(reason = 'interrupted'): void {
    this.#active?.abort(new DOMException(reason, 'AbortError'))
  }

  pause(): () => void {
    return this.#parts.gate.addPause()
  }

  activity(): Activity {
    return this.#parts.activity.current
  }

  entries(): readonly Entry[] {
    return this.#parts.session.entries
  }

  size(): number {
    return this.#parts.session.size
  }

  async close(): Promise<void> {
    this.interrupt('the agent is closed')
    await this.#running
    if (!this.#successor) await endSession(this.#parts)
    await this.#parts.closeExtensions()
  }
}

function busy(): HermesError {
  return new HermesError('This agent is busy with another run; wait for it, steer it or interrupt it.', {
    code: 'agent.busy',
  })
}
