import { errorLine, type Logger } from '@hermes/contracts'
import type { DatabaseThread } from './database-thread.js'

// After so much text the log has some 16 MB.
const MAX_CHARS = 2_000_000
// What is written while one pass goes on is left to the next.
const PASSES = 3
const MOVE = 'PRAGMA wal_checkpoint(PASSIVE)'

/** Moves the write-ahead log into the file, in a thread and while others write. SQLite would do it within a commit, waiting for the disk. */
export class LogMover {
  readonly #path: string
  readonly #logger: Logger
  #chars = 0
  #thread: DatabaseThread | null = null
  #moved: Promise<void> = Promise.resolve()

  constructor(path: string, { logger }: { readonly logger: Logger }) {
    this.#path = path
    this.#logger = logger
  }

  /** Counts what was written, and moves the log once it is long enough. */
  count(chars: number): void {
    this.#chars += chars
    if (this.#chars < MAX_CHARS) return
    this.#chars = 0
    this.#moved = this.#moved.then(() => this.#move())
  }

  /** Leaves the rest to SQLite. */
  async stop(): Promise<void> {
    await this.#thread?.close()
    await this.#moved
  }

  async #move(): Promise<void> {
    try {
      const { DatabaseThread } = await import('./database-thread.js')
      const thread = new DatabaseThread(this.#path)
      this.#thread = thread
      for (let pass = 0; pass < PASSES; pass++) await thread.numbers(MOVE, [])
      await thread.close()
    } catch (error) {
      this.#logger.debug('the log of the store stays as it is', { error: errorLine(error) })
    } finally {
      this.#thread = null
    }
  }
}
