import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Clock } from '@hermes/contracts'
import type { BackgroundProcess, ProcessInfo, ProcessObserver } from '@hermes/contracts/environment'
import type { ProcessHandle } from './process-handle.js'
import { readLog } from './process-log.js'
import type { ProcessFiles, ProcessRecord, RemoteProcessId } from './process-record.js'
import { readExit } from './process-record.js'
import { groupExists, killTree, processStartTime } from './process-tree.js'

const POLL_MS = 100
const OBSERVE_MS = 200
/** How long it may take to hear from another side that a process there is gone. */
const REMOTE_END_MS = 5_000

interface TrackedProcessOptions {
  readonly record: ProcessRecord
  readonly files: ProcessFiles
  /** `null` for a process found again: it is nobody's child, so its end is seen by looking. */
  readonly handle: ProcessHandle | null
  readonly clock: Clock
  /** Told when the record changed. */
  readonly save: (record: ProcessRecord) => void
  /** Ends the tree of a process on another side. */
  readonly killRemote?: ((process: RemoteProcessId) => Promise<void>) | undefined
}

/** One background process of the table, started here or found again. */
export class TrackedProcess implements BackgroundProcess {
  readonly #options: TrackedProcessOptions
  #record: ProcessRecord
  readonly #ended: Promise<void> | null
  readonly #observers = new Set<{ readonly observer: ProcessObserver; readonly follower: LogFollower }>()
  #timer: NodeJS.Timeout | null = null

  constructor(options: TrackedProcessOptions) {
    this.#options = options
    this.#record = options.record
    const { handle } = options
    this.#ended =
      handle &&
      new Promise((resolve) => {
        handle.onExit((exitCode, signal) => {
          this.#end(exitCode, signal, options.clock.now())
          resolve()
        })
      })
  }

  info(): ProcessInfo {
    this.#look()
    const { startTime: _startTime, owner: _owner, job: _job, far, ...info } = this.#record
    return far ? { ...info, pid: far.pid } : info
  }

  output(): string {
    return readLog(this.#options.files.log)
  }

  async wait(
    options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<ProcessInfo | null> {
    const { clock, handle } = this.#options
    options.signal?.throwIfAborted()
    if (this.info().status === 'exited') return this.info()
    const done = new AbortController()
    const stop = options.signal ? AbortSignal.any([options.signal, done.signal]) : done.signal
    // A child that nobody waits for does not keep the program alive; one that is waited for does.
    handle?.keepAlive(true)
    try {
      const ended = (this.#ended ?? this.#poll(stop)).then(() => this.info())
      const limits = [clock.sleep(options.timeoutMs ?? 2 ** 31 - 1, stop).then(() => null)]
      return await Promise.race([ended, ...limits])
    } finally {
      done.abort()
      handle?.keepAlive(false)
    }
  }

  write(text: string): boolean {
    return this.#record.status === 'running' && (this.#options.handle?.write(text) ?? false)
  }

  closeInput(): void {
    this.#options.handle?.closeInput()
  }

  observe(observer: ProcessObserver): () => void {
    const entry = { observer, follower: new LogFollower(this.#options.files.log) }
    this.#observers.add(entry)
    this.#timer ??= setInterval(() => this.#tell(), OBSERVE_MS).unref()
    return () => void this.#observers.delete(entry)
  }

  /** Lets all observers go untold. */
  unobserve(): void {
    this.#observers.clear()
  }

  async kill(): Promise<void> {
    const { pid, startTime, status, far, job } = this.#record
    if (far) {
      await this.#options.killRemote?.(far)
      await this.wait({ timeoutMs: job === undefined ? 1_000 : REMOTE_END_MS })
      if (this.#record.status === 'exited' || job !== undefined) return
    }
    if (status === 'exited' && !groupExists(pid)) return
    await killTree(pid, { clock: this.#options.clock, startTime: startTime || undefined })
    await this.wait({ timeoutMs: 1_000 })
  }

  /** Says which process on another side this client stands for. */
  standFor(far: RemoteProcessId): void {
    this.#change({ far })
  }

  /** Passes the process to `owner`, or to whoever finds it. */
  own(owner: ProcessRecord['owner']): void {
    this.#change({ owner })
  }

  /** In the order they came, so that who comes last can tell that the others know. */
  #tell(): void {
    const info = this.info()
    for (const entry of this.#observers) {
      const { observer, follower } = entry
      if (observer.onOutput) follower.read((text) => this.#observers.has(entry) && observer.onOutput?.(text))
      if (info.status === 'exited' && this.#observers.delete(entry)) observer.onExit?.(info)
    }
    if (this.#observers.size > 0 || !this.#timer) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #look(): void {
    const { pid, startTime, status } = this.#record
    if (this.#options.handle || status === 'exited' || processStartTime(pid) === startTime) return
    const exit = readExit(this.#options.files)
    this.#end(exit?.exitCode ?? null, null, exit?.atMs ?? this.#options.clock.now())
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (this.info().status === 'running') await this.#options.clock.sleep(POLL_MS, signal)
  }

  #end(exitCode: number | null, signal: string | null, endedAtMs: number): void {
    this.#change({ status: 'exited', exitCode, signal, endedAtMs })
  }

  #change(change: Partial<ProcessRecord>): void {
    this.#record = { ...this.#record, ...change }
    this.#options.save(this.#record)
  }
}

const CHUNK_BYTES = 64 * 1024
/** What is more than this behind is passed over: the log itself still has it. */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024

/** Reads what is added to a log. */
class LogFollower {
  readonly #path: string
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  #position: number

  /** Begins at the end of what is there. */
  constructor(path: string) {
    this.#path = path
    this.#position = this.#open((_, size) => size) ?? 0
  }

  /** Gives what was added since the last time, in pieces. */
  read(listener: (text: string) => void): void {
    this.#open((descriptor, size) => {
      // The log was cut to its end, which was read already.
      if (size < this.#position) this.#position = size
      this.#position = Math.max(this.#position, size - MAX_BEHIND_BYTES)
      const buffer = Buffer.alloc(CHUNK_BYTES)
      while (this.#position < size) {
        const read = readSync(descriptor, buffer, 0, Math.min(buffer.length, size - this.#position), this.#position)
        if (read === 0) return
        this.#position += read
        const text = this.#decoder.decode(buffer.subarray(0, read), { stream: true })
        if (text !== '') listener(text)
      }
    })
  }

  #open<T>(use: (descriptor: number, size: number) => T): T | null {
    let descriptor: number
    try {
      descriptor = openSync(this.#path, 'r')
    } catch {
      return null
    }
    try {
      return use(descriptor, fstatSync(descriptor).size)
    } finally {
      closeSync(descriptor)
    }
  }
}
