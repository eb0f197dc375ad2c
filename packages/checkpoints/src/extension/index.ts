import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import { turnStarts } from '@hermes/contracts/conversation'
import type { ActionEvent, Extension, HookEvent } from '@hermes/contracts/extension'
import type { Action } from '@hermes/contracts/policy'
import type { SessionStore } from '@hermes/contracts/store'
import { mayChangeFiles } from '@hermes/safety'
import type { Checkpoints, RemoteKeeper, TurnRecorder } from '../index.js'
import type { CheckpointsToolServices, OpenedCheckpoints } from '../tools/index.js'

export { checkpointCommands } from './checkpoint-commands.js'

const MIB = 2 ** 20
/** A call that another extension objects to is none of a run's. */
const AFTER_OBJECTIONS = 1_000
/** A model that has not answered by then leaves time to read the workspace. One that answers sooner would be held up by it. */
const PREPARE_AFTER_MS = 250

/** The checkpoints of a home; nothing is loaded before it is needed. */
export interface HomeCheckpoints {
  /** Takes them, in the sessions of agents that {@link HomeCheckpoints.forAgent} was called for. */
  readonly extension: Extension
  open(): Promise<Pick<OpenedCheckpoints, 'checkpoints' | 'rootOf'>>
  /** What the tools of one agent use; without a session none are taken by themselves. */
  forAgent(cwd: string, sessionId?: string): AgentCheckpoints
}

/** Checkpoints of one agent. */
export interface AgentCheckpoints {
  readonly services: CheckpointsToolServices
  /** Waits for what is under way. */
  close(): Promise<void>
}

/** Options of {@link openHomeCheckpoints}. */
interface HomeCheckpointsOptions {
  readonly home: string
  readonly userHome: string
  /** Where they are kept. */
  readonly directory: string
  readonly settings: CheckpointSettings
  /** Where commands run: workspaces are kept of `local`, of others what file tools change and git tracks. */
  readonly backend: string
  readonly store: () => Promise<SessionStore>
  readonly clock: Clock
  readonly logger: Logger
}

/** The section `checkpoints` of config.yaml. */
interface CheckpointSettings {
  readonly enabled: boolean
  readonly max_snapshots: number
  readonly max_total_size_mb: number
  readonly max_file_size_mb: number
  readonly auto_prune: boolean
  readonly retention_days: number
  readonly min_interval_hours: number
}

/** Checkpoints as config.yaml sets them. */
export function openHomeCheckpoints(options: HomeCheckpointsOptions): HomeCheckpoints {
  const { home, userHome, directory, settings, clock } = options
  let loading: Promise<Loaded> | undefined
  const load = () => {
    loading ??= import('../index.js').then((module) => {
      const limits = {
        maxSnapshots: settings.max_snapshots,
        maxTotalBytes: settings.max_total_size_mb * MIB,
        maxFileBytes: settings.max_file_size_mb * MIB,
      }
      const checkpoints = module.createCheckpoints({ directory, exclude: [home], limits, clock })
      return { module, checkpoints, rootOf: (folder) => module.workspaceRoot(folder, { userHome, home }) }
    })
    return loading
  }
  const prepared = new Set<string>()
  const agents = new Map<string, RecordedAgent>()
  return {
    extension: checkpointsExtension(settings, agents),
    open: load,
    forAgent: (cwd, sessionId) => {
      const agent = new RecordedAgent(options, { cwd, sessionId, load, prepared })
      if (sessionId === undefined) return agent
      agents.set(sessionId, agent)
      const close = () => {
        if (agents.get(sessionId) === agent) agents.delete(sessionId)
        return agent.close()
      }
      return { services: agent.services, close }
    },
  }
}

function checkpointsExtension({ enabled }: CheckpointSettings, agents: ReadonlyMap<string, RecordedAgent>): Extension {
  const agentOf = ({ session }: Pick<HookEvent, 'session'>) => agents.get(session.id)
  return {
    name: 'checkpoints',
    setup: ({ hooks }) => {
      hooks.on(
        'before-tool-call',
        (event) => {
          agentOf(event)?.begins(event)
          return undefined
        },
        { order: AFTER_OBJECTIONS },
      )
      hooks.on('run-end', (event) => agentOf(event)?.ends(event))
      if (!enabled) return
      // While the model thinks, with the first message if it can be; nothing waits for it.
      hooks.on('before-model-call', (event) => {
        agentOf(event)?.asks()
        return undefined
      })
      hooks.on('after-model-call', (event) => agentOf(event)?.answered())
      // A checkpoint takes as long as the workspace is large; an interrupt ends it.
      hooks.on('before-action', (event) => agentOf(event)?.before(event), { timeoutMs: Number.POSITIVE_INFINITY })
    },
  }
}

interface Loaded {
  readonly module: typeof import('../index.js')
  readonly checkpoints: Checkpoints
  readonly rootOf: (folder: string) => string | null
}

