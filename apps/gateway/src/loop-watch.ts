// Ends a process whose event loop stands still: nothing in it can say so any more, and a supervisor starts it again.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const LOOK_EVERY_MS = 30_000
const STRIKES = 3

// Kept as text, so that bundles need no further file. Output of a thread goes by the loop that stands still, so it writes past it.
const RUN = `
const { workerData: { beats, lookEveryMs, strikes } } = require('node:worker_threads')
const { writeSync } = require('node:fs')
let [seen, missed] = [Atomics.load(beats, 0), 0]
setInterval(() => {
  const now = Atomics.load(beats, 0)
  missed = now === seen ? missed + 1 : 0
  seen = now
  if (missed === 0) return
  try { writeSync(2, 'hermes gateway: The event loop has stood still for ' + missed * lookEveryMs / 1000 + ' s' + (missed < strikes ? '.' : '; the process is ended.') + '\\n') } catch {}
  if (missed >= strikes) process.kill(process.pid, 'SIGKILL')
}, lookEveryMs)
`

/** Watches the loop of this thread. Resolves with how to end that. */
export async function watchLoop({ lookEveryMs = LOOK_EVERY_MS, strikes = STRIKES } = {}): Promise<() => Promise<void>> {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const worker = new Worker(RUN, { eval: true, execArgv: [], workerData: { beats, lookEveryMs, strikes } })
  // Without it all goes on as before.
  worker.on('error', () => undefined)
  await once(worker, 'online')
  worker.unref()
  const timer = setInterval(() => Atomics.add(beats, 0, 1), lookEveryMs / 4)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await worker.terminate()
  }
}
