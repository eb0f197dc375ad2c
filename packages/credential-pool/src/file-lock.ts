import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errorLine, HermesError } from '@hermes/contracts'

const LOCK_TIMEOUT_MS = 15_000

/** A lock that one process on this machine holds. */
export interface FileLock {
  release(): void
}

/** Somebody who wants a lock and may have to ask for it several times. */
export interface LockSeeker {
  /** The lock; `null` while somebody else holds it. Never waits. */
  tryLock(): FileLock | null
  /** Gives up. Not needed once the lock was had. */
  close(): void
}

/**
 * A seeker of the lock `file`, an empty file that is made when missing and stays. The lock itself is SQLite's, thus one of the
 * operating system: it ends with its process, however that ends, so nobody has to judge whether a lock is stale.
 * @throws HermesError `credentials.not_writable`
 */
export async function seekLock(file: string): Promise<LockSeeker> {
  const { default: Database } = await import('better-sqlite3')
  try {
    await makePrivate(file)
    const database = new Database(file, { timeout: 0 })
    const close = () => void database.close()
    const tryLock = () => {
      try {
        // The lock file never holds anything, so no journal has to survive a crash.
        database.exec('PRAGMA journal_mode = memory; BEGIN EXCLUSIVE')
        return { release: close }
      } catch (error) {
        if ((error as { code?: unknown }).code === 'SQLITE_BUSY') return null
        close()
        throw notWritable(file, error)
      }
    }
    return { tryLock, close }
  } catch (error) {
    throw HermesError.isInstance(error) ? error : notWritable(file, error)
  }
}

/**
 * The lock of a seeker, as soon as it is free; `what` names in an error what it keeps.
 * @throws HermesError `credentials.locked` after fifteen seconds.
 */
export async function waitForLock(seeker: LockSeeker, what: string): Promise<FileLock> {
  const giveUpAt = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    const lock = seeker.tryLock()
    if (lock) return lock
    if (performance.now() > giveUpAt) {
      seeker.close()
      throw new HermesError(`Other processes keep ${what} locked; try again.`, {
        code: 'credentials.locked',
        retryable: true,
      })
    }
    await delay(5 + Math.random() * 20)
  }
}

async function makePrivate(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const handle = await open(file, 'a', 0o600)
  await handle.close()
}

function notWritable(file: string, cause: unknown): HermesError {
  return new HermesError(`Cannot lock ${file}: ${errorLine(cause)}.`, { code: 'credentials.not_writable', cause })
}
