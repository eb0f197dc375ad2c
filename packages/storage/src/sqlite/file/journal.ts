import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { errorLine, type Logger } from '@hermes/contracts'
import type { OpenFile } from './connection.js'

/** 64 MB of log. The word index sees to it that it rarely comes to that. */
const CHECKPOINT_PAGES = 16_000
/** What the log is cut back to once it has grown beyond. */
const MAX_LOG_BYTES = 64_000_000

/** Commits that wait for the disk follow each other so closely that a shorter wait may never find a gap. */
const PATIENT_WAIT_MS = 40

// Magic numbers of statfs(2) on Linux: NFS, SMB (three), 9P, AFS, Ceph, Lustre and FUSE, behind which anything may be.
const SHARED_FILE_SYSTEMS = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x5346414f, 0x00c36400, 0x0bd00bd0, 0x65735546,
])

/** How the file is kept whole. */
interface JournalOptions {
  readonly path: string
  readonly journal: 'wal' | 'delete'
  readonly sync: 'normal' | 'full'
  readonly logger: Logger
  /** What kind of file system a folder is on: the magic number of statfs(2). Default: what the system says. */
  readonly fileSystemOf?: (folder: string) => number
}

/**
 * With a write-ahead log a commit under NORMAL needs no fsync and survives a kill. SQLite moves the log into the file by itself every
 * so many pages and when the last connection closes; that waits for the disk, so it is made rarer than by default. The log needs
 * memory shared by all processes, which file systems of other machines do not have: there, and where it does not come about, the
 * older journal keeps the file whole, with an fsync for every commit.
 */
export function setJournal(database: OpenFile, options: JournalOptions): void {
  const { path, journal, sync, logger, fileSystemOf = (folder) => statfsSync(folder).type } = options
  const isShared = journal === 'wal' && isOnSharedFileSystem(path, fileSystemOf)
  if (isShared)
    logger.warn('the store is on a network file system: no write-ahead log, appends wait for the disk', { path })
  const mode = journal === 'delete' || isShared ? setMode(database, 'DELETE') : writeAhead(database, path, logger)
  if (mode !== 'wal') database.pragma(`busy_timeout = ${PATIENT_WAIT_MS}`)
  database.pragma(`synchronous = ${sync === 'full' || mode !== 'wal' ? 'FULL' : 'NORMAL'}`)
  database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  database.pragma(`journal_size_limit = ${MAX_LOG_BYTES}`)
}

function writeAhead(database: OpenFile, path: string, logger: Logger): string {
  try {
    return setMode(database, 'WAL')
  } catch (error) {
    const code = String((error as { code?: unknown }).code)
    if (!/^SQLITE_(IOERR|CANTOPEN|PROTOCOL|NOLFS)/.test(code)) throw error
    logger.warn('the store works without a write-ahead log, appends wait for the disk', {
      path,
      error: errorLine(error),
    })
    return setMode(database, 'DELETE')
  }
}

function setMode(database: OpenFile, mode: 'WAL' | 'DELETE'): string {
  return database.pragma(`journal_mode = ${mode}`, { simple: true }) as string
}

function isOnSharedFileSystem(path: string, fileSystemOf: (folder: string) => number): boolean {
  if (process.platform !== 'linux') return false
  try {
    return SHARED_FILE_SYSTEMS.has(fileSystemOf(dirname(path)) >>> 0)
  } catch {
    return false
  }
}
