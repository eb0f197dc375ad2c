import { appendFileSync, statSync } from 'node:fs'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import type { ProcessHandle } from '../processes/process-handle.js'
import { runScript } from '../remote/run-script.js'
import { RemoteProcessReader, type RemoteProcessWay } from './remote-process-reader.js'
import { dropRemoteProcess, endRemoteProcessInput, feedRemoteProcess } from './remote-process-scripts.js'

const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 2_000
/** How many failed questions in a row mean that the process is lost; the pauses between add up to about half a minute. */
const PATIENCE = 20

/** Where a job is. */
export interface RemoteProcessTarget {
  readonly way: RemoteProcessWay
  readonly clock: Clock
  readonly logger: Logger
  readonly folder: string
  /** Where its output goes on this machine. */
  readonly log: string
}

/** A job that goes on over there. It is asked now and then what is new: soon after something happened or when somebody waits, else every two seconds. */
export class FollowedRemoteProcess implements ProcessHandle {
  readonly pid: number
  readonly #target: RemoteProcessTarget
  readonly #reader: RemoteProcessReader
  readonly #listeners: ((exitCode: number | null, signal: string | null) => void)[] = []
  #timer: NodeJS.Timeout | null = null
  #pauseMs = FIRST_PAUSE_MS
  #failures = 0
  #isOver = false
  #isKeptAlive = false
  #isLeft = false
  #isAsking = false
  #isInputOpen = true
  #pieces = 0
  #sent: Promise<unknown> = Promise.resolve()

  constructor(target: RemoteProcessTarget, pid: number) {
    const { way, clock, folder, log } = target
    this.pid = pid
    this.#target = target
    this.#reader = new RemoteProcessReader(way, clock, { folder, position: sizeOf(log), tidy: false, tries: 1 })
    this.#plan()
  }

  onExit(listener: (exitCode: number | null, signal: string | null) => void): void {
    this.#listeners.push(listener)
  }

  write(text: string): boolean {
    if (this.#isOver || !this.#isInputOpen) return false
    this.#send(feedRemoteProcess(this.#target.folder, this.#pieces++), Buffer.from(text))
    return true
  }

  closeInput(): void {
    if (this.#isInputOpen && !this.#isOver) this.#send(endRemoteProcessInput(this.#target.folder))
    this.#isInputOpen = false
  }

  keepAlive(isKeptAlive: boolean): void {
    this.#isKeptAlive = isKeptAlive
    this.#planSoon()
  }

  /** Asks no more unless somebody waits; the job goes on over there. */
  letGo(): void {
    this.#isLeft = true
    this.#plan()
  }

  #plan(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#isOver || this.#isAsking || this.#isForOthers()) return
    this.#timer = setTimeout(() => void this.#ask(), this.#pauseMs)
    if (!this.#isKeptAlive) this.#timer.unref()
  }

  #isForOthers(): boolean {
    return this.#isLeft && !this.#isKeptAlive
  }

  #planSoon(): void {
    this.#pauseMs = FIRST_PAUSE_MS
    this.#plan()
  }

  async #ask(): Promise<void> {
    this.#isAsking = true
    try {
      const { output, isOver, exitCode } = await this.#reader.next(0)
      this.#failures = 0
      // Whoever follows it next is told all of it.
      if (this.#isOver || this.#isForOthers()) return
      if (output.length > 0) appendFileSync(this.#target.log, output)
      const longest = this.#isKeptAlive ? 4 * FIRST_PAUSE_MS : LAST_PAUSE_MS
      this.#pauseMs = output.length > 0 ? FIRST_PAUSE_MS : Math.min(this.#pauseMs * 1.5, longest)
      if (isOver) this.#end(exitCode)
    } catch (error) {
      this.#failures++
      if (this.#isOver) return
      if (this.#failures === PATIENCE || !HermesError.isInstance(error) || !error.retryable) {
        const { folder, logger } = this.#target
        logger.warn('A background process is lost.', { folder, error: errorLine(error) })
        this.#end(null)
      }
    } finally {
      this.#isAsking = false
      this.#plan()
    }
  }

  #end(exitCode: number | null): void {
    this.#isOver = true
    for (const listener of this.#listeners) listener(exitCode, null)
    // What stays behind in the sandbox's temporary folder hinders nobody.
    void runScript(this.#target.way, dropRemoteProcess(this.#target.folder)).catch(() => undefined)
  }

  /** In order, and one at a time. */
  #send(script: string, input?: Uint8Array): void {
    const { way, logger } = this.#target
    this.#sent = this.#sent
      .then(() => runScript(way, script, input))
      .catch((error: unknown) => logger.warn('Input did not reach a background process.', { error: errorLine(error) }))
    this.#planSoon()
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    // Nothing was written yet.
    return 0
  }
}