class RecordedAgent implements AgentCheckpoints {
  readonly services: CheckpointsToolServices
  readonly #options: HomeCheckpointsOptions
  readonly #load: () => Promise<Loaded>
  readonly #cwd: string
  readonly #runs = new Map<string, string>()
  #recorder: Promise<TurnRecorder> | null = null
  /** Another number once the model has answered, or is asked something else. */
  #question = 0
  readonly #sessionId: string | undefined
  #remote: Promise<RemoteKeeper> | null = null
  readonly #prepared: Set<string>
  readonly #closing = new AbortController()
  /** Runs whose end is being told to the recorder. */
  #ending: Promise<unknown> = Promise.resolve()

  constructor(
    options: HomeCheckpointsOptions,
    about: {
      readonly cwd: string
      readonly sessionId: string | undefined
      readonly load: () => Promise<Loaded>
      /** Folders that an agent of this home has read beforehand, or is reading; once is enough for all of them. */
      readonly prepared: Set<string>
    },
  ) {
    const { cwd, sessionId, load, prepared } = about
    this.#sessionId = sessionId
    this.#prepared = prepared
    this.#options = options
    this.#load = load
    this.#cwd = cwd
    this.services = {
      checkpoints: async () => {
        const [{ checkpoints, rootOf }, recorder] = await Promise.all([this.#load(), this.#open()])
        return {
          checkpoints,
          rootOf,
          runOf: (sessionId) => this.#runOf(sessionId),
          adopt: (root, runId) => recorder.adopt(root, runId),
          remote: () => this.#openRemote(),
        }
      },
    }
  }

  begins({ session, runId }: Pick<HookEvent, 'session' | 'runId'>): void {
    this.#runs.set(session.id, runId)
  }

  ends({ session, runId }: Pick<HookEvent, 'session' | 'runId'>): void {
    const notified = this.#after(session.id, runId).catch((error: unknown) => {
      this.#options.logger.warn('The end of a run could not be noted.', { error: errorLine(error) })
    })
    this.#ending = Promise.all([this.#ending, notified])
  }

  async before(event: ActionEvent): Promise<void> {
    const { action, session, runId, turnSeq, signal, environment } = event
    if (!mayChangeFiles(action)) return
    const notice = (text: string) => event.notice(text)
    if (environment && environment.backend !== 'local') {
      const permit = (own: Action) => event.permit(own, { mayAsk: false })
      await (await this.#openRemote())?.before(action, { runId, environment, signal, permit, notice })
      return
    }
    await (await this.#open()).before(action, { sessionId: session.id, runId, turnSeq, signal, notice })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ending
    await (await this.#recorder)?.close()
  }

  #open(): Promise<TurnRecorder> {
    const { home, userHome, settings, logger } = this.#options
    const { auto_prune: autoPrune, retention_days: retentionDays, min_interval_hours: minIntervalHours } = settings
    this.#recorder ??= this.#load().then(({ module, checkpoints }) =>
      module.createTurnRecorder({
        checkpoints,
        cwd: this.#cwd,
        home,
        userHome,
        upkeep: autoPrune ? { retentionDays, minIntervalHours } : null,
        logger,
      }),
    )
    return this.#recorder
  }

  asks(): void {
    const { logger, backend } = this.#options
    this.#question += 1
    if (this.#prepared.has(this.#cwd) || backend !== 'local') return
    this.#prepared.add(this.#cwd)
    this.#prepare().catch((error: unknown) => {
      // Another agent may still prepare it.
      this.#prepared.delete(this.#cwd)
      if (!this.#closing.signal.aborted) logger.warn('Checkpoints could not be prepared.', { error: errorLine(error) })
    })
  }

  answered(): void {
    this.#question += 1
  }

  async #prepare(): Promise<void> {
    const question = this.#question
    await this.#options.clock.sleep(PREPARE_AFTER_MS, this.#closing.signal)
    if (this.#question === question) await (await this.#open()).prepare()
    // The next question to the model leaves more time, perhaps.
    else this.#prepared.delete(this.#cwd)
  }

  /** What keeps files of another machine; `null` for an agent without a session. */
  async #openRemote(): Promise<RemoteKeeper | null> {
    if (this.#sessionId === undefined) return null
    const { directory, settings, clock, logger } = this.#options
    const sessionId = this.#sessionId
    this.#remote ??= this.#load().then(({ module }) => {
      const remote = `${directory}-remote`
      if (settings.auto_prune)
        module.pruneRemote(remote, { retentionDays: settings.retention_days, nowMs: clock.now() })
      const maxFileBytes = settings.max_file_size_mb * MIB
      return new module.RemoteKeeper({ directory: remote, sessionId, maxFileBytes, clock, logger })
    })
    return this.#remote
  }

  async #after(sessionId: string, runId: string): Promise<void> {
    this.#runs.delete(sessionId)
    // Without a recorder nothing was recorded; it is not made for that.
    ;(await this.#recorder)?.after(runId)
  }

  async #runOf(sessionId: string): Promise<{ readonly runId: string; readonly turnSeq: number | null } | null> {
    const runId = this.#runs.get(sessionId)
    if (runId === undefined) return null
    const entries = await (await this.#options.store()).log.entries(sessionId)
    return { runId, turnSeq: turnStarts(entries).at(-1) ?? null }
  }
}
