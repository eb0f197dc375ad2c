import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import type { OpenFile } from './connection.js'
import { type SingleProcessLock, takeAlone } from './single-process-lock.js'

// Of ENOLCK the engine makes a file that is busy, of other answers an error of input and output.
const MAY_BE_NO_LOCKS = /^SQLITE_(BUSY|PROTOCOL|IOERR_\w*LOCK)/

/** Whether `error`, of opening `path`, comes of a file system that has no locks: nobody else can have a file that was made just now. */
export function hasNoLocks(error: unknown, path: string): boolean {
  if (!isLockFailure(error)) return false
  const scratch = `${path}.locks-${process.pid}`
  try {
    const database = new Database(scratch, { timeout: 0 })
    try {
      database.exec('BEGIN EXCLUSIVE; COMMIT')
      return false
    } finally {
      database.close()
    }
  } catch (failure) {
    return isLockFailure(failure)
  } finally {
    for (const suffix of ['', '-journal']) rmSync(scratch + suffix, { force: true })
  }
}

/** Whether `path`, which is there, is on a file system without locks. */
export function isWithoutLocks(path: string): boolean {
  const database = new Database(path, { readonly: true, timeout: 0 })
  try {
    database.pragma('schema_version')
    return false
  } catch (error) {
    return hasNoLocks(error, path)
  } finally {
    database.close()
  }
}

/** A file without locks, for this process alone. @throws HermesError `store.in_use`. */
export async function openAlone(
  path: string,
): Promise<{ readonly database: OpenFile; readonly owner: SingleProcessLock }> {
  // Some versions of Node print a warning when the engine loads.
  const { openLockless } = await import('./lockless-database.js')
  const owner = takeAlone(path)
  try {
    return { database: openLockless(path), owner }
  } catch (error) {
    owner.release()
    throw error
  }
}

/** What a person should know of such a file. */
export function aloneNotice(path: string): string {
  return `The file system of ${dirname(path)} has no locks: one Hermes at a time can use the sessions there, and each message waits for the disk.`
}

function isLockFailure(error: unknown): boolean {
  return MAY_BE_NO_LOCKS.test(String((error as { readonly code?: unknown } | null)?.code))
}
