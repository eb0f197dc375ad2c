import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errorLine, HermesError } from '@hermes/contracts'

const WAIT_MS = 15_000
/** Nothing done under a lock takes that long; its holder is gone, perhaps on another machine. */
const ABANDONED_MS = 120_000

/** What is used of `better-sqlite3`. */
interface Engine {
  readonly name: string
  exec(sql: string): unknown
  close(): unknown
}

/** A lock that one process on this machine holds. */
interface FileLock {
  release(): void
}

/** A process that wants a lock and may have to ask for it several times. */
export interface LockSeeker {
  /** The lock; `null` while another process or caller holds it. Never waits. */
  tryLock(): FileLock | null
  /** Gives up. Not needed once the lock was had. */
  close(): void
}

/**
 * A seeker of the lock `file`, an empty file that is made when missing and stays. The lock itself is SQLite's, thus one of the
 * operating system: it ends with its process, however that ends, so nobody has to judge whether a lock is stale. On a file system without
 * locks it is a second file, `FILE.held`, that only one process can make.
 * @throws HermesError `files.not_writable`; `files.no_lock_engine` where the optional peer `better-sqlite3` is not installed
 */
export async function seekLock(file: string): Promise<LockSeeker> {
  const { default: Database } = await import('better-sqlite3').catch((cause: unknown) => {
    throw new HermesError('Short locks need the package better-sqlite3; install it.', {
      code: 'files.no_lock_engine',
      cause,
    })
  })
  try {
    await makePrivate(file)
    const database = new Database(file, { timeout: 0 })
    const close = () => void database.close()
    let isWithoutLocks: boolean | null = null
    const tryLock = () => {
      if (isWithoutLocks) return lockByFile(file, close)
      try {
        lock(database)
        return { release: close }
      } catch (error) {
        if (isLockFailure(error)) {
          isWithoutLocks ??= !canLock(new Database(`${file}.${process.pid}`, { timeout: 0 }))
          if (isWithoutLocks) return lockByFile(file, close)
          if ((error as { code?: unknown }).code === 'SQLITE_BUSY') return null
        }
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
 * Runs `work` while this caller alone holds the lock `file`, see {@link seekLock}. Waits for it `waitMs` (default 15,000), or until `signal`
 * is aborted.
 * @throws HermesError `files.locked` (retryable) with `busy` as its line when the lock was not free in time; `files.not_writable`
 */
export async function withLock<T>(
  file: string,
  {
    busy,
    waitMs = WAIT_MS,
    signal,
  }: { readonly busy: string; readonly waitMs?: number; readonly signal?: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const seeker = await seekLock(file)
  const untilMs = performance.now() + waitMs
  let lock = seeker.tryLock()
  try {
    while (!lock) {
      if (performance.now() > untilMs) throw new HermesError(busy, { code: 'files.locked', retryable: true })
      await delay(5 + Math.random() * 20, undefined, { signal })
      lock = seeker.tryLock()
    }
  } finally {
    if (!lock) seeker.close()
  }
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** The lock file never holds anything, so no journal has to survive a crash. */
function lock(database: Engine): void {
  database.exec('PRAGMA journal_mode = memory; BEGIN EXCLUSIVE')
}

/** Where there are no locks the engine says that the file is busy, or that it cannot be locked. */
function isLockFailure(error: unknown): boolean {
  return /^SQLITE_(BUSY|IOERR_\w*LOCK)/.test(String((error as { code?: unknown }).code))
}

/** Of a file that nobody else knows; it goes. */
function canLock(scratch: Engine): boolean {
  try {
    lock(scratch)
    return true
  } catch {
    return false
  } finally {
    scratch.close()
    rmSync(scratch.name, { force: true })
  }
}

/** `null` while somebody else holds it. */
function lockByFile(file: string, close: () => void): FileLock | null {
  const lockFile = `${file}.held`
  const mine = `${process.pid}@${hostname()} ${performance.now()}`
  if (!make(lockFile, mine) && !(isAbandoned(lockFile) && make(lockFile, mine))) return null
  const release = () => {
    rmSync(lockFile, { force: true })
    close()
  }
  return { release }
}

function make(lockFile: string, holder: string): boolean {
  try {
    writeFileSync(lockFile, holder, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw notWritable(lockFile, error)
  }
}

/** Puts aside what a process left that has ended. */
function isAbandoned(lockFile: string): boolean {
  try {
    const holder = readFileSync(lockFile, 'utf8')
    const [, pid, host] = /^(\d+)@(\S*) /.exec(holder) ?? []
    const isOld = Date.now() - statSync(lockFile).mtimeMs > ABANDONED_MS
    if (!isOld && !(host === hostname() && hasEnded(Number(pid)))) return false
    const aside = `${lockFile}.${process.pid}`
    renameSync(lockFile, aside)
    // Somebody else may have been quicker, and have made it anew.
    if (readFileSync(aside, 'utf8') !== holder) renameSync(aside, lockFile)
    else rmSync(aside)
    return true
  } catch {
    return true
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** A file that is there is not opened: the system ends all locks of a process on a file when it closes the file anywhere. */
async function makePrivate(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  try {
    await (await open(file, 'wx', 0o600)).close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function notWritable(file: string, cause: unknown): HermesError {
  return new HermesError(`Cannot lock ${file}: ${errorLine(cause)}.`, { code: 'files.not_writable', cause })
}
