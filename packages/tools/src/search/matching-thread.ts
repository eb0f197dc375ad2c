import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

// Kept as text, so that bundles need no further file.
const RUN = `
const { parentPort, workerData: regex } = require('node:worker_threads')
parentPort.on('message', (files) => {
  parentPort.postMessage(files.map((lines) => lines.flatMap((line, number) => (regex.test(line) ? [number] : []))))
})
`

/** Matches lines apart from the event loop. */
export interface MatchingThread {
  /**
   * The numbers, from 0, of the lines that match, for each file; `null` after more than `limitMs`. Abort rejects with its reason.
   * After either of them the thread can only be ended.
   */
  match(
    files: readonly (readonly string[])[],
    options: { readonly limitMs: number; readonly signal: AbortSignal },
  ): Promise<readonly (readonly number[])[] | null>
  /** Whatever it is at. */
  end(): Promise<void>
}

/** `null` where no thread may be started. */
export async function startMatchingThread(regex: RegExp): Promise<MatchingThread | null> {
  const worker = await start(regex)
  return (
    worker && {
      async match(files, { limitMs, signal }) {
        const limit = AbortSignal.timeout(limitMs)
        worker.postMessage(files)
        try {
          const [hits] = await once(worker, 'message', { signal: AbortSignal.any([signal, limit]) })
          return hits as readonly (readonly number[])[]
        } catch (error) {
          signal.throwIfAborted()
          if (limit.aborted) return null
          throw error
        }
      },
      end: async () => void (await worker.terminate()),
    }
  )
}

async function start(regex: RegExp): Promise<Worker | null> {
  try {
    const worker = new Worker(RUN, { eval: true, execArgv: [], env: {}, workerData: regex })
    await once(worker, 'online')
    return worker
  } catch {
    return null
  }
}
