import { type Clock, errorLine, isAbort, type Logger } from '@hermes/contracts'
import type { Runtime, SessionJob } from '@hermes/runtime'

const MAX_ATTEMPTS = 5
/** Longer than any of them takes: who looks back at sessions may ask models for twelve minutes. What a process held that ended is free at once. */
const LEASE_MS = 15 * 60_000
/** So many at a time: a home may have hundreds that single questions left. Those that turn out to need no model do not count. */
const MAX_AT_A_TIME = 3
const MAX_LOOKED_AT = 50
const SETTLE_WITHIN_MS = 1_000
/** A session in which nothing was said for so long was left. */
const LEFT_AFTER_MS = 600_000
/** Who closes the home within this time after a session was left wants to be gone. */
const PAUSE_MS = 5_000

/** What jobs of sessions need of a host. */
interface SessionJobsOptions {
  readonly runtime: Pick<Runtime, 'storage' | 'sessionJobs' | 'doSessionJob'>
  /** Another process does the work. */
  readonly isLeft: boolean
  /** Told when one has asked models, whatever came of it. Must not throw. */
  readonly done: (sessionId: string) => void
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * What is due for sessions beside their runs: rows of the store, one per session and kind. What a process leaves undone, any later one of the
 * home does. Nobody waits for what comes of it.
 */
export class SessionJobs {
  readonly #options: SessionJobsOptions
  readonly #closed = new AbortController()
  #work: Promise<void> = Promise.resolve()
  #settled: Promise<void> | null = null

  constructor(options: SessionJobsOptions) {
    this.#options = options
  }

  /** A run has ended; `isNameable` when it is the first that an agent completed. */
  ran(sessionId: string, isNameable: boolean): void {
    const { runtime, isLeft, clock } = this.#options
    const nowMs = clock.now()
    this.#then(sessionId, async () => {
      for (const kind of runtime.sessionJobs)
        if (kind !== 'session-title') await this.#add(kind, sessionId, nowMs + LEFT_AFTER_MS)
        else if (isNameable && !(await this.#hasTitle(sessionId))) await this.#add(kind, sessionId, isLeft ? nowMs : 0)
      await this.#doSome()
    })
  }

  /** Begins what is due by now, whoever left it. Where nothing is, it looks at the store once. */
  begin(): void {
    this.#then(null, () => this.#doSome())
  }

  /** Nobody goes on with the session for now. */
  left(sessionId: string): void {
    const { clock, logger, runtime } = this.#options
    const kinds = runtime.sessionJobs.filter((kind) => kind !== 'session-title')
    this.#then(sessionId, async () => {
      for (const kind of kinds) await this.#add(kind, sessionId, 0)
    })
    clock
      .sleep(PAUSE_MS, this.#closed.signal)
      .then(() => this.#then(sessionId, () => this.#doSome()))
      .catch((error: unknown) => logger.debug('The process ends first.', { sessionId, error: errorLine(error) }))
  }

  #then(sessionId: string | null, work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#options.logger.info('What is due for a session was not done.', { sessionId, error: errorLine(error) })
    })
  }

  async #hasTitle(sessionId: string): Promise<boolean> {
    const { sessions } = await this.#options.runtime.storage()
    return (await sessions.get(sessionId))?.title !== null
  }

  /** What this process is to do is due at 0, before what others left. */
  async #add(kind: SessionJob, sessionId: string, dueAtMs: number): Promise<void> {
    const { jobs } = await this.#options.runtime.storage()
    await jobs.add({ kind, key: `${kind} ${sessionId}`, payload: { sessionId }, dueAtMs, maxAttempts: MAX_ATTEMPTS })
  }

  async #doSome(): Promise<void> {
    const { runtime, isLeft, logger, done: notify } = this.#options
    if (isLeft) return
    const { jobs } = await runtime.storage()
    let done = 0
    for (let count = 0; count < MAX_LOOKED_AT && done < MAX_AT_A_TIME && !this.#closed.signal.aborted; count++) {
      const job = await jobs.take({ kinds: runtime.sessionJobs, leaseMs: LEASE_MS })
      if (job === null) return
      const sessionId = String(job.payload['sessionId'])
      try {
        const usedModels = await runtime.doSessionJob(job.kind as SessionJob, sessionId)
        await jobs.complete(job)
        if (!usedModels) continue
        done++
        notify(sessionId)
      } catch (error) {
        // The home is closed: the job is free for others once this process has ended.
        if (isAbort(error)) return
        done++
        logger.info('A job of a session failed.', { kind: job.kind, sessionId, error: errorLine(error) })
        await jobs.fail(job, { error: errorLine(error) })
        notify(sessionId)
      }
    }
  }

  /** Begins nothing more and waits for what is under way, a second at most in all. */
  settle(): Promise<void> {
    this.#settled ??= this.#settle()
    return this.#settled
  }

  async #settle(): Promise<void> {
    this.#closed.abort()
    const enough = new AbortController()
    const limit = this.#options.clock.sleep(SETTLE_WITHIN_MS, enough.signal).catch(() => undefined)
    await Promise.race([this.#work, limit])
    enough.abort()
  }
}
