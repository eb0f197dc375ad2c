import type { ExtensionRegistry } from '@hermes/agent-core'
import type { HermesConfig } from '@hermes/config'
import { type Clock, errorLine, HermesError, isAbort, type Logger } from '@hermes/contracts'
import { accountIn, type Entry, type ImagePart, messageText, taintsIn, userText } from '@hermes/contracts/conversation'
import type { ModelClient } from '@hermes/contracts/model'
import type { SessionInfo } from '@hermes/contracts/store'
import type { StagedNotes } from '@hermes/memory'
import { askModel, createModelClient, type ModelEndpoint } from '@hermes/models'
import type { HomeSkills } from '@hermes/skills'
import type { Storage } from '@hermes/storage'
import type { HomeMemory } from '../memory/home-memory.js'
import type { SessionJob } from '../runtime.js'
import { isSamePool, type ModelChoice, type ModelChoiceOptions, resolvedFolder } from './model-choice.js'
import type { Spending } from './spending.js'

/** What auxiliary tasks need of a home. */
interface AuxiliaryTasksOptions {
  readonly config: Pick<HermesConfig, 'auxiliary' | 'memory' | 'skills' | 'curator'>
  /** Where notes wait that `memory.write_approval` holds back. */
  readonly stagedNotes: StagedNotes
  /** Where sessions without a folder of their own work. Absolute. */
  readonly cwd: string
  /** Where what should last is kept. Default: nowhere. */
  readonly memory?: (person: string | null) => HomeMemory | null
  readonly modelOptions: () => Omit<ModelChoiceOptions, 'requested' | 'session'>
  readonly fallbacks: () => readonly ModelChoice[]
  /** Whether a model can look at images, which the task `vision` needs. */
  readonly sees: (choice: ModelChoice) => Promise<boolean>
  readonly endpointOf: (choice: ModelChoice) => Promise<ModelEndpoint>
  /** Who answers in a session that is open. */
  readonly openChoice: (sessionId: string) => ModelChoice | undefined
  /** Who answers in a stored session, `null` for a new one. @throws HermesError `models.*` when that cannot be asked any more. */
  readonly choiceOf: (session: SessionInfo | null) => ModelChoice
  readonly spending: () => Promise<Spending>
  readonly storage: () => Promise<Storage>
  /** Who may object to a call, and who is told of it. */
  readonly outside: ExtensionRegistry['outside']
  readonly clock: Clock
  readonly logger: Logger
}

const SESSION_JOBS = [
  'session-title',
  'session-summary',
  'memory-review',
  'skill-review',
] as const satisfies readonly SessionJob[]
const DEFAULT_TIMEOUT_SECONDS = 30
const REVIEW_SECONDS = 60
const VISION_SECONDS = 120
/** What tasks are booked as, and their limits. Some models think before they answer. */
const ASIDE_LIMITS = {
  goal_judge: { purpose: 'judge', seconds: DEFAULT_TIMEOUT_SECONDS, maxTokens: 2_000 },
  background_review: { purpose: 'skills', seconds: 120, maxTokens: 6_000 },
  curator: { purpose: 'skills', seconds: 600, maxTokens: 12_000 },
} as const

/** Work beside the conversation: who does it, and what of it is still going on. */
export class AuxiliaryTasks {
  readonly #options: AuxiliaryTasksOptions
  readonly #stop = new AbortController()
  readonly #underWay = new Set<Promise<unknown>>()
  #afterSession: HomeSkills['afterSession'] | null = null

  constructor(options: AuxiliaryTasksOptions) {
    this.#options = options
  }

  /**
   * Who answers in a session, open or not, with the account it chose; else who would in a new one.
   * @throws HermesError `models.*` when that cannot be asked any more
   */
  async mainOf(sessionId: string | null): Promise<ModelChoice> {
    const { openChoice, choiceOf, storage: open } = this.#options
    const main = sessionId === null ? undefined : openChoice(sessionId)
    if (main || sessionId === null) return main ?? choiceOf(null)
    const storage = await open()
    const session = await storage.sessions.get(sessionId)
    return session ? this.#choiceOf(session, storage) : choiceOf(null)
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
    const [first, ...others] = await Promise.all(
      choices.map((choice) => endpointOf({ ...choice, account: main.account })),
    )
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
    return this.watched(task, settings ? withSettings(client, settings) : client)
  }

