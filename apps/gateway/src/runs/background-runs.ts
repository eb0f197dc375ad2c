// Runs that go on whoever listens: begun by a request, carried out beside it, taken up again by the next process where this one ends.
import { createHash } from 'node:crypto'
import type { Clock, JsonObject, Logger } from '@hermes/contracts'
import { errorLine } from '@hermes/contracts'
import type { SessionHost } from '@hermes/host'
import { ApiError, toApiError } from '../api-error.js'
import type { ApprovalRoutes } from '../approval-routes.js'
import type { Chat } from '../chat.js'
import type { Ending } from '../completion.js'
import { sourcesOf } from '../person-words.js'
import type { Piece } from '../reply.js'
import { RunEvents } from './run-events.js'
import type { RunOwners } from './run-owners.js'
import { hasEnded, newRunId, type StoredRun, type StoredRuns } from './stored-runs.js'

const KEY = /^[\x21-\x7e]{1,255}$/
/** A run that ended with so many processes is not tried again. */
const MAX_ATTEMPTS = 3
/** Longer than a lease that nobody renews. */
const HELD_AT_MOST_MS = 90_000
const LOOK_AGAIN_MS = 1_000
/** How long events of a run that is over are kept. */
const KEEP_EVENTS_MS = 300_000

/** Options of {@link BackgroundRuns}. */
interface BackgroundRunsOptions {
  readonly chat: Pick<Chat, 'begin' | 'checkModel'>
  readonly runs: StoredRuns
  readonly owners: RunOwners
  readonly host: Pick<SessionHost, 'steer'>
  readonly approvals: Pick<ApprovalRoutes, 'answer' | 'list'>
  /** @throws ApiError 404 where a session is not there, or of another person */
  readonly requireSession: (sessionId: string, person: string | null) => Promise<void>
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly logger: Logger
}

/** A run that is in this process. */
interface LiveRun {
  run: StoredRun
  readonly events: RunEvents
  readonly over: PromiseWithResolvers<void>
  stop: AbortController
}

/** Which runs somebody may see: `null` is the owner, who sees all. */
type Person = string | null

/** The runs of a gateway. */
export class BackgroundRuns {
  readonly #options: BackgroundRunsOptions
  readonly #live = new Map<string, LiveRun>()
  /** The last request that is under way for a key or a run. */
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #atWork = new Set<Promise<void>>()
  #isClosing = false
  readonly #owner: string

  constructor(options: BackgroundRunsOptions) {
    this.#options = options
    this.#owner = options.owners.me
  }

