import type { HermesConfig } from '@hermes/config'
import type { Clock, Logger } from '@hermes/contracts'
import type { Storage } from '@hermes/storage'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** When sessions were last looked through, in Unix milliseconds. */
const LOOKED_AT = 'sessions.upkeep_at_ms'

/** What it works with. */
interface UpkeepOptions {
  readonly storage: Pick<Storage, 'maintenance' | 'meta'>
  readonly settings: HermesConfig['sessions']
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** Archives and prunes sessions as config.yaml says, when it is time; by default neither. Rejects as the store does. */
export async function keepSessions({ storage, settings, clock, logger }: UpkeepOptions): Promise<void> {
  if (!settings.auto_prune && !settings.auto_archive) return
  const nowMs = clock.now()
  const lookedAtMs = Number((await storage.meta.get(LOOKED_AT)) ?? 0)
  if (nowMs - lookedAtMs < settings.min_interval_hours * HOUR_MS) return
  // Said first, so that a process that starts meanwhile does not do the same.
  await storage.meta.set(LOOKED_AT, String(nowMs))
  if (settings.auto_archive) {
    const archived = await storage.maintenance.archive({ olderThanMs: settings.auto_archive_days * DAY_MS })
    if (archived > 0) logger.info('quiet sessions were archived', { sessions: archived })
  }
  if (settings.auto_prune) {
    const deleted = await storage.maintenance.prune({ olderThanMs: settings.retention_days * DAY_MS })
    if (deleted > 0) logger.info('old sessions were deleted', { sessions: deleted })
  }
}