  /** The client, whose calls extensions may object to and are told of. @throws HermesError `models.stopped` from its stream */
  watched(task: string, client: ModelClient): ModelClient {
    const { outside } = this.#options
    const { provider, model } = client
    return {
      provider,
      model,
      stream: (request, options) =>
        outside.has('before-auxiliary-call') || outside.has('after-auxiliary-call')
          ? watchedCall({ outside, task, client }, request, options)
          : client.stream(request, options),
    }
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

  /** Has `afterSession` learn from sessions that were left; until then nothing is learnt. Skills ask these tasks themselves. */
  learnWith(afterSession: HomeSkills['afterSession']): void {
    this.#afterSession = afterSession
  }

  /** What config.yaml wants done for sessions beside their runs. */
  get sessionJobs(): readonly SessionJob[] {
    const { auxiliary } = this.#options.config
    const isOn: Readonly<Record<SessionJob, boolean>> = {
      'session-title': auxiliary['title_generation']?.enabled !== false,
      'session-summary': auxiliary['session_summary']?.enabled !== false,
      'memory-review': this.#looksThrough(),
      'skill-review': this.#afterSession !== null && this.#looksBack(),
    }
    return SESSION_JOBS.filter((kind) => isOn[kind])
  }

  /**
   * Does one of them as far as config.yaml wants it, by a model of the session: `main` where it is open. Resolves with whether anything came
   * of it. Rejects as the model or the store does, and with an abort when the home is closed.
   */
  async doSessionJob(kind: SessionJob, sessionId: string, main: ModelChoice | undefined): Promise<boolean> {
    this.#stop.signal.throwIfAborted()
    return this.sessionJobs.includes(kind) && this.#track(this.#doJob(kind, sessionId, main))
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay.add(work)
    return work.finally(() => this.#underWay.delete(work))
  }

  async #doJob(kind: SessionJob, sessionId: string, main: ModelChoice | undefined): Promise<boolean> {
    const storage = await this.#options.storage()
    const session = await storage.sessions.get(sessionId)
    if (session === null) return false
    const task = kind === 'session-title' ? 'title_generation' : 'session_summary'
    const client = async () => this.client(task, main ?? (await this.#choiceOf(session, storage)))
    const { language, max_tokens: maxTokens, timeout } = this.#options.config.auxiliary[task] ?? {}
    const common = { storage, client, language, maxTokens }
    switch (kind) {
      case 'session-title': {
        const { nameSession } = await import('../home/session-title.js')
        return this.#within(timeout, async (signal) => {
          return (await nameSession({ ...common, sessionId, signal })) !== null
        })
      }
      case 'session-summary': {
        const { summarizeSession } = await import('../home/session-summary.js')
        return this.#within(timeout, (signal) => summarizeSession({ ...common, session, signal }))
      }
      case 'memory-review':
        // A session of fewer messages is not even read for it.
        if (session.messageCount < this.#options.config.memory.flush_min_turns) return false
        return this.#review(sessionId, await storage.log.entries(sessionId), client)
      case 'skill-review':
        return this.#lookBack(session, storage)
      default:
        return kind satisfies never
    }
  }

  /** Who answers in a session that is closed, with the account it chose. */
  async #choiceOf(session: SessionInfo, { log }: Storage): Promise<ModelChoice> {
    const { choiceOf, cwd } = this.#options
    const entries = await log.entries(session.id)
    const account = {
      at: async (provider: string) => accountIn(entries, isSamePool(provider)),
      folder: await resolvedFolder(session.cwd ?? cwd),
    }
    return { ...choiceOf(session), account }
  }

  /**
   * What an image shows, told by a model that sees: the one `auxiliary.vision` names, else that of the session if it does, else another there is a key for.
   * Rejects with one line when nobody can, and as the model does; an abort ends it.
   */
  async describeImage(
    image: ImagePart,
    { sessionId, about, signal }: { sessionId: string; about: string; signal: AbortSignal },
  ): Promise<{ readonly text: string; readonly by: string }> {
    const { max_tokens: maxTokens, timeout = VISION_SECONDS, enabled } = this.#options.config.auxiliary['vision'] ?? {}
    if (enabled === false) throw new Error('auxiliary.vision is off in config.yaml')
    const { describeImage } = await import('./describe-image.js')
    const client = async () => this.client('vision', await this.mainOf(sessionId))
    return this.#within(timeout, (limit) =>
      describeImage(image, { client, sessionId, about, maxTokens, signal: AbortSignal.any([signal, limit]) }),
    )
  }

