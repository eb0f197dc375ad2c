import { type HermesConfig, homeLayout } from '@hermes/config'
import type { Clock, Logger } from '@hermes/contracts'
import { type Backups, openBackups, type Storage } from '@hermes/storage'
import type { RuntimeOptions } from '../runtime.js'
import { type HomeStore, openStore, rescueDirsOf } from './open-store.js'

interface HomeStorageOptions extends Pick<RuntimeOptions, 'home' | 'tempDir' | 'onNotice'> {
  readonly config: HermesConfig
  readonly clock: Clock
  readonly logger: Logger
}

/** The store of a home, opened by the first who asks for it. */
export class HomeStorage {
  /** Where goes what the store takes no more. */
  readonly rescueDirs: readonly string[]
  readonly #options: HomeStorageOptions
  #store: Promise<HomeStore> | null = null

  constructor(options: HomeStorageOptions) {
    this.#options = options
    this.rescueDirs = rescueDirsOf(options)
  }

  /** Rejects as {@link openStore} does. */
  readonly open = async (): Promise<Storage> => {
    const { onNotice, ...options } = this.#options
    const notices = onNotice ? { onNotice } : {}
    this.#store ??= openStore({ ...options, ...notices, rescueDirs: this.rescueDirs }).catch((error: unknown) => {
      // A server that is down now may be up when somebody asks again.
      this.#store = null
      throw error
    })
    return (await this.#store).storage
  }

  /** What was opened, to be closed; `null` where nothing was, or could be. */
  async opened(): Promise<HomeStore | null> {
    return (await this.#store?.catch(() => null)) ?? null
  }

  backups(): Backups {
    const { home, clock, logger } = this.#options
    const { stateDb, backups } = homeLayout(home)
    return openBackups({ path: stateDb, directory: backups, clock, logger })
  }
}
