import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { errorLine } from '@hermes/contracts'
import type { Statement } from 'better-sqlite3'
import type { Connection, OpenFile } from './connection.js'
import { realPath } from './open-files.js'

const MAX_PROBLEMS = 20
// Kept as text, so that bundles need no further file. It has no connection to anything but the file.
const CHECK = `
const { parentPort, workerData } = require('node:worker_threads')
const { readdirSync, readlinkSync, rmSync, writeFileSync } = require('node:fs')
const Database = require(workerData.engine)
const attempt = (work, otherwise) => { try { return work() } catch { return otherwise } }
const hasOpen = (pid) => attempt(() => readdirSync('/proc/' + pid + '/fd'), [])
  .some((fd) => attempt(() => readlinkSync('/proc/' + pid + '/fd/' + fd), '') === workerData.path)
const isUsed = () => attempt(() => readdirSync('/proc'), [])
  .some((pid) => /^\\d+$/.test(pid) && Number(pid) !== process.pid && hasOpen(pid))
let lines = []
const { marker } = workerData
if (marker === null || !isUsed()) try {
  if (marker !== null) attempt(() => writeFileSync(marker, 'The database beside this was not looked at since an unclean end.\\n'))
  const database = new Database(workerData.path, { readonly: true, timeout: 5000 })
  lines = database.pragma(workerData.pragma).map((row) => Object.values(row)[0]).filter((line) => line !== 'ok')
  database.close()
  if (marker !== null && lines.length === 0) attempt(() => rmSync(marker, { force: true }))
} catch (error) {
  lines = [error.message]
  if (/^SQLITE_(BUSY|LOCKED)/.test(error.code)) lines = []
}
parentPort.postMessage(lines)
`

/**
 * What is wrong with the file, one line each; empty when it is sound. Reads all of it, in a thread of its own. `quick` leaves out whether
 * indexes agree with their tables. `isBackground` keeps no process alive for it, and takes a file that others have open for sound: what
 * lies beside it is theirs. A mark beside the file, `PATH.unchecked`, stays until it was found sound, so that a process that ends before leaves the
 * look to the next one, and a damaged file is not written again after a clean end.
 */
export function checkFile(
  path: string,
  { quick, isBackground = false }: { readonly quick: boolean; readonly isBackground?: boolean },
): Promise<readonly string[]> {
  const engine = createRequire(import.meta.url).resolve('better-sqlite3')
  const pragma = checkOf(quick)
  const worker = new Worker(CHECK, {
    eval: true,
    workerData: { engine, path: realPath(path), pragma, marker: isBackground ? `${path}.unchecked` : null },
  })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => resolve([]))
    if (isBackground) worker.unref()
  })
}

/** The same of a copy that nobody writes, on a file system without locks. Holds up everything else meanwhile. */
export async function checkCopy(path: string, { quick }: { readonly quick: boolean }): Promise<readonly string[]> {
  const database = await openCopy(path)
  try {
    return problemsIn(database.prepare(`PRAGMA ${checkOf(quick)}`))
  } catch (error) {
    return [errorLine(error)]
  } finally {
    database.close()
  }
}

/** A copy that nobody writes, on a file system without locks. */
export async function openCopy(path: string): Promise<OpenFile> {
  const { openLockless } = await import('./lockless-database.js')
  return openLockless(path, { immutable: true })
}

/** The same by the connection that has the file open, where it is the only one that may. Holds up everything else meanwhile. */
export function checkOpenFile(
  connection: Connection,
  { quick }: { readonly quick: boolean },
): Promise<readonly string[]> {
  return connection.outside(() => problemsIn(connection.statement(`PRAGMA ${checkOf(quick)}`)))
}

function problemsIn(check: Statement): readonly string[] {
  return (check.pluck().all() as string[]).filter((line) => line !== 'ok')
}

function checkOf(quick: boolean): string {
  return `${quick ? 'quick_check' : 'integrity_check'}(${MAX_PROBLEMS})`
}
