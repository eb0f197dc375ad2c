import { statSync } from 'node:fs'
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { Database } from '../shared/database.js'
import type { ArchiveOptions, Maintenance, PruneOptions, StoreStats } from '../storage.js'
import type { Connection } from './file/connection.js'
import { damaged } from './file/store-error.js'
import { perform } from './schema/perform.js'

/** The state of a file. */
export class SqliteMaintenance implements Maintenance {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #database: () => Promise<Database>
  readonly #damage: Promise<readonly string[]>

  /** With `isCheckDue` the file is looked at beside the work, as after an unclean end; what is found stops further writes. */
  constructor(
    connection: Connection,
    options: {
      readonly database: () => Promise<Database>
      readonly clock: Clock
      readonly logger: Logger
      readonly isCheckDue: boolean
      readonly onNotice: (line: string) => void
    },
  ) {
    this.#connection = connection
    this.#database = options.database
    this.#clock = options.clock
    this.#damage = options.isCheckDue ? this.#lookForDamage(options) : Promise.resolve([])
  }

  check(): Promise<readonly string[]> {
    return this.#check({ quick: false })
  }

  damage(): Promise<readonly string[]> {
    return this.#damage
  }

  async prune(options: PruneOptions): Promise<number> {
    const { pruneSessions } = await import('../stores/prune.js')
    const nowMs = this.#clock.now()
    return pruneSessions(await this.#database(), { ...options, nowMs, leaseNowMs: nowMs })
  }

  async archive(options: ArchiveOptions): Promise<number> {
    const { archiveSessions } = await import('../stores/archive.js')
    return archiveSessions(await this.#database(), { ...options, nowMs: this.#clock.now() })
  }

  async stats(): Promise<StoreStats> {
    const { readStats } = await import('../stores/stats.js')
    const database = await this.#database()
    const size = (suffix: string) => statSync(this.#connection.path + suffix, { throwIfNoEntry: false })?.size ?? 0
    const number = (pragma: string) => this.#connection.statement(`PRAGMA ${pragma}`).pluck().get() as number
    return this.#connection.read(() => ({
      ...perform(this.#connection, readStats(database)),
      bytes: size('') + size('-wal'),
      freeBytes: number('freelist_count') * number('page_size'),
    }))
  }

  async #check(options: { readonly quick: boolean; readonly isBackground?: boolean }): Promise<readonly string[]> {
    const { checkFile, checkOpenFile } = await import('./file/health.js')
    const { isAlone, path } = this.#connection
    return isAlone ? checkOpenFile(this.#connection, options) : checkFile(path, options)
  }

  async #lookForDamage({
    logger,
    onNotice,
  }: {
    readonly logger: Logger
    readonly onNotice: (line: string) => void
  }): Promise<readonly string[]> {
    const { path } = this.#connection
    const problems = await this.#check({ quick: true, isBackground: true }).catch((error: unknown) => {
      logger.warn('the store could not be checked', { path, error: errorLine(error) })
      return []
    })
    if (problems.length > 0) {
      const damage = damaged(path, problems[0]!)
      this.#connection.forbidWrites(damage)
      onNotice(damage.message)
      logger.error('the store is damaged', { path, problems: problems.join('; ') })
    }
    return problems
  }
}
