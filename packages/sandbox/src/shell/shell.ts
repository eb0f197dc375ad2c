import { closeSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, errorLine, type Logger } from '@hermes/contracts'
import type { ExecOptions, ExecResult } from '@hermes/contracts/environment'
import { fileError } from '../file-error.js'
import { type Isolate, type IsolatedProgram, notIsolated, type WorkingFolders } from '../isolation/isolated-program.js'
import { HeldOutput, startHeld } from '../isolation/start-held.js'
import { type CommandHold, heldVariables, isolateOptions } from '../local/command-hold.js'
import { type Capture, type LoginOptions, withLogin } from '../local/login-shell.js'
import { OrphanGuard, type SharedWatcher } from '../local/orphan-guard.js'
import type { ProcessHandle } from '../processes/process-handle.js'
import type { ProcessTable } from '../processes/process-table.js'
import { groupExists, killTree } from '../processes/process-tree.js'
import { commandOutput, outputListener } from './command-output.js'
import type { OutputCollector } from './output-collector.js'
import { OutputPipes, type SharedPipes, UnusedPipes } from './output-pipe.js'
import { type CommandEnd, runCommand } from './run-command.js'
import { RunningCommands } from './running-commands.js'
import { commandLimitMs, commandResult, missingDirectory, ShellSession, whenAborted } from './session.js'
import {
  isDirectory,
  nearestDirectory,
  openInput,
  pipesFolder,
  readIfThere,
  removeLeftovers,
  removeScratch,
  scratchName,
  shellsFolder,
} from './shell-files.js'
import { foregroundArgs, REGISTER, type ShellProgram } from './shell-script.js'
import { parseShellState, type ShellState } from './shell-state.js'
import { type Askpass, createAskpass } from './sudo.js'

const NOT_STARTED: CommandEnd = { exitCode: null, signal: null, stopped: 'abort', remainingGroup: null }

/** A command with what it is held to. */
type HeldExecOptions = ExecOptions & { readonly hold?: CommandHold | null | undefined }

interface ShellOptions {
  readonly program: ShellProgram
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly outputDir: string
  readonly clock: Clock
  readonly logger: Logger
  /** Holds a program to what it may touch. */
  readonly isolate: Isolate | null
  /** Whether it does: a machine may have no way to. */
  readonly isIsolated: () => boolean
  /** What a command is held to beyond that. Default: nothing. */
  readonly holds?: ((command: string, cwd: string) => Promise<CommandHold | null>) | undefined
  /** Takes over a command that goes on without being waited for. */
  readonly take: ProcessTable['take']
  /** Shared with other shells. Default: one of its own. */
  readonly watcher?: SharedWatcher | undefined
  /** Shared with other shells. Default: those beside the outputs. */
  readonly pipes?: SharedPipes | undefined
  /** Whose start-up files the first command waits for. */
  readonly login: (LoginOptions & { readonly home: string }) | null
}

/** Where a command starts, and the line that says so when that is not where it was meant to. */
interface Start {
  readonly cwd: string
  readonly notice: string
}

interface Scratch {
  readonly directory: string
  readonly state: string
  readonly pipes: OutputPipes
}

/** A shell whose directory and exported variables persist, though each command gets a process of its own. */
export class Shell {
  readonly #options: ShellOptions
  /** Ends foreground groups when this program dies. */
  readonly guard: OrphanGuard
  readonly #running = new RunningCommands()
  /** Groups of commands that left processes behind. */
  readonly #orphans = new Set<number>()
  readonly #session: ShellSession
  #login: Promise<void> | null = null
  #lastSaved: Buffer | null = null
  #scratch: Scratch | null = null
  #commands = 0

  constructor(options: ShellOptions) {
    this.#options = options
    this.guard = new OrphanGuard(options.watcher)
    this.#session = new ShellSession({ cwd: options.cwd, env: options.env }, options.env)
  }

