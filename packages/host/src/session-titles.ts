import { type Clock, errorLine, isAbort, type Logger } from '@hermes/contracts'
import type { Runtime } from '@hermes/runtime'

const KIND = 'session-title'
const MAX_ATTEMPTS = 5
/** Longer than a model is waited for, unless config.yaml says otherwise; then it may be asked twice. */
const LEASE_MS = 120_000
/** So many at a time: a home may have hundreds that single questions left. */
const MAX_AT_A_TIME = 3
const SETTLE_WITHIN_MS = 1_000

/** What titles need of a host. */
export interface SessionTitlesOptions {
  readonly runtime: Pick<Runtime, 'storage' | 'nameSession'>
  /** Another process does the work. */
  readonly isLeft: boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** Titles are jobs of the store: what a process leaves undone, any later one of the home does. */
export class SessionTitles {
  readonly #options: SessionTitlesOptions
  #work: Promise<void> = Promise.resolve()

  constructor(options: SessionTitlesOptions) {
    this.#options = options
  }

  /** A run of the session has completed. Nobody waits for what comes of it. */
  want(sessionId: string): void {
    this.#work = this.#work
      .then(() => this.#add(sessionId))
      .then(() => this.#doSome())
      .catch((error: unknown) => {
        this.#options.logger.info('A session got no title.', { sessionId, error: errorLine(error) })
      })
  }

  /** Due before what other sessions left. */
  async #add(sessionId: string): Promise<void> {
    const { sessions, jobs } = await this.#options.runtime.storage()
    const session = await sessions.get(sessionId)
    if (session?.title !== null) return
    const key = `${KIND} ${sessionId}`
    await jobs.add({ kind: KIND, key, payload: { sessionId }, dueAtMs: 0, maxAttempts: MAX_ATTEMPTS })
  }

  async #doSome(): Promise<void> {
    const { runtime, isLeft, logger } = this.#options
    if (isLeft) return
    const { jobs } = await runtime.storage()
    for (let count = 0; count < MAX_AT_A_TIME; count++) {
      const job = await jobs.take({ kinds: [KIND], leaseMs: LEASE_MS })
      if (job === null) return
      const sessionId = String(job.payload['sessionId'])
      try {
        await runtime.nameSession(sessionId)
        await jobs.complete(job)
      } catch (error) {
        // The home is closed: the job is free for others once this process has ended.
        if (isAbort(error)) return
        logger.info('A session got no title.', { sessionId, error: errorLine(error) })
        await jobs.fail(job, { error: errorLine(error) })
      }
    }
  }

  /** Waits for what is under way, a second at most. */
  async settle(): Promise<void> {
    const enough = new AbortController()
    const limit = this.#options.clock.sleep(SETTLE_WITHIN_MS, enough.signal).catch(() => undefined)
    await Promise.race([this.#work, limit])
    enough.abort()
  }
}
