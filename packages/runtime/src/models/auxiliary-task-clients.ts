import type { HermesConfig } from '@hermes/config'
import { type Clock, errorLine, HermesError, isAbort, type Logger } from '@hermes/contracts'
import type { Entry } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import type { SessionInfo } from '@hermes/contracts/store'
import { createModelClient, type ModelEndpoint } from '@hermes/models'
import type { Storage } from '@hermes/storage'
import type { HomeMemory } from '../memory/home-memory.js'
import type { ModelChoice, ModelChoiceOptions } from './model-choice.js'
import type { Spending } from './spending.js'

/** What auxiliary tasks need of a home. */
interface AuxiliaryTasksOptions {
  readonly config: Pick<HermesConfig, 'auxiliary' | 'memory'>
  /** Where what should last is kept. Default: nowhere. */
  readonly memory?: () => HomeMemory | null
  readonly modelOptions: () => Omit<ModelChoiceOptions, 'requested' | 'session'>
  readonly fallbacks: () => readonly ModelChoice[]
  /** Whether a model can look at images, which the task `vision` needs. */
  readonly sees: (choice: ModelChoice) => Promise<boolean>
  readonly endpointOf: (choice: ModelChoice) => Promise<ModelEndpoint>
  /** Who answers in a session. @throws HermesError `models.*` when that cannot be asked any more. */
  readonly choiceOf: (session: SessionInfo) => ModelChoice
  readonly spending: () => Promise<Spending>
  readonly storage: () => Promise<Storage>
  readonly clock: Clock
  readonly logger: Logger
}

const DEFAULT_TIMEOUT_SECONDS = 30
const REVIEW_SECONDS = 60
/** Who closes the home within this time after a session was left wants to be gone. */
const SETTLE_MS = 5_000
/** A session in which nothing was said for so long was left. */
const LEFT_AFTER_MS = 600_000
/** Earlier sessions that nobody has summed up: so many of the newest at a time. */
const MAX_EARLIER = 3
/** Among so many of the newest, since those at work come first. */
const MAX_LISTED = 50

/** Work beside the conversation: who does it, and what of it is still going on. */
export class AuxiliaryTasks {
  readonly #options: AuxiliaryTasksOptions
  readonly #stop = new AbortController()
  readonly #underWay = new Set<Promise<unknown>>()
  #lookedBackAtMs = Number.NEGATIVE_INFINITY
  /** Sessions seen to, with when they were last active then. */
  readonly #finished = new Map<string, number>()

  constructor(options: AuxiliaryTasksOptions) {
    this.#options = options
  }

  /**
   * The client for a task of a session that `main` answers in.
   * @throws HermesError as choosing a model does; `models.no_auxiliary_task` when nobody can do it.
   */
  async client(task: string, main: ModelChoice): Promise<ModelClient> {
    const { config, modelOptions, fallbacks, sees, endpointOf, spending, clock, logger } = this.#options
    const { chooseForAuxiliaryTask } = await import('./auxiliary-tasks.js')
    const settings = config.auxiliary[task]
    const can = task === 'vision' ? ({ kind: 'vision', can: sees } as const) : {}
    const choices = await chooseForAuxiliaryTask({
      settings,
      main,
      fallbacks: fallbacks(),
      modelOptions: modelOptions(),
      ...can,
    })
    const [first, ...others] = await Promise.all(choices.map(endpointOf))
    if (!first)
      throw new HermesError(`No model can do ${task}; name one as auxiliary.${task} in config.yaml.`, {
        code: 'models.no_auxiliary_task',
        details: { task },
      })
    const client = createModelClient({
      ...first,
      fallbacks: others,
      maxRetries: 1,
      ...(await spending()),
      clock,
      logger,
    })
    return settings ? withSettings(client, settings) : client
  }