  /** What a model says to a task beside the conversation. Rejects as the model does; an abort ends it. */
  async ask(
    {
      task,
      system,
      text,
    }: { readonly task: 'goal_judge' | 'background_review' | 'curator'; system: string; text: string },
    { sessionId, signal }: { sessionId: string | null; signal: AbortSignal },
  ): Promise<string> {
    const { purpose, seconds, maxTokens } = ASIDE_LIMITS[task]
    const { max_tokens: maxOutputTokens = maxTokens, timeout = seconds } = this.#options.config.auxiliary[task] ?? {}
    const messages = [{ role: 'system', content: [{ type: 'text', text: system }] }, userText(text)] as const
    return this.#within(timeout, async (limit) => {
      const scope = { purpose, ...(sessionId === null ? {} : { sessionId }), signal: AbortSignal.any([signal, limit]) }
      const client = await this.client(task, await this.mainOf(sessionId))
      return messageText((await askModel(client, { messages, tools: [], maxOutputTokens }, scope)).message)
    })
  }

  /** What takes longer fails, which is no abort. */
  async #within<Result>(
    seconds = DEFAULT_TIMEOUT_SECONDS,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const limit = AbortSignal.timeout(seconds * 1_000)
    try {
      return await work(AbortSignal.any([this.#stop.signal, limit]))
    } catch (error) {
      if (limit.aborted && !this.#stop.signal.aborted) throw new Error(`It took longer than ${seconds} s.`)
      throw error
    }
  }

  #looksBack(): boolean {
    const { auxiliary, skills, curator } = this.#options.config
    return auxiliary['background_review']?.enabled !== false && (skills.look_back || curator.enabled)
  }

  /** Resolves with whether a model was asked. */
  async #lookBack(session: SessionInfo, { log, meta }: Storage): Promise<boolean> {
    const { cwd } = this.#options
    const { noteSeen, seenTo } = await import('../home/looked-through.js')
    const entries = await log.entries(session.id)
    const seen = await seenTo(meta, 'looked_back', session.id)
    const usedModel = await this.#afterSession!({
      sessionId: session.id,
      platform: session.source,
      person: session.person,
      entries: entries.filter(({ seq }) => seq > seen),
      taintedBy: [...new Set(entries.flatMap(taintsIn))],
      cwd: session.cwd ?? cwd,
      signal: this.#stop.signal,
    })
    const last = entries.at(-1)
    if (usedModel && last) await noteSeen(meta, 'looked_back', { sessionId: session.id, upToSeq: last.seq })
    return usedModel
  }

  #looksThrough(): boolean {
    return this.#options.config.memory.flush_min_turns > 0 && (this.#options.memory?.(null) ?? null) !== null
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

  /** Resolves with whether enough was said to ask a model. */
  async #review(sessionId: string, entries: readonly Entry[], client: () => Promise<ModelClient>): Promise<boolean> {
    const { config, logger, storage: open } = this.#options
    const { reviewMemory } = await import('../memory/memory-review.js')
    const { noteSeen, seenTo } = await import('../home/looked-through.js')
    const { meta, sessions, log } = await open()
    const session = await sessions.get(sessionId)
    if (!session) return false
    // What is found is of whom the session serves.
    const memory = this.#options.memory!(session.person)!
    const seen = await seenTo(meta, 'looked_through', sessionId)
    // Also of what was undone or compacted since: it may have had its say before.
    const taintedBy = [...new Set((await log.entries(sessionId)).flatMap(taintsIn))]
    const minMessages = config.memory.flush_min_turns
    const staged = config.memory.write_approval ? this.#options.stagedNotes : null
    const hold = staged && { staged, person: session.person, atMs: this.#options.clock.now() }
    const review = { memory, sessionId, taintedBy, minMessages, hold, client, logger }
    const { hasLooked } = await this.#within(REVIEW_SECONDS, (signal) =>
      reviewMemory({ ...review, signal, entries: entries.filter(({ seq }) => seq > seen) }),
    )
    const last = entries.at(-1)
    if (hasLooked && last) await noteSeen(meta, 'looked_through', { sessionId, upToSeq: last.seq })
    return hasLooked
  }

  /** Ends what is going on and waits until it has let go. */
  async close(): Promise<void> {
    this.#stop.abort(new DOMException('The home is closed.', 'AbortError'))
    await Promise.allSettled(this.#underWay)
  }
}

/** The events of a call that nobody objects to; its end is told of. */
async function* watchedCall(
  {
    outside,
    task,
    client,
  }: Pick<AuxiliaryTasksOptions, 'outside'> & { readonly task: string; readonly client: ModelClient },
  ...[request, options]: Parameters<ModelClient['stream']>
): ReturnType<ModelClient['stream']> {
  const { provider, model } = client
  const about = { task, model: { provider, model }, sessionId: options.sessionId ?? null }
  const { signal = new AbortController().signal } = options
  await outside.mustPass('before-auxiliary-call', { ...about, request }, { signal, code: 'models.stopped' })
  try {
    for await (const event of client.stream(request, options)) {
      if (event.type === 'finish') void outside.tell('after-auxiliary-call', { ...about, usage: event.usage })
      yield event
    }
  } catch (error) {
    const code = HermesError.isInstance(error) ? error.code : 'models.failed'
    if (!isAbort(error))
      void outside.tell('after-auxiliary-call', { ...about, usage: null, error: { code, message: errorLine(error) } })
    throw error
  }
}

/** What config.yaml says of a task's answers, where the task itself says nothing. */
function withSettings(client: ModelClient, settings: NonNullable<HermesConfig['auxiliary'][string]>): ModelClient {
  const { max_tokens, reasoning_effort, temperature } = settings
  const defaults = {
    ...(max_tokens === undefined ? {} : { maxOutputTokens: max_tokens }),
    ...(reasoning_effort === undefined ? {} : { reasoningEffort: reasoning_effort }),
    ...(temperature === undefined ? {} : { temperature }),
  }
  const { provider, model } = client
  return { provider, model, stream: (request, options) => client.stream({ ...defaults, ...request }, options) }
}