  /**
   * Begins a run and does not wait for it. The same request under the same key, within a day, is the same run.
   * @throws ApiError 400 for a body or a key that cannot be used, 404 for a session or model there is not, 409 for another body under the key
   */
  async begin({
    body,
    person,
    key,
  }: {
    readonly body: string
    readonly person: Person
    readonly key: string | undefined
  }): Promise<{ readonly run: StoredRun; readonly isReplay: boolean }> {
    if (key === undefined) return { run: (await this.#begin(body, person))!, isReplay: false }
    if (!KEY.test(key))
      throw new ApiError('Idempotency-Key takes 1 to 255 visible ASCII characters.', {
        code: 'invalid_idempotency_key',
      })
    return this.#inTurn(JSON.stringify([person, key]), () => this.#once([person, key], body, person))
  }

  /** One after the other, so that the second finds what the first one wrote. */
  async #inTurn<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
    const turn = (this.#turns.get(place) ?? Promise.resolve()).then(work)
    const settled = turn.catch(() => undefined)
    this.#turns.set(place, settled)
    try {
      return await turn
    } finally {
      if (this.#turns.get(place) === settled) this.#turns.delete(place)
    }
  }

  async #once(parts: readonly (string | null)[], body: string, person: Person) {
    const { runs, clock } = this.#options
    const fingerprint = createHash('sha256').update(body).digest('hex')
    for (;;) {
      const { was, known } = await runs.ofKey(parts, clock.now())
      if (known && known.fingerprint !== fingerprint) {
        const message = 'Another run was begun under this Idempotency-Key; give each a key of its own.'
        throw new ApiError(message, { status: 409, code: 'idempotency_key_conflict' })
      }
      const run = known && (await runs.get(known.id))
      if (run) return { run, isReplay: true }
      const begun = await this.#begin(body, person, { parts, fingerprint, was })
      if (begun) return { run: begun, isReplay: false }
      // Another gateway was asked under the same key meanwhile.
    }
  }

  /** `null` where another one has begun it under the key. */
  async #begin(body: string, person: Person, key?: Parameters<StoredRuns['begin']>[2]): Promise<StoredRun | null> {
    const { parseRunRequest } = await import('./run-request.js')
    const { runs, chat, clock, requireSession } = this.#options
    const request = parseRunRequest(body)
    const model = chat.checkModel(request.chat)
    if (request.conversation !== null) await requireSession(request.conversation, person)
    const now = clock.now()
    const run: StoredRun = {
      id: newRunId(now),
      person,
      sessionId: null,
      model,
      status: 'started',
      createdAtMs: now,
      startedAtMs: null,
      endedAtMs: null,
      attempt: 1,
      owner: this.#owner,
      output: null,
      finishReason: null,
      error: null,
      usage: null,
      approvals: [],
      question: null,
    }
    if (!(await runs.begin(run, body, key))) return null
    this.#carryOut(run, body)
    return run
  }

  /** Takes up what gateways left that are no more, wherever they were, and ends here what another one was told to end. Never rejects. */
  async takeUp(): Promise<void> {
    const { runs, owners, logger } = this.#options
    try {
      await owners.sign()
      for (const live of this.#live.values()) if (!hasEnded(live.run)) await this.#heed(live)
      for (const run of await runs.open()) {
        if (this.#isClosing) return
        if (!run.status.startsWith('waiting') && (await owners.isGone(run.owner))) await this.#takeOver(run)
      }
    } catch (error) {
      logger.warn('Runs that were under way could not be looked at.', { error: errorLine(error) })
    }
  }

  async #heed({ run, stop }: LiveRun): Promise<void> {
    const stored = await this.#options.runs.get(run.id)
    if (stored && this.#isElsewhere(run, stored)) stop.abort(new DOMException('The run was stopped.', 'AbortError'))
  }

  async #takeOver(run: StoredRun): Promise<void> {
    const { runs, clock } = this.#options
    const body = await runs.body(run.id)
    const endedAtMs = clock.now()
    if (body === null) return
    if (run.status === 'stopping') await runs.take(run, { ...run, status: 'cancelled', endedAtMs })
    else if (run.attempt >= MAX_ATTEMPTS) await runs.take(run, { ...run, ...lost(run), endedAtMs })
    else {
      const taken = { ...run, owner: this.#owner, attempt: run.attempt + 1 }
      // Counted before it can end this process too, and by one of those that see it only.
      if (await runs.take(run, taken)) this.#carryOut(taken, body)
    }
  }

  /** @throws ApiError 404 */
  async get(id: string, person: Person): Promise<StoredRun> {
    const live = this.#live.get(id)?.run
    // What waits may have gone on elsewhere.
    const run = live && !live.status.startsWith('waiting') ? live : await this.#options.runs.get(id)
    if (!run || (person !== null && run.person !== person))
      throw new ApiError(`There is no run "${id}".`, { status: 404, code: 'run_not_found' })
    return this.#goneOn(run)
  }

  /** Newest first. */
  async list(person: Person): Promise<readonly StoredRun[]> {
    const all = await this.#options.runs.list()
    return all
      .map((run) => this.#live.get(run.id)?.run ?? run)
      .filter((run) => person === null || run.person === person)
  }

  /** What happens in it from the event after that one on; of a run of before, how it ended. @throws ApiError 404 */
  async events(id: string, person: Person, lastEventId: string | undefined): Promise<ReadableStream<Uint8Array>> {
    const run = await this.get(id, person)
    const live = this.#live.get(id)
    if (live) return live.events.stream(lastEventId)
    // How it ended stays as it is; what it waits for does not.
    const events = new RunEvents(hasEnded(run) ? 0 : this.#options.clock.now())
    events.add({ event: `run.${run.status}`, ...shown(run) })
    events.end()
    return events.stream(lastEventId)
  }

  /** Answers what it waits for, and lets it go on. @throws ApiError as {@link ApprovalRoutes.answer}; 409 where it waits for nothing */
  async approve(id: string, person: Person, body: string): Promise<StoredRun> {
    const run = await this.get(id, person)
    const open = run.approvals.filter(({ status }) => status === 'parked')
    const wanted = approvalIn(body)
    const approval = open.find((one) => wanted === undefined || one.id === wanted)
    if (run.status !== 'waiting_for_approval' || !approval)
      throw new ApiError(`Run ${id} waits for no such approval.`, { status: 409, code: 'approval_not_pending' })
    await this.#options.approvals.answer({ id: approval.id, person, body })
    this.#live.get(id)?.events.add({ event: 'approval.responded', run_id: id, approval_id: approval.id })
    return this.#goneOn(run)
  }

  /** Tells the run something, or answers its question. @throws ApiError 409 where it is over or waits for an approval */
  steer(id: string, person: Person, text: string): Promise<StoredRun> {
    return this.#inTurn(id, async () => {
      const run = await this.get(id, person)
      if (run.status === 'waiting_for_answer') return this.#goOnWith(run, text)
      // The session may be in another run by now.
      const isHere = run.status === 'running' && this.#live.has(id) && run.sessionId !== null
      const delivery = isHere ? this.#options.host.steer(run.sessionId, text, sourcesOf(person)) : null
      delivery?.catch(() => undefined)
      if (delivery) return run
      const message = `Run ${id} is ${run.status}; nothing can be told to it.`
      throw new ApiError(message, { status: 409, code: 'run_not_active' })
    })
  }

  async #goOnWith(run: StoredRun, text: string): Promise<StoredRun> {
    const { runs } = this.#options
    const was = await runs.body(run.id)
    const body = bodyOfAnswer(was, { input: text, session_id: run.sessionId, model: run.model })
    const next = this.#begunAgain(run)
    if (await runs.take(run, next, { was, is: body })) return this.#carryOut(next, body)
    throw new ApiError(`Run ${run.id} has gone on already; nothing can be told to it.`, {
      status: 409,
      code: 'run_not_active',
    })
  }

  /** Ends it. @throws ApiError 409 where it is over */
  stop(id: string, person: Person): Promise<StoredRun> {
    return this.#inTurn(id, () => this.#stop(id, person))
  }

  async #stop(id: string, person: Person): Promise<StoredRun> {
    const run = await this.get(id, person)
    if (hasEnded(run))
      throw new ApiError(`Run ${id} is over: it ${run.status}.`, { status: 409, code: 'run_not_active' })
    const live = this.#live.get(id)
    if (!live || run.status.startsWith('waiting')) return this.#end(live ?? this.#enter(run), { status: 'cancelled' })
    live.stop.abort(new DOMException('The run was stopped.', 'AbortError'))
    return this.#change(live, { status: 'stopping' })
  }

  /** Begins nothing more; what the server interrupts now is taken up by the next start. */
  close(): void {
    this.#isClosing = true
  }

  /** Resolves when what was interrupted is written down, and others know that they may take it up. */
  async settled(): Promise<void> {
    await Promise.all(this.#atWork)
    await this.#options.owners.sign({ isLast: true }).catch(() => undefined)
  }

  /** One that waited for approvals goes on once all are answered, wherever that was. */
  async #goneOn(run: StoredRun): Promise<StoredRun> {
    if (run.status !== 'waiting_for_approval' || this.#isClosing) return run
    const { runs, approvals } = this.#options
    const { data } = (await approvals.list(null)) as { readonly data: readonly { readonly id: string }[] }
    const waiting = new Set(data.map(({ id }) => id))
    if (run.approvals.some(({ id, status }) => status === 'parked' && waiting.has(id))) return run
    const body = await runs.body(run.id)
    const live = this.#live.get(run.id)
    // Another request may have seen it first.
    if (body === null || (live && live.run.status !== 'waiting_for_approval')) return live?.run ?? run
    const next = this.#begunAgain(run)
    // So may another gateway.
    if (!(await runs.take(run, next))) return (await runs.get(run.id)) ?? run
    return this.#carryOut(next, body)
  }

  /** What a run is that waited, and is this gateway's from now on. */
  #begunAgain(run: StoredRun): StoredRun {
    return { ...run, status: 'started', attempt: 1, owner: this.#owner, approvals: [], question: null }
  }

  #enter(run: StoredRun): LiveRun {
    const known = this.#live.get(run.id)
    const live = known ?? { run, ...newParts(this.#options.clock.now()), stop: new AbortController() }
    live.run = run
    live.stop = new AbortController()
    this.#live.set(run.id, live)
    return live
  }

  #carryOut(run: StoredRun, body: string): StoredRun {
    const started: StoredRun = { ...run, status: 'started', approvals: [], question: null }
    const live = this.#enter(started)
    const work = this.#workOnceFree(live, body)
      .catch((error: unknown) => this.#failed(live, error))
      .catch((error: unknown) =>
        this.#options.logger.error('What became of a run could not be written down.', { error: errorLine(error) }),
      )
    this.#atWork.add(work)
    void work.then(() => this.#atWork.delete(work))
    return started
  }

  /** The session of a run that was taken up may still be held by a process of another machine or container, which renews that no more. */
  async #workOnceFree(live: LiveRun, body: string): Promise<void> {
    const { clock } = this.#options
    const untilMs = clock.now() + HELD_AT_MOST_MS
    for (;;) {
      try {
        return await this.#work(live, body)
      } catch (error) {
        const isBusy = live.run.attempt > 1 && toApiError(error).code === 'session_busy' && clock.now() < untilMs
        if (!isBusy) throw error
        // The next process takes it up.
        if (this.#isClosing) return
        await clock.sleep(LOOK_AGAIN_MS, live.stop.signal)
      }
    }
  }

  async #work(live: LiveRun, body: string): Promise<void> {
    const { parseRunRequest } = await import('./run-request.js')
    const { chat, clock } = this.#options
    const { id, person, sessionId, startedAtMs } = live.run
    const parsed = parseRunRequest(body)
    // Once it has a session it goes on there, whatever it followed.
    const request = sessionId === null ? parsed : { ...parsed, previous: null, conversation: sessionId }
    const { source, endingOf } = await chat.begin(
      {
        body,
        person,
        sessionId: undefined,
        idempotencyKey: undefined,
        signal: live.stop.signal,
        delivered: live.over.promise,
        onSession: async (session) =>
          void (await this.#change(live, {
            status: 'running',
            sessionId: session,
            startedAtMs: startedAtMs ?? clock.now(),
          })),
      },
      request,
    )
    live.events.add({ event: 'run.started', run_id: id, session_id: live.run.sessionId })
    for (let piece = await source.next(); piece; piece = await source.next()) {
      if (piece.type === 'end') {
        if (this.#isClosing && piece.result.status === 'interrupted') return
        const isStopped = live.stop.signal.aborted && piece.result.status === 'interrupted'
        await this.#end(live, isStopped ? { status: 'cancelled' } : outcomeOf(endingOf(piece)))
      } else live.events.add({ ...eventOf(piece), run_id: id, timestamp: clock.now() / 1000 })
    }
  }

  async #failed(live: LiveRun, error: unknown): Promise<void> {
    const { code, message } = toApiError(error)
    // It is no longer this one that says how it ends.
    if (code === 'run_taken_over') return
    if (this.#isClosing && (code === 'run_interrupted' || code === 'overloaded')) return
    if (live.stop.signal.aborted) await this.#end(live, { status: 'cancelled' })
    else await this.#end(live, { status: 'failed', error: { code, message } })
  }

  /** The row first: what readers hear is true for whoever asks next. */
  async #end(live: LiveRun, change: Partial<StoredRun>): Promise<StoredRun> {
    const isOver = hasEnded({ status: change.status! })
    const run = await this.#change(live, { ...change, ...(isOver ? { endedAtMs: this.#options.clock.now() } : {}) })
    live.events.add({ event: `run.${run.status}`, ...shown(run) })
    if (!isOver) return run
    live.events.end()
    // What a run came to is known to whoever asks for it.
    live.over.resolve()
    setTimeout(() => this.#live.delete(run.id), KEEP_EVENTS_MS).unref()
    return run
  }

  /** @throws ApiError `run_taken_over` where another gateway has ended it, or has it since this one was silent for too long */
  async #change(live: LiveRun, change: Partial<StoredRun>): Promise<StoredRun> {
    const { runs } = this.#options
    for (;;) {
      const stored = await runs.get(live.run.id)
      if (stored && this.#isElsewhere(live.run, stored)) {
        live.events.end()
        live.over.resolve()
        this.#live.delete(live.run.id)
        throw new ApiError('Another gateway has this run by now.', { code: 'run_taken_over' })
      }
      const next = { ...live.run, ...change, owner: this.#owner }
      // Where it was changed since it was read, whose it is has to be seen again.
      if (stored && !(await runs.take(stored, next))) continue
      if (!stored) await runs.save(next)
      live.run = next
      return next
    }
  }

  /** Whether a run that was this gateway's is another's by now, or was ended by one. */
  #isElsewhere(run: StoredRun, stored: StoredRun): boolean {
    return stored.owner !== this.#owner && (hasEnded(stored) || run.owner === this.#owner)
  }
}

const newParts = (nowMs: number) => ({
  events: new RunEvents(nowMs),
  over: Promise.withResolvers<void>(),
})

function lost({ attempt }: StoredRun): Partial<StoredRun> {
  const message = `The server ended ${attempt} times while the run was under way; begin another one.`
  return { status: 'failed', error: { code: 'run_lost', message } }
}

function outcomeOf({ text, waiting, finishReason, usage, hermes }: Ending): Partial<StoredRun> {
  const { approvals = [], question = null } = hermes
  const status = question ? 'waiting_for_answer' : waiting === '' ? 'completed' : 'waiting_for_approval'
  return {
    status,
    output: text,
    finishReason,
    usage: { input: usage.inputTokens, output: usage.outputTokens },
    approvals,
    question,
  }
}

function eventOf(piece: Exclude<Piece, { readonly type: 'end' }>) {
  switch (piece.type) {
    case 'text':
      return { event: 'message.delta', delta: piece.text }
    case 'thought':
      return { event: 'reasoning.delta', delta: piece.text }
    case 'tool': {
      const { status, detail } = piece.progress
      const name = status !== 'running' ? 'tool.completed' : detail === undefined ? 'tool.started' : 'tool.progress'
      return { event: name, ...piece.progress }
    }
    case 'notice':
      return { event: 'notice', notice: piece.notice }
    case 'command':
      return { event: 'command', command: piece.command }
    case 'approval':
      return { event: 'approval.request', approval: piece.approval }
    default:
      return piece satisfies never
  }
}

/** A run as clients see it. */
export function shown(run: StoredRun) {
  const { id, status, sessionId, model, createdAtMs, startedAtMs, endedAtMs, output, finishReason, error, usage } = run
  const seconds = (atMs: number | null) => (atMs === null ? null : Math.floor(atMs / 1000))
  return {
    object: 'hermes.run',
    run_id: id,
    status,
    session_id: sessionId,
    model,
    created_at: seconds(createdAtMs),
    started_at: seconds(startedAtMs),
    completed_at: seconds(endedAtMs),
    output,
    finish_reason: finishReason,
    error,
    usage: usage && {
      input_tokens: usage.input,
      output_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    },
    approvals: run.approvals,
    question: run.question,
  }
}

/** What the run was asked for, with the answer to its question in place of the words it began with. */
function bodyOfAnswer(before: string | null, answer: JsonObject): string {
  const { conversation_history: _h, previous_response_id: _p, conversation: _c, ...kept } = JSON.parse(before ?? '{}')
  return JSON.stringify({ ...kept, ...answer })
}

/** The approval that an answer names; `undefined` for the one there is. */
function approvalIn(body: string): unknown {
  try {
    return (JSON.parse(body) as { readonly approval_id?: unknown } | null)?.approval_id
  } catch {
    // Refused where the choice is read.
    return undefined
  }
}