  /** The persistent directory, or its nearest ancestor when it was deleted. */
  cwd(): string {
    return nearestDirectory(this.#session.cwd)
  }

  /** The variables of the next command. Outside the isolation it gets none that one inside may have set. */
  environment({ outside = false }: Pick<ExecOptions, 'outside'> = {}): Readonly<Record<string, string>> {
    return outside && this.#options.isIsolated() ? this.#session.base : this.#session.env
  }

  /** Resolves once the variables of the first command are known; abort only stops waiting for them. */
  async ready(signal?: AbortSignal): Promise<void> {
    const { login } = this.#options
    if (login === null || signal?.aborted) return
    this.#login ??= this.#running.run(undefined, (stopped) => this.#readLogin(login, stopped))
    await (signal ? Promise.race([this.#login, whenAborted(signal)]) : this.#login)
  }

  /** Runs `command`; `consume` is called with the starting directory just before. */
  exec(command: string, options: ExecOptions, consume: (cwd: string) => void): Promise<ExecResult> {
    return this.#running.run(options.signal, (signal) => this.#exec(command, options, consume, signal))
  }

  /** Ends running commands, and unless `keepProcesses` what earlier ones left in the background. */
  async close(keepProcesses: boolean): Promise<void> {
    await this.#running.stop()
    this.#dropEndedOrphans()
    for (const group of this.#orphans) {
      if (!keepProcesses) await killTree(group, { clock: this.#options.clock })
      this.guard.remove(group)
    }
    this.guard.close()
    if (this.#scratch) removeScratch(this.#scratch.directory)
    this.#scratch = null
  }

  async #exec(
    command: string,
    options: ExecOptions,
    consume: (cwd: string) => void,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const startedMs = this.#options.clock.now()
    if (!options.aside) await this.ready(signal)
    const start = this.start(options.cwd)
    const hold = await this.#options.holds?.(command, start.cwd)
    consume(start.cwd)
    const output = commandOutput(options, this.#options)
    const emit = outputListener(output, options.onOutput, this.#options.logger)
    if (start.notice) emit(Buffer.from(start.notice))
    const scratch = this.#prepareScratch()
    const number = ++this.#commands
    // In the folder of the isolated ones a link could be laid for one that runs outside.
    const statePath = join(options.outside ? scratch.directory : scratch.state, `state-${number}`)
    const stdin = openInput(options.stdin, join(scratch.directory, `input-${number}`))
    let askpass: Askpass | null = null
    try {
      const pipe = await scratch.pipes.acquire()
      if (signal.aborted) {
        pipe.discard(true)
        return this.#result(NOT_STARTED, output, startedMs)
      }
      askpass = this.askpass(options)
      const env = askpass ? { ...options.env, ...askpass.env } : options.env
      const line = askpass ? askpass.commandLine(command) : command
      const requested = { ...options, ...(env ? { env } : {}), hold }
      const held = new HeldOutput(emit)
      let take: ((chunk: Buffer) => void) | null = null
      const common = {
        ...{ cwd: start.cwd, stdin, yieldSignal: options.yieldSignal, signal },
        ...{ clock: this.#options.clock, guard: this.guard },
        timeoutMs: commandLimitMs(options),
      }
      const { program: child, result: end } = await startHeld(
        () => this.#child(line, statePath, requested, start),
        async (child, isLast) => {
          held.drop()
          const onOutput = (chunk: Buffer) => (take ? take(chunk) : held.push(child, chunk))
          return runCommand({ ...child, ...common, onOutput, pipe: isLast ? await scratch.pipes.acquire() : pipe })
        },
        ({ stopped, goesOn }) => stopped === null && !goesOn && !signal.aborted,
      )
      held.flush()
      if (end.goesOn) {
        const { process, append } = this.#letGo(end.goesOn, { command, cwd: start.cwd, output: output.text() }, askpass)
        take = append
        askpass = null
        return { ...this.#result(end, output, startedMs), process }
      }
      const why = child.stopped()
      if (why !== null) emit(Buffer.from(`[All isolated programs of this session were ended: ${why}.]\n`))
      this.#keepTrack(end.remainingGroup)
      const dropped = this.#keepState(end, statePath, requested, start)
      if (dropped !== '') emit(Buffer.from(dropped))
      return this.#result(end, output, startedMs)
    } finally {
      output.end()
      if (stdin !== null) closeSync(stdin)
      askpass?.remove()
      rmSync(statePath, { recursive: true, force: true })
    }
  }

  /** Passes a command on that is not waited for any more, with what its `sudo` asks; where nobody can take it, it is ended. */
  #letGo(handle: ProcessHandle, taken: Parameters<ProcessTable['take']>[0], askpass: Askpass | null) {
    try {
      const { process, append } = this.#options.take(taken, handle)
      if (askpass) process.observe({ onExit: () => askpass.remove() })
      return { process, append }
    } catch (error) {
      void killTree(handle.pid, { clock: this.#options.clock }).finally(() => askpass?.remove())
      throw error
    }
  }

  /** What tells `sudo` the password of one command. Isolated programs cannot become root, so that they are told none. */
  askpass({ sudoPassword, outside }: Pick<ExecOptions, 'sudoPassword' | 'outside'>): Askpass | null {
    const isIsolated = this.#options.isIsolated() && !outside
    if (sudoPassword === undefined || isIsolated) return null
    return createAskpass(this.#prepareScratch().directory, sudoPassword, this.#options.env['PATH'] ?? '')
  }

  /** Folders for an isolated command; made on first use. */
  folders(): WorkingFolders {
    const { directory, state } = this.#prepareScratch()
    return { scratch: directory, writable: state }
  }

  async #readLogin(login: LoginOptions & { readonly home: string }, signal: AbortSignal): Promise<void> {
    const { program, env, logger, outputDir, isolate, isIsolated, clock } = this.#options
    const capture: Capture = (requested) => this.#capture(requested, signal)
    // Bounds are drawn around the outputs; without any, the files find the same whoever is served.
    const circumstances = isolate ? [this.cwd(), outputDir, isIsolated() ? 'isolated' : ''] : [this.cwd()]
    const at = { commandShell: program.path, home: login.home, env, capture, circumstances, nowMs: clock.now() }
    try {
      this.#session.restart(await withLogin(login, at))
    } catch (error) {
      logger.warn('The start-up files of the shell were not read.', { error: errorLine(error) })
    }
  }

  /** Runs a shell of the user's for its state alone, held as commands are; what it starts ends with it. */
  async #capture({ timeoutMs, ...requested }: Parameters<Capture>[0], signal: AbortSignal): Promise<ShellState | null> {
    const { isolate, clock } = this.#options
    const scratch = this.#prepareScratch()
    const path = join(scratch.state, `state-${++this.#commands}`)
    const { cwd } = this.start(undefined)
    const env = { ...requested.env, PWD: cwd }
    const args = [...requested.args, path]
    const isConfined = isolate !== null && this.#options.isIsolated()
    const run = isConfined
      ? { program: requested.program, args, env }
      : { program: '/bin/sh', args: ['-c', REGISTER, 'sh', requested.program, ...args], env }
    const common = { cwd, stdin: null, onOutput: () => undefined, timeoutMs, signal, clock, guard: this.guard }
    try {
      const { result: end } = await startHeld(
        async () => (isolate ? isolate(run, this.folders()) : notIsolated(run)),
        async (child) => runCommand({ ...child, ...common, pipe: await scratch.pipes.acquire() }),
        ({ stopped }) => stopped === null,
      )
      if (end.remainingGroup !== null) await killTree(end.remainingGroup, { clock })
      const saved = end.stopped === null ? readIfThere(path) : null
      return saved && parseShellState(saved, {})
    } finally {
      rmSync(path, { force: true })
    }
  }

  async #child(command: string, statePath: string, options: HeldExecOptions, start: Start): Promise<IsolatedProgram> {
    const { program, isolate } = this.#options
    const env = heldVariables({ ...this.environment(options), ...options.env, PWD: start.cwd }, options.hold)
    const requested = { program: program.path, args: foregroundArgs(program, command, statePath), env }
    if (isolate && !options.outside) return isolate(requested, this.folders(), isolateOptions(options, options.hold))
    return notIsolated(requested)
  }

  /** Where a command asked to run in `requested` starts. @throws HermesError `environment.not_found`. */
  start(requested: string | undefined): Start {
    if (requested !== undefined) {
      if (isDirectory(requested)) return { cwd: requested, notice: '' }
      throw missingDirectory(requested)
    }
    const cwd = this.cwd()
    const last = this.#session.cwd
    const notice =
      cwd === last
        ? ''
        : `[${last} ${isDirectory(last) ? 'cannot be entered' : 'does not exist'} any more; running in ${cwd}.]\n`
    return { cwd, notice }
  }

  #prepareScratch() {
    if (this.#scratch) return this.#scratch
    removeLeftovers(this.#options.outputDir, this.#options.clock.now() - KEEP_OUTPUT_MS)
    const directory = join(shellsFolder(this.#options.outputDir), scratchName())
    // Isolated commands write their state apart from what is ours.
    const state = this.#options.isolate ? join(directory, 'state') : directory
    const { outputDir, isolate, pipes } = this.#options
    const unused = pipes?.of(outputDir, { isOpen: !isolate }) ?? new UnusedPipes(pipesFolder(outputDir))
    try {
      for (const folder of [state, pipesFolder(outputDir)]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw fileError(error, 'make the directory', directory)
    }
    this.#scratch = { directory, state, pipes: new OutputPipes(directory, unused) }
    return this.#scratch
  }

  #keepTrack(remainingGroup: number | null): void {
    if (remainingGroup !== null) this.#orphans.add(remainingGroup)
    this.#dropEndedOrphans()
  }

  #dropEndedOrphans(): void {
    for (const group of this.#orphans) {
      if (groupExists(group)) continue
      this.#orphans.delete(group)
      this.guard.remove(group)
    }
  }

  /** A command that was killed leaves directory and variables as they were. The line that tells of variables that could not be kept. */
  #keepState(end: CommandEnd, path: string, options: HeldExecOptions, start: Start): string {
    if (end.stopped !== null || end.signal !== null) return ''
    const saved = readIfThere(path)
    if (saved === null || this.#lastSaved?.equals(saved)) return ''
    // What was taken from a command is not gone for the next one.
    const onlyDirectory = (options.outside && this.#options.isIsolated()) || options.hold?.variables != null
    const notice = this.#session.keep(saved, options, onlyDirectory)
    // Only a plain command's dump says that nothing changed when it comes again.
    const plain = !onlyDirectory && !options.outside && !options.cwd && !options.env && start.notice === ''
    if (notice !== null) this.#lastSaved = plain ? saved : null
    return notice ?? ''
  }

  #result(end: CommandEnd, output: OutputCollector, startedMs: number): ExecResult {
    const durationMs = this.#options.clock.now() - startedMs
    return commandResult(end, output, { durationMs, cwd: this.cwd(), fullOutputPath: output.filePath })
  }
}

const KEEP_OUTPUT_MS = 7 * 24 * 60 * 60 * 1000
