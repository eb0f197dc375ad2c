import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import type { BackgroundProcess } from '@hermes/contracts/environment'
import { fileError } from './file-error.js'
import { trimLog } from './process-log.js'
import {
  abandonedRecords,
  type ProcessFiles,
  type ProcessRecord,
  processFiles,
  removeFiles,
  saveRecord,
  thisOwner,
} from './process-record.js'
import { processStartTime } from './process-tree.js'
import { backgroundArgs, type ShellProgram } from './shell-script.js'
import { TrackedProcess } from './tracked-process.js'

const MAX_TRACKED = 64
const KEEP_FINISHED_MS = 30 * 60_000
const TRIM_EVERY_MS = 5_000

interface ProcessTableOptions {
  readonly program: ShellProgram
  readonly outputDir: string
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The background processes of one environment. Their output goes to files and their records are on disk, so they survive a crash of
 * the agent; the next table over the same directory takes over those whose agent is gone.
 */
export class ProcessTable {
  readonly #options: ProcessTableOptions
  readonly #directory: string
  readonly #processes = new Map<string, TrackedProcess>()
  #adopted = false
  #trimmer: NodeJS.Timeout | null = null

  constructor(options: ProcessTableOptions) {
    this.#options = options
    this.#directory = join(options.outputDir, 'processes')
  }

  /** @throws HermesError `environment.too_many_processes` when 64 run already, `environment.spawn_failed`. */
  async spawn(command: string, cwd: string, env: Readonly<Record<string, string>>): Promise<BackgroundProcess> {
    this.#makeRoom()
    const id = `proc_${randomBytes(4).toString('hex')}`
    const files = processFiles(this.#directory, id)
    const child = this.#start(command, cwd, env, files)
    const pid = child.pid ?? (await failure(child, this.#options.program.path))
    const startTime = processStartTime(pid) ?? ''
    const times = { startedAtMs: this.#options.clock.now(), endedAtMs: null }
    const state = { status: 'running', exitCode: null, signal: null } as const
    const record: ProcessRecord = { id, command, cwd, pid, ...state, ...times, startTime, owner: thisOwner() }
    const tracked = this.#track(record, child)
    this.#save(record)
    return tracked
  }

  list(): readonly BackgroundProcess[] {
    this.#adopt()
    this.#prune()
    return [...this.#processes.values()]
  }

  async close(keepProcesses: boolean): Promise<void> {
    this.#adopt()
    if (this.#trimmer) clearInterval(this.#trimmer)
    this.#trimmer = null
    if (keepProcesses) {
      for (const process of this.#processes.values()) process.own(null)
      return
    }
    await Promise.all([...this.#processes.values()].map((process) => process.kill()))
    for (const id of [...this.#processes.keys()]) this.#forget(id)
  }

  #start(command: string, cwd: string, env: Readonly<Record<string, string>>, files: ProcessFiles): ChildProcess {
    const { program } = this.#options
    let log: number
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      log = openSync(files.log, 'a', 0o600)
    } catch (error) {
      throw fileError(error, 'write', files.log)
    }
    try {
      const child = spawn(program.path, backgroundArgs(program, command, files.exit), {
        cwd,
        env: { ...env, PWD: cwd },
        detached: true,
        stdio: ['pipe', log, log],
      })
      child.unref()
      ;(child.stdin as unknown as { unref?: () => void } | null)?.unref?.()
      return child
    } catch (error) {
      removeFiles(files)
      throw spawnFailed(error, program.path)
    } finally {
      closeSync(log)
    }
  }

  #track(record: ProcessRecord, child: ChildProcess | null): TrackedProcess {
    const files = processFiles(this.#directory, record.id)
    const save = (changed: ProcessRecord) => this.#save(changed)
    const tracked = new TrackedProcess({ record, files, child, clock: this.#options.clock, save })
    this.#processes.set(record.id, tracked)
    this.#trimmer ??= setInterval(() => this.#trim(), TRIM_EVERY_MS).unref()
    return tracked
  }

  #trim(): void {
    for (const [id, process] of this.#processes) {
      if (process.info().status === 'running') trimLog(processFiles(this.#directory, id).log)
    }
  }

  #adopt(): void {
    if (this.#adopted) return
    this.#adopted = true
    const owner = thisOwner()
    for (const record of abandonedRecords(this.#directory)) {
      if (!this.#processes.has(record.id)) this.#track(record, null).own(owner)
    }
    this.#prune()
  }

  #prune(): void {
    for (const [id, process] of this.#processes) {
      const { endedAtMs } = process.info()
      if (endedAtMs !== null && this.#options.clock.now() - endedAtMs > KEEP_FINISHED_MS) this.#forget(id)
    }
  }

  #makeRoom(): void {
    this.#adopt()
    this.#prune()
    if (this.#processes.size < MAX_TRACKED) return
    const finished = [...this.#processes.values()]
      .map((process) => process.info())
      .filter((info) => info.endedAtMs !== null)
      .sort((a, b) => a.endedAtMs! - b.endedAtMs!)
    const oldest = finished[0]
    if (!oldest) {
      throw new HermesError(`${MAX_TRACKED} background processes run already; end one before starting another.`, {
        code: 'environment.too_many_processes',
        details: { limit: MAX_TRACKED },
      })
    }
    this.#forget(oldest.id)
  }

  #forget(id: string): void {
    this.#processes.delete(id)
    removeFiles(processFiles(this.#directory, id))
  }

  #save(record: ProcessRecord): void {
    if (!this.#processes.has(record.id)) return
    try {
      saveRecord(this.#directory, record)
    } catch (error) {
      this.#options.logger.warn('A background process could not be recorded; it would not be found after a crash.', {
        id: record.id,
        error: errorLine(error),
      })
    }
  }
}

/** The reason a child has no number. */
async function failure(child: ChildProcess, program: string): Promise<never> {
  throw await new Promise((resolve) => child.once('error', (error) => resolve(spawnFailed(error, program))))
}

function spawnFailed(error: unknown, program: string): HermesError {
  return new HermesError(`Cannot start the shell ${program}: ${errorLine(error)}.`, {
    code: 'environment.spawn_failed',
    details: { program },
    cause: error,
  })
}
