import { type HermesConfig, homeLayout } from '@hermes/config'
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import { describeStoreUrl, openBackups, openStorage, type Storage } from '@hermes/storage'
import { type DailyBackup, startDailyBackup } from './daily-backup.js'
import { keepSessions } from './session-upkeep.js'

/** The open store of a home. */
export interface HomeStore {
  readonly storage: Storage
  /** `null` for a store on a server, which is backed up there. */
  readonly dailyBackup: DailyBackup | null
  /** Sessions of killed processes are noted as ended, quiet ones are archived or deleted where config.yaml says so; never rejects. */
  readonly swept: Promise<void>
}

/** What it is opened with. */
interface OpenStoreOptions {
  readonly home: string
  readonly config: Pick<HermesConfig, 'database' | 'sessions' | 'storage'>
  /** Where goes what the store takes no more. */
  readonly rescueDirs: readonly string[]
  readonly clock: Clock
  readonly logger: Logger
  readonly onNotice?: (line: string) => void
}

/** Opens what `storage.url` names, else the file in the home. Rejects as `openStorage` does. */
export async function openStore({ home, config, ...options }: OpenStoreOptions): Promise<HomeStore> {
  const { url } = config.storage
  if (url !== undefined) {
    const storage = await openStorage({ url, ...options })
    const swept = sweep(storage, config, options)
    // As below.
    if (config.sessions.auto_prune) await swept
    return { storage, dailyBackup: null, swept }
  }
  const { stateDb: path, backups: directory } = homeLayout(home)
  const { journal_mode: journal, synchronous: sync } = config.database
  const storage = await openStorage({ path, journal, sync, ...options })
  const { clock, logger } = options
  const dailyBackup = startDailyBackup(openBackups({ path, directory, clock, logger }), { path, logger })
  const swept = sweep(storage, config, options)
  // Nobody may be in the middle of opening what is deleted.
  if (config.sessions.auto_prune) await swept
  return { storage, dailyBackup, swept }
}

/** Beside the work that the store was opened for. */
async function sweep(
  storage: Storage,
  { sessions: settings }: Pick<HermesConfig, 'sessions'>,
  { clock, logger }: Pick<OpenStoreOptions, 'clock' | 'logger'>,
): Promise<void> {
  try {
    const ended = await storage.sessions.endAbandoned()
    if (ended.length > 0) logger.info('sessions of processes that are gone were ended', { sessions: ended.join(', ') })
  } catch (error) {
    logger.warn('sessions of processes that are gone could not be ended', { error: errorLine(error) })
  }
  await keepSessions({ storage, settings, clock, logger }).catch((error: unknown) =>
    logger.warn('old sessions could not be looked through', { error: errorLine(error) }),
  )
}

/** What nobody may see of the settings of the store: the url with its password, and the password. */
export function storeSecrets({ storage }: Pick<HermesConfig, 'storage'>): readonly string[] {
  if (storage.url === undefined) return []
  const { password } = describeStoreUrl(storage.url)
  return password === null ? [] : [storage.url, password]
}

/** Where a store leaves what it takes no more: in the home, else where programs keep what they need for a while. */
export function rescueDirsOf({
  home,
  tempDir,
}: {
  readonly home: string
  readonly tempDir: string
}): readonly string[] {
  return [homeLayout(home).rescue, tempDir]
}
