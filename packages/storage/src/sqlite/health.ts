import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'

const MAX_PROBLEMS = 20
// Kept as text, so that bundles need no further file. It has no connection to anything but the file.
const CHECK = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.engine)
let lines
try {
  const database = new Database(workerData.path, { readonly: true, timeout: 5000 })
  lines = database.pragma(workerData.pragma).map((row) => Object.values(row)[0]).filter((line) => line !== 'ok')
  database.close()
} catch (error) {
  lines = [error.message]
  if (/^SQLITE_(BUSY|LOCKED)/.test(error.code)) lines = []
}
parentPort.postMessage(lines)
`

/** Whether a log lies beside the file, as after a kill, or while another process has it open. Asked before opening it. */
export function hasLeftOverLog(path: string): boolean {
  return ['-wal', '-journal'].some((suffix) => (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0) > 0)
}

/**
 * What is wrong with the file, one line each; empty when it is sound. Reads all of it, in a thread of its own. `quick` leaves out whether
 * indexes agree with their tables; `isBackground` keeps no process alive for it.
 */
export function checkFile(
  path: string,
  { quick, isBackground = false }: { readonly quick: boolean; readonly isBackground?: boolean },
): Promise<readonly string[]> {
  const engine = createRequire(import.meta.url).resolve('better-sqlite3')
  const pragma = `${quick ? 'quick_check' : 'integrity_check'}(${MAX_PROBLEMS})`
  const worker = new Worker(CHECK, { eval: true, workerData: { engine, path, pragma } })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => resolve([]))
    if (isBackground) worker.unref()
  })
}
