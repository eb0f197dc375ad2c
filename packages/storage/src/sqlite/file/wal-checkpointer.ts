import { errorLine, type Logger } from '@hermes/contracts'
import type { Connection } from './connection.js'
import type { DatabaseThread } from './database-thread.js'

// Between two looks the log grows by some 10 MB.
const STEPS_BETWEEN_LOOKS = 10
/** 16 MB. */
const MAX_PAGES = 4_000
// What is written while one pass goes on is left to the next.
const PASSES = 3
const LOOK = 'PRAGMA wal_checkpoint(NOOP)'
const MOVE = 'PRAGMA wal_checkpoint(PASSIVE)'

/** Moves the write-ahead log into the file, in a thread and while others write. SQLite would do it within a commit, waiting for the disk. */
export class WalCheckpointer {
  readonly #connection: Connection
  readonly #logger: Logger
  #steps = 0
  #isBusy = false
  #thread: DatabaseThread | null = null
  #moved: Promise<void> = Promise.resolve()

  constructor(connection: Connection, { logger }: { readonly logger: Logger }) {
    this.#connection = connection
    this.#logger = logger
  }

  /** Outside a transaction, after each step of work on the index: now and then it looks whether the log is due. */
  step(): void {
    if (++this.#steps % STEPS_BETWEEN_LOOKS !== 0 || this.#isBusy) return
    this.#isBusy = true
    this.#moved = this.#moveIfDue()
  }

  /** Leaves the rest to SQLite. */
  async stop(): Promise<void> {
    await this.#thread?.close()
    await this.#moved
  }

  async #moveIfDue(): Promise<void> {
    try {
      const look = await this.#connection.outside(() => this.#connection.statement(LOOK).get())
      const { log, checkpointed } = look as { readonly log: number; readonly checkpointed: number }
      if (log - checkpointed > MAX_PAGES) await this.#move()
    } catch (error) {
      this.#logger.debug('the log of the store stays as it is', { error: errorLine(error) })
    }
    this.#thread = null
    this.#isBusy = false
  }

  async #move(): Promise<void> {
    const { DatabaseThread } = await import('./database-thread.js')
    const thread = new DatabaseThread(this.#connection.path)
    this.#thread = thread
    for (let pass = 0; pass < PASSES; pass++) await thread.column(MOVE, [])
    await thread.close()
  }
}
