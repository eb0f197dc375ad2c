import type { ChildProcess } from 'node:child_process'
import type { Clock } from '@hermes/contracts'
import type { BackgroundProcess, ProcessInfo } from '@hermes/contracts/environment'
import { readLog } from './process-log.js'
import { type ProcessFiles, type ProcessRecord, readExit } from './process-record.js'
import { groupExists, killTree, processStartTime } from './process-tree.js'

const POLL_MS = 100

interface TrackedProcessOptions {
  readonly record: ProcessRecord
  readonly files: ProcessFiles
  /** `null` for a process found again: it is nobody's child, so its end is seen by looking. */
  readonly child: ChildProcess | null
  readonly clock: Clock
  /** Told when the record changed. */
  readonly save: (record: ProcessRecord) => void
}

/** One background process of the table, started here or found again. */
export class TrackedProcess implements BackgroundProcess {
  readonly #options: TrackedProcessOptions
  #record: ProcessRecord
  readonly #ended: Promise<void> | null

  constructor(options: TrackedProcessOptions) {
    this.#options = options
    this.#record = options.record
    const { child } = options
    this.#ended =
      child &&
      new Promise((resolve) => {
        child.once('exit', (exitCode, signal) => {
          this.#end(exitCode, signal, options.clock.now())
          resolve()
        })
      })
    child?.stdin?.on('error', () => undefined)
  }

  info(): ProcessInfo {
    this.#look()
    const { startTime: _startTime, owner: _owner, ...info } = this.#record
    return info
  }

  output(): string {
    return readLog(this.#options.files.log)
  }

  async wait(
    options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<ProcessInfo | null> {
    const { clock, child } = this.#options
    options.signal?.throwIfAborted()
    if (this.info().status === 'exited') return this.info()
    const done = new AbortController()
    const stop = options.signal ? AbortSignal.any([options.signal, done.signal]) : done.signal
    // A child that nobody waits for does not keep the program alive; one that is waited for does.
    child?.ref()
    try {
      const ended = (this.#ended ?? this.#poll(stop)).then(() => this.info())
      const limits = [clock.sleep(options.timeoutMs ?? 2 ** 31 - 1, stop).then(() => null)]
      return await Promise.race([ended, ...limits])
    } finally {
      done.abort()
      child?.unref()
    }
  }

  write(text: string): boolean {
    const stdin = this.#options.child?.stdin
    if (!stdin?.writable || this.#record.status === 'exited') return false
    stdin.write(text)
    return true
  }

  closeInput(): void {
    this.#options.child?.stdin?.end()
  }

  async kill(): Promise<void> {
    const { pid, startTime, status } = this.#record
    if (status === 'exited' && !groupExists(pid)) return
    await killTree(pid, { clock: this.#options.clock, startTime: startTime || undefined })
    await this.wait({ timeoutMs: 1_000 })
  }

  /** Passes the process to `owner`, or to whoever finds it. */
  own(owner: ProcessRecord['owner']): void {
    this.#change({ owner })
  }

  #look(): void {
    const { pid, startTime, status } = this.#record
    if (this.#options.child || status === 'exited' || processStartTime(pid) === startTime) return
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
