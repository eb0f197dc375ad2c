import { dirname } from 'node:path'
import { errorLine, HermesError, type Logger, silentLogger } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import { mayChangeFiles, writtenPaths } from '@hermes/safety'
import type { Checkpoints } from '../checkpoints.js'
import { realPrefix, workspaceRoot } from '../scan/workspace-root.js'

/** Options of {@link createTurnRecorder}. */
interface TurnRecorderOptions {
  readonly checkpoints: Checkpoints
  /** Where the agent works. Absolute. */
  readonly cwd: string
  readonly userHome: string
  /** The Hermes home. */
  readonly home: string
  /** Days after which checkpoints go by themselves, and hours between two looks; `null` for never. */
  readonly upkeep: { readonly retentionDays: number; readonly minIntervalHours: number } | null
  readonly logger?: Logger
}

/** The run in which something is about to happen. */
interface RecordedAction {
  readonly sessionId: string
  readonly runId: string
  /** Where the turn began in the session's log. */
  readonly turnSeq: number | null
  readonly signal: AbortSignal
  /** Tells the person something. */
  notice(text: string): void
}

/** Takes a checkpoint before a run changes a workspace for the first time, and notes the state it leaves. Never throws. */
export interface TurnRecorder {
  /** Begins to read the workspace, so that its first checkpoint has only to read what changed since. Resolves when that is done or ended. */
  prepare(): Promise<void>
  /** Resolves once what `action` may change is kept, or cannot be; at once for an action that is known only to look. */
  before(action: Action, run: RecordedAction): Promise<void>
  /** A checkpoint of this run was taken by somebody else: the state at its end is to be noted too. */
  adopt(root: string, runId: string): void
  /** A run has ended; its final state is noted beside the work. */
  after(runId: string): void
  /** Ends {@link prepare} and waits for what else is under way. */
  close(): Promise<void>
}

const REASON_CHARS = 100
/** What is no better the next time. */
const HOPELESS: ReadonlySet<string> = new Set([
  'checkpoint.timeout',
  'checkpoint.too_large',
  'checkpoint.too_many_files',
])

/** Checkpoints by turns, for one agent. */
export function createTurnRecorder(options: TurnRecorderOptions): TurnRecorder {
  return new Recorder(options)
}

class Recorder implements TurnRecorder {
  readonly #options: TurnRecorderOptions
  readonly #logger: Logger
  /** For each run the workspaces that were kept, or are being kept. */
  readonly #runs = new Map<string, Map<string, Promise<boolean>>>()
  readonly #work = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  /** Why workspaces cannot be kept: to find it out once more costs every turn as long as the first time. */
  readonly #hopeless = new Map<string, HermesError>()
  #preparing: Promise<void> | null = null
  #hasNotified = false

  constructor(options: TurnRecorderOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
  }

  prepare(): Promise<void> {
    this.#preparing ??= this.#prepare()
    return this.#preparing
  }

  async #prepare(): Promise<void> {
    const { signal } = this.#closing
    const root = workspaceRoot(this.#options.cwd, this.#options)
    if (root === null) return
    try {
      await this.#options.checkpoints.prepare(root, { signal })
    } catch (error) {
      // The checkpoint itself meets the same and says so.
      if (!signal.aborted) this.#logger.info('A workspace was not read beforehand.', { root, error: errorLine(error) })
    }
  }

  async before(action: Action, run: RecordedAction): Promise<void> {
    if (!mayChangeFiles(action)) return
    // Both want the same lock, and what is read already need not be read again.
    if (this.#preparing) await untilAborted(this.#preparing, run.signal)
    const kept = this.#runs.get(run.runId) ?? new Map<string, Promise<boolean>>()
    this.#runs.set(run.runId, kept)
    const roots = new Set(this.#folders(action).flatMap((folder) => this.#root(folder) ?? []))
    for (const root of roots) {
      if (!kept.has(root)) kept.set(root, this.#take(root, action, run))
      await kept.get(root)
    }
  }

  adopt(root: string, runId: string): void {
    const kept = this.#runs.get(runId) ?? new Map<string, Promise<boolean>>()
    this.#runs.set(runId, kept)
    if (!kept.has(root)) kept.set(root, Promise.resolve(true))
  }

  after(runId: string): void {
    const kept = this.#runs.get(runId)
    this.#runs.delete(runId)
    if (!kept || kept.size === 0) return
    const work = this.#settle(runId, kept).finally(() => this.#work.delete(work))
    this.#work.add(work)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#preparing, ...this.#work])
  }

  /** The folders in which an action may change something. */
  #folders(action: Action): readonly string[] {
    if (action.type === 'write') return action.backend === 'local' ? [touchedFolder(action)] : []
    if (action.type !== 'spawn' || action.backend !== 'local') return []
    const { cwd, command } = action
    const { userHome } = this.#options
    const named = writtenPaths(command, { cwd, userHome }).flatMap((path) =>
      path.startsWith('/') ? [path] : /^~(?:\/|$)/.test(path) ? [userHome + path.slice(1)] : [],
    )
    return [cwd, ...named]
  }

  #root(folder: string): string | null {
    const { cwd } = this.#options
    const own = workspaceRoot(cwd, this.#options)
    const real = realPrefix(folder)
    if (own !== null && (real === own || real.startsWith(`${own}/`))) return own
    return workspaceRoot(folder, this.#options)
  }

  async #take(root: string, action: Action, { runId, sessionId, turnSeq, signal, notice }: RecordedAction) {
    try {
      const known = this.#hopeless.get(root)
      if (known) throw known
      await this.#options.checkpoints.take(root, {
        kind: 'automatic',
        reason: describe(action),
        sessionId,
        runId,
        signal,
        ...(turnSeq === null ? {} : { undoFromSeq: turnSeq }),
      })
      return true
    } catch (error) {
      if (signal.aborted) return false
      if (HermesError.isInstance(error) && HOPELESS.has(error.code)) this.#hopeless.set(root, error)
      const line = HermesError.isInstance(error) ? error.message : `No checkpoint could be taken: ${errorLine(error)}`
      this.#logger.warn('No checkpoint could be taken.', { root, error: errorLine(error) })
      if (!this.#hasNotified) notice(`${line} Changes of this turn cannot be rolled back.`)
      this.#hasNotified = true
      return false
    }
  }

  async #settle(runId: string, kept: ReadonlyMap<string, Promise<boolean>>): Promise<void> {
    const { checkpoints, upkeep } = this.#options
    try {
      for (const [root, isKept] of kept) if (await isKept) await checkpoints.settle(root, runId)
      if (upkeep) await checkpoints.pruneIfDue(upkeep)
    } catch (error) {
      this.#logger.warn('The state at the end of a run could not be noted.', { error: errorLine(error) })
    }
  }
}

function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done, { once: true })
    void work.then(done)
  })
}

/** What is removed or renamed as a whole is part of the folder it is in. */
function touchedFolder({ path, operation }: Extract<Action, { type: 'write' }>): string {
  return operation === 'remove' || operation === 'rename' ? dirname(path) : path
}

function describe(action: Action): string {
  const text = action.type === 'spawn' ? action.command : action.type === 'write' ? `write ${action.path}` : action.type
  const line = text.replace(/\s+/g, ' ').trim()
  return `before: ${line.length > REASON_CHARS ? `${line.slice(0, REASON_CHARS)}…` : line}`
}
