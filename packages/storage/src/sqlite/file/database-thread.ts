import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { HermesError } from '@hermes/contracts'
import { toStoreError } from './store-error.js'

const BUSY_WAIT_MS = 5_000
// Kept as text, so that bundles need no further file. It has no connection to anything but the file.
const RUN = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.engine)
const statements = new Map()
let database
parentPort.on('message', ({ id, sql, parameters, isWhole }) => {
  try {
    database ??= new Database(workerData.path, { timeout: ${BUSY_WAIT_MS} })
    if (!statements.has(sql)) statements.set(sql, database.prepare(sql))
    const statement = statements.get(sql)
    if (statement.reader) parentPort.postMessage({ id, values: statement.pluck(!isWhole).all(...parameters) })
    else parentPort.postMessage({ id, values: statement.run(...parameters) && [] })
  } catch (error) {
    parentPort.postMessage({ id, code: error.code, message: error.message })
  }
})
`

type Value = number | string

type Answer =
  | { readonly id: number; readonly values: unknown[] }
  | { readonly id: number; readonly code: string; readonly message: string }

interface Question {
  readonly resolve: (values: unknown[]) => void
  readonly reject: (error: HermesError) => void
}

/** Runs statements that may take long in a thread with a connection of its own, which starts with the first and keeps no process alive. */
export class DatabaseThread {
  readonly #path: string
  readonly #open = new Map<number, Question>()
  #worker: Worker | null = null
  #last = 0
  #isClosed = false

  constructor(path: string) {
    this.#path = path
  }

  /** The first column of what `sql` gives; nothing for what changes something. Rejects with `store.*`. */
  column<Kind extends Value = number>(sql: string, parameters: readonly Value[]): Promise<Kind[]> {
    return this.#ask({ sql, parameters, isWhole: false }) as Promise<Kind[]>
  }

  /** All columns of what `sql` gives. Rejects with `store.*`. */
  rows<Row extends object>(sql: string, parameters: readonly Value[]): Promise<Row[]> {
    return this.#ask({ sql, parameters, isWhole: true }) as Promise<Row[]>
  }

  #ask(question: {
    readonly sql: string
    readonly parameters: readonly Value[]
    readonly isWhole: boolean
  }): Promise<unknown[]> {
    if (this.#isClosed) return Promise.reject(this.#closed())
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve, reject })
      worker.ref()
      worker.postMessage({ id, ...question })
    })
  }

  /** Ends the thread; what is under way is given up with `store.closed`. */
  async close(): Promise<void> {
    const worker = this.#worker
    this.#isClosed = true
    this.#giveUp(this.#closed())
    await worker?.terminate()
  }

  #start(): Worker {
    const engine = createRequire(import.meta.url).resolve('better-sqlite3')
    const worker = new Worker(RUN, { eval: true, execArgv: [], workerData: { engine, path: this.#path } })
    worker.on('message', (answer: Answer) => this.#take(answer))
    worker.on('error', (error) => this.#giveUp(toStoreError(error, this.#path)))
    worker.unref()
    return worker
  }

  #take(answer: Answer): void {
    const question = this.#open.get(answer.id)
    this.#open.delete(answer.id)
    if (this.#open.size === 0) this.#worker?.unref()
    if ('values' in answer) question?.resolve(answer.values)
    else question?.reject(toStoreError(Object.assign(new Error(answer.message), { code: answer.code }), this.#path))
  }

  #closed(): HermesError {
    return new HermesError(`The store ${this.#path} is closed.`, { code: 'store.closed' })
  }

  #giveUp(error: HermesError): void {
    this.#worker = null
    for (const { reject } of this.#open.values()) reject(error)
    this.#open.clear()
  }
}
