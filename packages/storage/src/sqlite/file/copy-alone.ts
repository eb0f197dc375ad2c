import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { processIdentity, shortIdentity } from '../../shared/process-identity.js'
import { openAlone } from './open-alone.js'
import { inUse, singleProcessLock, takeAlone } from './single-process-lock.js'

/**
 * Copies a database on a file system without locks. This process may have it open: no transaction goes on while the file is copied, and
 * what is committed is in it. @throws HermesError `store.in_use` while another process has it open.
 */
export async function copyAlone(from: string, to: string): Promise<void> {
  const holder = singleProcessLock(from)
  if (holder === null) await copyUnused(from, to)
  else if (shortIdentity(holder) === shortIdentity(processIdentity())) copyFileSync(from, to)
  else throw inUse(from, holder)
}

/** Opening it first takes back what a kill left half done. */
async function copyUnused(from: string, to: string): Promise<void> {
  const { database, owner } = await openAlone(from)
  try {
    database.pragma('schema_version')
    database.close()
    copyFileSync(from, to)
  } finally {
    database.close()
    owner.release()
  }
}

/** Puts a copy in place of a database that nobody has open, in one step. @throws HermesError `store.in_use`. */
export function replaceAlone(copy: string, path: string): void {
  const owner = takeAlone(path)
  const partial = `${path}.restoring`
  try {
    copyFileSync(copy, partial)
    for (const suffix of ['-journal', '-wal', '-shm']) rmSync(path + suffix, { force: true })
    renameSync(partial, path)
  } finally {
    rmSync(partial, { force: true })
    owner.release()
  }
}
