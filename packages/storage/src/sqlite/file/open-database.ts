import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { silentLogger, systemClock } from '@hermes/contracts'
import Database from 'better-sqlite3'
import type { SqliteOptions } from '../../storage.js'
import { backUp, type FoundSchema, inspectSchema, isCurrent, isNewer, migrate } from '../schema/migrate.js'
import { SCHEMA_VERSION } from '../schema/schema-sql.js'
import { Connection, type OpenFile } from './connection.js'
import { setJournal } from './journal.js'
import type { SingleProcessLock } from './single-process-lock.js'
import { toStoreError } from './store-error.js'

/**
 * How long SQLite itself may wait, which blocks the event loop: enough for the commit of another process, no more. Longer waits
 * are the connection's, without blocking.
 */
const BLOCKING_WAIT_MS = 10

/**
 * Opens or makes the file, brings its schema up to date, and hands out the one connection to it. A file of a newer program stays as
 * it is, its sessions are opened beside it.
 */
export async function openDatabase(options: SqliteOptions): Promise<Connection> {
  const path = resolve(options.path)
  const logger = options.logger ?? silentLogger
  const file = await openFile(path)
  const { database, owner } = file
  const connection = new Connection({ path, clock: options.clock ?? systemClock, logger, ...file })
  try {
    const found = await connection.read(() => inspectSchema(database, path))
    if (isNewer(found)) {
      close(database, owner)
      const { importNewer } = await import('./import-newer.js')
      const { onNotice } = options
      return await openDatabase({ ...options, path: await importNewer(path, found.shared!, { logger, onNotice }) })
    }
    const journal = connection.isAlone ? 'delete' : (options.journal ?? 'wal')
    const { sync = 'normal' } = options
    await connection.outside(() => setJournal(database, { path, journal, sync, logger }))
    database.pragma('foreign_keys = ON')
    if (!isCurrent(found)) {
      const backup = await connection.outside(() => backUpIfOlder(database, path, found))
      if (backup) logger.info('upgrading the store', { path, from: found.shared, to: SCHEMA_VERSION, backup })
      await connection.write(() => migrate(database, path))
    }
    return connection
  } catch (error) {
    close(database, owner)
    throw toStoreError(error, path)
  }
}

function close(database: OpenFile, owner: SingleProcessLock | undefined): void {
  database.close()
  owner?.release()
}

/** Where the file system has no locks, without any. */
async function openFile(path: string): Promise<{ readonly database: OpenFile; readonly owner?: SingleProcessLock }> {
  const database = openShared(path)
  try {
    database.pragma('schema_version')
  } catch (error) {
    const { hasNoLocks, openAlone } = await import('./open-alone.js')
    if (hasNoLocks(error, path)) {
      database.close()
      return openAlone(path)
    }
  }
  return { database }
}

/**
 * The file is made before SQLite sees it, so that it and the files beside it are readable by its owner only; and opened for
 * writing, because SQLite would silently go on read-only. A file that is there is never opened past SQLite: closing it again would
 * take away the locks that other connections of this process have on it, and their log with them.
 */
function openShared(path: string): Database.Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
    accessSync(dirname(path), constants.W_OK)
    return new Database(path, { timeout: BLOCKING_WAIT_MS })
  } catch (error) {
    throw toStoreError(error, path)
  }
}

function backUpIfOlder(database: OpenFile, path: string, found: FoundSchema): string | null {
  return found.shared === null ? null : backUp(database, path, found)
}

/** Whether a log lies beside the file, as after a kill or while others have it open, or a mark that says so. Asked before opening it. */
export function isCheckDue(path: string): boolean {
  return ['-wal', '-journal', '.unchecked'].some(
    (suffix) => (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0) > 0,
  )
}