  /** The same, chosen by the first call; `null` where config.yaml names nobody for the task. */
  named(task: string, main: ModelChoice): ModelClient | null {
    const { provider, model, base_url } = this.#options.config.auxiliary[task] ?? {}
    if (provider === undefined && model === undefined && base_url === undefined) return null
    let client: Promise<ModelClient> | null = null
    const open = () => (client ??= this.client(task, main))
    return {
      provider: provider ?? main.provider,
      model: model ?? main.model,
      async *stream(request, options) {
        yield* (await open()).stream(request, options)
      },
    }
  }

  /**
   * Gives a session without a title one, unless config.yaml says no; `null` where none was given. `main` answers in it now. Rejects as the
   * model or the store does.
   */
  async nameSession(sessionId: string, main: ModelChoice | undefined): Promise<string | null> {
    this.#stop.signal.throwIfAborted()
    if (this.#options.config.auxiliary['title_generation']?.enabled === false) return null
    return this.#track(this.#name(sessionId, main))
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay.add(work)
    return work.finally(() => this.#underWay.delete(work))
  }

  async #name(sessionId: string, main: ModelChoice | undefined): Promise<string | null> {
    const {
      language,
      max_tokens: maxTokens,
      timeout = DEFAULT_TIMEOUT_SECONDS,
    } = this.#options.config.auxiliary['title_generation'] ?? {}
    const { nameSession } = await import('../home/session-title.js')
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeout * 1_000)])
    const storage = await this.#options.storage()
    const session = await storage.sessions.get(sessionId)
    if (session === null) return null
    const client = () => this.client('title_generation', main ?? this.#options.choiceOf(session))
    return nameSession({ storage, sessionId, client, language, maxTokens, signal })
  }

  /**
   * What is due once a session was left, for the one just left and, every ten minutes, the newest earlier ones, one by one: it is
   * summed up, and looked through for what should last, each as far as config.yaml wants that. What a home that closes leaves undone, the
   * next one does. Each is done by a model of its own session. Resolves when there is nothing more to do. Never rejects.
   */
  async finishSessions(justLeft: string | null): Promise<void> {
    const isOff = !this.#sumsUp() && !this.#looksThrough()
    if (isOff || this.#stop.signal.aborted || (justLeft === null && !this.#isTimeToLookBack())) return
    const { logger } = this.#options
    const work = this.#finishSoon(justLeft).catch((error: unknown) => {
      if (!isAbort(error)) logger.info('Sessions could not be finished.', { error: errorLine(error) })
    })
    await this.#track(work)
  }

  #sumsUp(): boolean {
    return this.#options.config.auxiliary['session_summary']?.enabled !== false
  }

  #looksThrough(): boolean {
    return this.#options.config.memory.flush_min_turns > 0 && (this.#options.memory?.() ?? null) !== null
  }

  async #finishSoon(justLeft: string | null): Promise<void> {
    const looksBack = this.#isTimeToLookBack()
    const { clock, storage: open, logger } = this.#options
    if (looksBack) this.#lookedBackAtMs = clock.now()
    await clock.sleep(SETTLE_MS, this.#stop.signal)
    const storage = await open()
    const left = justLeft === null ? null : await storage.sessions.get(justLeft)
    const newest = looksBack ? await storage.sessions.list({ limit: MAX_LISTED }) : []
    const isLeft = ({ id, lastActiveAtMs }: SessionInfo) =>
      id !== justLeft && lastActiveAtMs < clock.now() - LEFT_AFTER_MS
    const isNew = ({ id, lastActiveAtMs }: SessionInfo) => this.#finished.get(id) !== lastActiveAtMs
    const earlier = newest.filter((session) => isLeft(session) && isNew(session)).slice(0, MAX_EARLIER)
    for (const session of [...(left ? [left] : []), ...earlier]) {
      await this.#summarize(storage, session).catch((error: unknown) => {
        if (isAbort(error)) throw error
        logger.info('A session got no summary.', { sessionId: session.id, error: errorLine(error) })
      })
      await this.#lookThrough(storage, session)
      this.#finished.set(session.id, session.lastActiveAtMs)
    }
  }

  /** Others may leave sessions behind while this process goes on, and what was left a moment ago was too new the last time. */
  #isTimeToLookBack(): boolean {
    return this.#options.clock.now() - this.#lookedBackAtMs > LEFT_AFTER_MS
  }

  async #summarize(storage: Storage, session: SessionInfo): Promise<void> {
    if (!this.#sumsUp()) return
    const {
      language,
      max_tokens: maxTokens,
      timeout = DEFAULT_TIMEOUT_SECONDS,
    } = this.#options.config.auxiliary['session_summary'] ?? {}
    const { summarizeSession } = await import('../home/session-summary.js')
    const limit = AbortSignal.timeout(timeout * 1_000)
    const signal = AbortSignal.any([this.#stop.signal, limit])
    const client = () => this.#clientOf(session)
    await summarizeSession({ storage, session, client, language, maxTokens, signal }).catch((error: unknown) => {
      if (limit.aborted && !this.#stop.signal.aborted) throw new Error(`It took longer than ${timeout} s.`)
      throw error
    })
  }

  /** A session of fewer messages is not even read for it. */
  async #lookThrough(storage: Storage, session: SessionInfo): Promise<void> {
    if (!this.#looksThrough() || session.messageCount < this.#options.config.memory.flush_min_turns) return
    await this.keepWhatLasts(session.id, await storage.log.entries(session.id), () => this.#clientOf(session))
  }

  #clientOf(session: SessionInfo): Promise<ModelClient> {
    return this.client('session_summary', this.#options.choiceOf(session))
  }

  /**
   * A last chance for what a session is about to lose: looks through what was said since it was last looked through or anything was saved,
   * as far as config.yaml wants that. Never rejects; closing the home ends it.
   */
  async keepWhatLasts(sessionId: string, entries: readonly Entry[], client: () => Promise<ModelClient>): Promise<void> {
    if (!this.#looksThrough() || this.#stop.signal.aborted) return
    const work = this.#review(sessionId, entries, client)
    await this.#track(work).catch((error: unknown) => {
      if (isAbort(error)) return
      this.#options.logger.info('A session was not looked through.', { sessionId, error: errorLine(error) })
    })
  }

  async #review(sessionId: string, entries: readonly Entry[], client: () => Promise<ModelClient>): Promise<void> {
    const { config, logger, storage: open } = this.#options
    const memory = this.#options.memory!()!
    const { reviewMemory } = await import('../memory/memory-review.js')
    const { lookedThroughTo, noteLookedThrough } = await import('../home/looked-through.js')
    const { meta } = await open()
    const seen = await lookedThroughTo(meta, sessionId)
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(REVIEW_SECONDS * 1_000)])
    const review = { memory, sessionId, minMessages: config.memory.flush_min_turns, client, logger, signal }
    const { hasLooked } = await reviewMemory({ ...review, entries: entries.filter(({ seq }) => seq > seen) })
    const last = entries.at(-1)
    if (hasLooked && last) await noteLookedThrough(meta, sessionId, last.seq)
  }

  /** Ends what is going on and waits until it has let go. */
  async close(): Promise<void> {
    this.#stop.abort(new DOMException('The home is closed.', 'AbortError'))
    await Promise.allSettled(this.#underWay)
  }
}

const EFFORTS = ['minimal', 'low', 'medium', 'high'] as const

/** What config.yaml says of a task's answers, where the task itself says nothing. */
function withSettings(client: ModelClient, settings: NonNullable<HermesConfig['auxiliary'][string]>): ModelClient {
  const effort = EFFORTS.find((known) => known === settings.reasoning_effort)
  const defaults = {
    ...(settings.max_tokens === undefined ? {} : { maxOutputTokens: settings.max_tokens }),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
  }
  const { provider, model } = client
  return { provider, model, stream: (request, options) => client.stream({ ...defaults, ...request }, options) }
}
