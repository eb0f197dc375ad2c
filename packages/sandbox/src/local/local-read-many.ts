import { Worker } from 'node:worker_threads'
import type { FileContent, ReadManyOptions } from '@hermes/contracts/environment'
import { readBytes } from './local-read.js'

/** A thread takes as long to start as this many files to read. */
const FILES_WITHOUT_THREAD = 500
const THREADS = 2
const READS_AT_ONCE = 8
const FILES_PER_BATCH = 256
/** The threads have something to do while an answer is looked at. */
const BATCHES_AHEAD = 3
const ANSWER_BYTES = 1_048_576

// Kept as text, so that bundles need no further file. Without waiting for a thread pool a file takes a fourth of the time.
const RUN = `
const { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } = require('node:fs')
const { parentPort, workerData } = require('node:worker_threads')
const { folder, maxBytes, containing } = workerData
// A pipe is opened without waiting for its other end, a terminal without becoming this program's own.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)
const sought = containing?.map((bytes) => Buffer.from(bytes))
let buffer = Buffer.allocUnsafeSlow(${2 * ANSWER_BYTES})

/** Whether what is open was reached by its path without links; a file that another one took the place of since was. */
function isThere(file, path) {
  if (process.platform !== 'linux') return realpathSync(path) === path
  const real = readlinkSync('/proc/self/fd/' + file)
  return real === path || real === path + ' (deleted)'
}

/** Where the content that was read to 'start' ends; null for a file that is left out. */
function read(path, start) {
  let file
  try {
    file = openSync(path, FLAGS)
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > maxBytes) return null
    let end = start
    // A size of 0 tells nothing: files of /proc have it.
    while (stat.size === 0 || end - start < stat.size) {
      if (end === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length)
      const bytesRead = readSync(file, buffer, end, buffer.length - end, null)
      if (bytesRead === 0) break
      end += bytesRead
      if (end - start > maxBytes) return null
    }
    const bytes = buffer.subarray(start, end)
    const isWanted = !sought || sought.some((text) => bytes.includes(text))
    return isWanted && isThere(file, path) ? end : null
  } catch {
    return null
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

parentPort.on('message', (paths) => {
  const found = []
  let [start, done] = [0, 0]
  while (done < paths.length && start < ${ANSWER_BYTES}) {
    const path = paths[done++]
    const end = read(folder + path, start)
    if (end === null) continue
    found.push({ path, start, end })
    start = end
  }
  const bytes = new Uint8Array(buffer.subarray(0, start))
  parentPort.postMessage({ found, bytes, rest: paths.slice(done) }, [bytes.buffer])
})
`

interface Answer {
  readonly found: readonly { readonly path: string; readonly start: number; readonly end: number }[]
  readonly bytes: Uint8Array
  /** Not looked at yet: the answer was full. */
  readonly rest: readonly string[]
}

/** A batch on its way; the answer is `null` when there is no thread. */
interface Requested {
  readonly batch: readonly string[]
  readonly answer: Promise<Answer | null>
}

/** `Environment.readMany` on this machine. Threads read what comes after the first `threadAfter` files; for tests. */
export async function* readMany(
  folder: string,
  paths: AsyncIterable<readonly string[]>,
  options: ReadManyOptions,
  threadAfter: number = FILES_WITHOUT_THREAD,
): AsyncGenerator<readonly FileContent[]> {
  const reader = new Reader(folder, options)
  const requested: Requested[] = []
  let seen = 0
  try {
    for await (const batch of inBatches(paths)) {
      options.signal.throwIfAborted()
      seen += batch.length
      if (seen <= threadAfter) yield await reader.readHere(batch)
      else requested.push(reader.ask(batch))
      if (requested.length > BATCHES_AHEAD) yield* reader.contents(requested.shift()!)
    }
    for (const one of requested) yield* reader.contents(one)
  } finally {
    await reader.close()
  }
}

