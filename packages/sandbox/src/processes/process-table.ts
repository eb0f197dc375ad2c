import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import type { BackgroundProcess } from '@hermes/contracts/environment'
import { fileError } from '../file-error.js'
import { type IsolatedProgram, notIsolated, type Started } from '../isolation/isolated-program.js'
import { startHeld, untilStarted } from '../isolation/start-held.js'
import { loadPty, type PtyModule, SCREEN } from '../local/pty.js'
import { quote } from '../shell/command-text.js'
import type { Launch, RemoteProcess, RemoteStart } from '../shell/remote-start.js'
import { backgroundArgs, RUN_HELD, type ShellProgram } from '../shell/shell-script.js'
import { childHandle, type ProcessHandle, ptyHandle } from './process-handle.js'
import { trimLog } from './process-log.js'
import {
  abandonedRecords,
  type ProcessFiles,
  type ProcessRecord,
  processFiles,
  type RemoteProcessId,
  removeFiles,
  saveRecord,
  thisOwner,
} from './process-record.js'
import { processStartTime } from './process-tree.js'
import { TrackedProcess } from './tracked-process.js'

const MAX_TRACKED = 64
const KEEP_FINISHED_MS = 30 * 60_000
const TRIM_EVERY_MS = 5_000
const START_POLL_MS = 5

interface ProcessTableOptions {
  readonly program: ShellProgram
  readonly outputDir: string
  readonly clock: Clock
  readonly logger: Logger
  readonly loadPty?: (() => Promise<PtyModule>) | undefined
  /** Ends the tree of a process on another side. */
  readonly killRemote?: (process: RemoteProcessId) => Promise<void>
  /** Reaches a job that an earlier table started; `log` is where its output goes on this machine. */
  readonly follow?: ((job: string, log: string) => ProcessHandle) | undefined
}

/** Holds a program to what it may touch. */
type StartIsolated = (requested: Started) => Promise<IsolatedProgram>

/** One process to start. */
interface Start {
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly files: ProcessFiles
  readonly launch: Launch | undefined
  readonly isolate: StartIsolated | undefined
}

/** What is run here for a process: a shell that leaves the exit status. */
interface Client extends IsolatedProgram {
  /** What that shell runs. */
  readonly line: string
  readonly cwd: string
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

