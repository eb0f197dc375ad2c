import { errorLine, HermesError } from '@hermes/contracts'

const UNWRITABLE =
  /^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|SQLITE_AUTH|EACCES|EPERM|EROFS|ENOTDIR|EISDIR|ENOENT|EEXIST)/

/** The code of whatever SQLite or the file system threw; empty when there is none. */
function nativeCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Whether another connection was in the way, so that trying again makes sense. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(nativeCode(error))
}

/** One line for a person and a stable code, from whatever SQLite or the file system threw. */
export function toStoreError(error: unknown, path: string): HermesError {
  if (HermesError.isInstance(error)) return error
  const code = nativeCode(error)
  const make = (storeCode: string, message: string, retryable = false) =>
    new HermesError(message, { code: storeCode, retryable, details: { path, native: code }, cause: error })
  if (isBusy(error)) {
    return make('store.busy', `${path} is locked by other processes; try again, or end them.`, true)
  }
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return make(
      'store.corrupt',
      `${path} is damaged or not a SQLite database; restore a backup, or save what can be read: hermes backup --help`,
    )
  }
  if (/^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT)/.test(code)) {
    return make('store.disk_full', `No space left to write ${path}; free some and try again.`, true)
  }
  if (UNWRITABLE.test(code)) {
    return make(
      'store.unwritable',
      `${path} cannot be opened for writing (${errorLine(error)}); check its permissions.`,
    )
  }
  return make('store.failed', `${path}: ${errorLine(error)}`)
}

/** A check found the file damaged; `problem` is the first of what it found. */
export function damaged(path: string, problem: string): HermesError {
  return new HermesError(
    `${path} is damaged (${problem}) and is only read from now on; restore a backup, or save what can be read: hermes backup --help`,
    { code: 'store.damaged', details: { path, problem } },
  )
}
