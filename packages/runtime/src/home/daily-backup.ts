import { stat } from 'node:fs/promises'
import { errorLine, type Logger } from '@hermes/contracts'
import type { Backups } from '@hermes/storage'

const FIRST_LOOK_MS = 30_000
const LOOK_EVERY_MS = 3_600_000
const DAY_MS = 86_400_000
/** Copying a larger file would hold up the end of a command for longer than a person waits. */
const MAX_BYTES_AT_END = 64_000_000

/** Backups that are made by themselves. */
export interface DailyBackup {
  /** Makes a backup that is due, unless the file is large, and none from now on. */
  finish(): Promise<void>
}

/**
 * Copies the store once a day: while the process lives, and at the end of one that did not live long enough. Not on the first day of a
 * file. What fails is logged and tried again; nothing else waits for it.
 */
export function startDailyBackup(
  backups: Backups,
  options: { readonly path: string; readonly logger: Logger },
): DailyBackup {
  const { path, logger } = options
  let timer: NodeJS.Timeout | null = null
  let working: Promise<void> = Promise.resolve()
  const look = () => {
    working = backUp(Number.POSITIVE_INFINITY)
    timer = setTimeout(look, LOOK_EVERY_MS).unref()
  }
  const backUp = async (maxBytes: number) => {
    try {
      const file = await stat(path).catch(() => null)
      if (file === null || Date.now() - file.birthtimeMs < DAY_MS || file.size > maxBytes) return
      if (await backups.isDue()) logger.info('backed up the sessions', { to: (await backups.create()).path })
    } catch (error) {
      logger.warn('the daily backup of the sessions failed', { error: errorLine(error) })
    }
  }
  timer = setTimeout(look, FIRST_LOOK_MS).unref()
  return {
    finish: async () => {
      if (timer !== null) clearTimeout(timer)
      await working
      await backUp(MAX_BYTES_AT_END)
    },
  }
}