  /** @throws HermesError `environment.too_many_processes` when 64 run already, `environment.spawn_failed`, `environment.no_pty`. */
  async spawn(
    command: string,
    cwd: string,
    env: Readonly<Record<string, string>>,
    options: {
      readonly pty?: boolean
      readonly remote?: RemoteStart
      readonly isolate?: StartIsolated
      /** What is run for `command`. */
      readonly line?: string
    } = {},
  ): Promise<BackgroundProcess> {
    const { pty = false } = options
    // Another side has pseudo-terminals of its own.
    const module = pty && !options.remote ? await loadPty(this.#options.loadPty) : null
    this.#makeRoom()
    const id = `proc_${randomBytes(4).toString('hex')}`
    const { remote, isolate } = options
    const launch = remote?.type === 'client' ? remote.launch : undefined
    const start: Start = {
      command: options.line ?? command,
      cwd,
      env,
      files: processFiles(this.#directory, id),
      launch,
      isolate,
    }
    const job = remote?.type === 'job' ? await this.#startJob(start, remote.start) : null
    const handle = job?.handle ?? (await this.#startHere(start, module))
    const { pid } = handle
    const startTime = job ? '' : (processStartTime(pid) ?? '')
    const times = { startedAtMs: this.#options.clock.now(), endedAtMs: null }
    const state = { status: 'running', exitCode: null, signal: null, ...(pty ? { pty } : {}) } as const
    const base = { id, command, cwd, pid, ...state, ...times, startTime, owner: thisOwner() }
    const record: ProcessRecord = job ? { ...base, far: job.id, job: job.token } : base
    const tracked = this.#track(record, handle)
    this.#save(record)
    if (launch) await this.#awaitStart(tracked, handle, launch, id)
    return tracked
  }

  /**
   * Takes over a process that is not waited for any more: `output` is what it wrote so far, `append` takes what it writes from now on.
   * @throws HermesError `environment.too_many_processes`.
   */
  take(
    taken: { readonly command: string; readonly cwd: string; readonly output: string },
    handle: ProcessHandle,
  ): { readonly process: BackgroundProcess; readonly append: (chunk: Buffer) => void } {
    this.#makeRoom()
    const id = `proc_${randomBytes(4).toString('hex')}`
    const files = processFiles(this.#directory, id)
    closeSync(this.#openLog(files))
    appendQuietly(files.log, taken.output)
    const { command, cwd } = taken
    const { pid } = handle
    const times = { startedAtMs: this.#options.clock.now(), endedAtMs: null }
    const state = { status: 'running', exitCode: null, signal: null } as const
    const startTime = processStartTime(pid) ?? ''
    const record = { id, command, cwd, pid, ...state, ...times, startTime, owner: thisOwner() }
    const process = this.#track(record, handle)
    this.#save(record)
    return { process, append: (chunk) => appendQuietly(files.log, chunk) }
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
    for (const process of this.#processes.values()) process.unobserve()
    if (keepProcesses) {
      for (const process of this.#processes.values()) process.own(null)
      return
    }
    await Promise.all([...this.#processes.values()].map((process) => process.kill()))
    for (const id of [...this.#processes.keys()]) this.#forget(id)
  }

  /** Waits until the client says which process it started, and takes back what was recorded when it fails. */
  async #awaitStart(tracked: TrackedProcess, handle: ProcessHandle, launch: Launch, id: string): Promise<void> {
    handle.write(launch.input)
    const { report } = processFiles(this.#directory, id)
    for (;;) {
      const { status, exitCode } = tracked.info()
      const text = readText(report)
      const remote = launch.started(text)
      if (remote) return tracked.standFor(remote)
      if (status === 'exited') {
        this.#forget(id)
        throw launch.failure(exitCode, text)
      }
      await this.#options.clock.sleep(START_POLL_MS)
    }
  }

  /** Starts what runs here for a process. */
  async #startHere(start: Start, module: PtyModule | null): Promise<ProcessHandle> {
    const { clock } = this.#options
    const requested = module ? { ...start, env: { ...start.env, TERM: SCREEN.name } } : start
    const { result } = await startHeld(
      () => this.#clientOf(requested),
      async (client) => {
        // One that was not started left nothing that anybody is to read.
        removeFiles(start.files)
        const handle = module ? this.#startPty(client, start, module) : await this.#startChild(client, start)
        if (client.mark === null) return handle
        const exit = new Promise<Parameters<Parameters<typeof handle.onExit>[0]>>((resolve) =>
          handle.onExit((...end) => resolve(end)),
        )
        await untilStarted(client, exit, clock)
        // It may have ended before anybody listens.
        return {
          ...handle,
          onExit: (listener: Parameters<typeof handle.onExit>[0]) => void exit.then((end) => listener(...end)),
        }
      },
    )
    return result
  }

  async #startChild({ args, cwd, env, descriptors, mark }: Client, { files }: Start): Promise<ProcessHandle> {
    const { program } = this.#options
    const log = this.#openLog(files)
    let child: ChildProcess
    try {
      child = spawn(program.path, args, {
        cwd,
        env,
        detached: true,
        stdio: ['pipe', log, log, mark?.descriptor ?? 'ignore', ...descriptors],
      })
      child.unref()
      ;(child.stdin as unknown as { unref?: () => void } | null)?.unref?.()
    } catch (error) {
      removeFiles(files)
      throw spawnFailed(error, program.path)
    } finally {
      closeSync(log)
    }
    return childHandle(child, child.pid ?? (await failure(child, program.path)))
  }

  /** What is run here for `start`. Isolated, the shell that leaves the exit status is outside. */
  async #clientOf({ command, cwd, env, files, launch, isolate }: Start): Promise<Client> {
    const { program } = this.#options
    const line = (text: string) => backgroundArgs(program, text, files.exit)
    const plain = (text: string, folder: string, input: Start['env']): Client => ({
      ...notIsolated({ program: program.path, args: line(text), env: { ...input, PWD: folder } }),
      ...{ line: text, cwd: folder },
    })
    if (launch) return plain(launch.command(files.report), '/', launch.env)
    if (!isolate) return plain(command, cwd, env)
    const { path, args } = program
    const requested = { program: path, args: [...args, '-c', RUN_HELD, 'bash', command], env: { ...env, PWD: cwd } }
    const held = await isolate(requested)
    const text = [held.program, ...held.args].map(quote).join(' ')
    return { ...held, program: path, args: line(text), line: text, cwd, env: { ...held.env, PWD: cwd } }
  }

  async #startJob({ files }: Start, start: (log: string) => Promise<RemoteProcess>): Promise<RemoteProcess> {
    closeSync(this.#openLog(files))
    try {
      return await start(files.log)
    } catch (error) {
      removeFiles(files)
      throw error
    }
  }

  #startPty(client: Client, { files, cwd }: Start, module: PtyModule): ProcessHandle {
    const { program } = this.#options
    const log = this.#openLog(files)
    try {
      const args = backgroundArgs(program, withDescriptors(client), files.exit)
      const pty = module.spawn(program.path, args, { ...SCREEN, cwd, env: { ...client.env, PWD: cwd } })
      pty.onData((data) => appendQuietly(files.log, data))
      return ptyHandle(pty)
    } catch (error) {
      removeFiles(files)
      throw spawnFailed(error, program.path)
    } finally {
      closeSync(log)
    }
  }

  #openLog(files: ProcessFiles): number {
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      return openSync(files.log, 'a', 0o600)
    } catch (error) {
      throw fileError(error, 'write', files.log)
    }
  }

  #track(record: ProcessRecord, handle: ProcessHandle | null): TrackedProcess {
    const files = processFiles(this.#directory, record.id)
    const save = (changed: ProcessRecord) => this.#save(changed)
    const { clock, killRemote } = this.#options
    const tracked = new TrackedProcess({ record, files, handle, clock, save, killRemote })
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
      if (this.#processes.has(record.id)) continue
      this.#track(record, this.#followed(record)).own(owner)
    }
    this.#prune()
  }

  /** Only a job tells what it did since; of others one sees whether they are there. */
  #followed({ id, job, status }: ProcessRecord): ProcessHandle | null {
    if (job === undefined || status === 'exited') return null
    return this.#options.follow?.(job, processFiles(this.#directory, id).log) ?? null
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

/** What runs on a pseudo-terminal gets no file descriptors from here, but it can open those that this program has. */
function withDescriptors({ line, descriptors, mark }: Client): string {
  const input = descriptors.map((descriptor, at) => ` ${at + 4}</proc/${process.pid}/fd/${descriptor}`)
  const marked = mark ? ` 3>>/proc/${process.pid}/fd/${mark.descriptor}` : ''
  return line + marked + input.join('')
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The log goes with the process when it is forgotten while its last output is still on the way. */
function appendQuietly(path: string, data: string | Buffer): void {
  try {
    const log = openSync(path, constants.O_WRONLY | constants.O_APPEND)
    try {
      writeFileSync(log, data)
    } finally {
      closeSync(log)
    }
  } catch {
    // Nobody can be told: there is no call that this output belongs to.
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