async function* inBatches(paths: AsyncIterable<readonly string[]>): AsyncGenerator<readonly string[]> {
  let batch: string[] = []
  for await (const some of paths)
    for (const path of some) {
      if (batch.push(path) < FILES_PER_BATCH) continue
      yield batch
      batch = []
    }
  if (batch.length > 0) yield batch
}

/** One thread that reads; it starts at once. */
class ReadingThread {
  readonly #waiting: ((answer: Answer | null) => void)[] = []
  #worker: Worker | null = null

  constructor(workerData: unknown) {
    try {
      this.#worker = new Worker(RUN, { eval: true, execArgv: [], env: {}, workerData })
      this.#worker.on('message', (answer: Answer) => this.#waiting.shift()?.(answer))
      this.#worker.on('error', () => void this.end())
    } catch {
      // No thread may be started here.
    }
  }

  /** Answers come in the order of questions: `null` once the thread is gone, or when it could not be started. */
  ask(batch: readonly string[]): Promise<Answer | null> {
    const worker = this.#worker
    if (!worker) return Promise.resolve(null)
    const answer = new Promise<Answer | null>((resolve) => this.#waiting.push(resolve))
    worker.postMessage(batch)
    return answer
  }

  async end(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    for (const resolve of this.#waiting.splice(0)) resolve(null)
    worker?.unref()
    await worker?.terminate()
  }
}

/** Reads with threads of its own, from when they are first asked. */
class Reader {
  readonly #folder: string
  readonly #options: ReadManyOptions
  readonly #containing: readonly Buffer[] | undefined
  readonly #threads: ReadingThread[] = []
  readonly #onAbort = () => void this.#end()
  #requested = 0

  constructor(folder: string, options: ReadManyOptions) {
    this.#folder = folder.endsWith('/') ? folder : `${folder}/`
    this.#options = options
    this.#containing = options.containing?.map((bytes) => Buffer.from(bytes))
    options.signal.addEventListener('abort', this.#onAbort)
  }

  /** The threads take turns. */
  ask(batch: readonly string[]): Requested {
    const workerData = { folder: this.#folder, maxBytes: this.#options.maxBytes, containing: this.#containing }
    const thread = (this.#threads[this.#requested++ % THREADS] ??= new ReadingThread(workerData))
    return { batch, answer: thread.ask(batch) }
  }

  async *contents(requested: Requested): AsyncGenerator<readonly FileContent[]> {
    for (let one: Requested | null = requested; one; ) {
      const answer: Answer | null = await one.answer
      this.#options.signal.throwIfAborted()
      // Without a thread it is merely slower.
      if (!answer) return yield await this.readHere(one.batch)
      one = answer.rest.length > 0 ? this.ask(answer.rest) : null
      yield answer.found.map(({ path, start, end }) => ({ path, bytes: answer.bytes.subarray(start, end) }))
    }
  }

  async readHere(batch: readonly string[]): Promise<readonly FileContent[]> {
    const { maxBytes, signal } = this.#options
    const found: FileContent[] = []
    for (let start = 0; start < batch.length; start += READS_AT_ONCE) {
      signal.throwIfAborted()
      const reads = batch.slice(start, start + READS_AT_ONCE).map(async (path) => {
        const bytes = await readBytes(this.#folder + path, { length: maxBytes + 1, noLinks: true }).catch(() => null)
        if (!bytes || bytes.length > maxBytes) return []
        return this.#isWanted(bytes) ? [{ path, bytes }] : []
      })
      found.push(...(await Promise.all(reads)).flat())
    }
    return found
  }

  #isWanted(bytes: Uint8Array): boolean {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    return !this.#containing || this.#containing.some((text) => content.includes(text))
  }

  /** After an abort nobody waits for the threads: one may hang on a file system that does not answer. */
  async close(): Promise<void> {
    const { signal } = this.#options
    signal.removeEventListener('abort', this.#onAbort)
    const ended = this.#end()
    if (!signal.aborted) await ended
  }

  async #end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()))
  }
}
