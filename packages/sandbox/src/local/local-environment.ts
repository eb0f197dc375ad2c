import { isAbsolute, resolve } from 'node:path'
import { type Clock, HermesError, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type {
  BackgroundProcess,
  Environment,
  EnvironmentProbe,
  ExecOptions,
  ExecResult,
  FileStat,
  ProgramRequest,
  ReadManyOptions,
  RunningProgram,
  SpawnOptions,
  SudoAccess,
} from '@hermes/contracts/environment'
import { programLine } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import { linkCame } from '../file-error.js'
import { Bounds, workspaceAt } from '../isolation/bounds.js'
import type { Isolate, IsolatedProgram } from '../isolation/isolated-program.js'
import type { Isolation } from '../isolation/isolation.js'
import type { IsolationOptions, Workspace } from '../isolation/isolation-options.js'
import { createIsolationSupport, type IsolationSupport } from '../isolation/isolation-support.js'
import { realIfThere } from '../isolation/paths.js'
import { ProcessTable } from '../processes/process-table.js'
import { savedOutput } from '../shell/command-output.js'
import { checkCommand } from '../shell/command-text.js'
import type { SharedPipes } from '../shell/output-pipe.js'
import { Shell } from '../shell/shell.js'
import { nearestDirectory } from '../shell/shell-files.js'
import { shellProgram } from '../shell/shell-script.js'
import { sudoAccess } from '../shell/sudo.js'
import { type CommandHold, heldVariables, isolateOptions } from './command-hold.js'
import { findShell } from './find-shell.js'
import {
  listDirectory,
  makeDirectory,
  realPath,
  removePath,
  renamePath,
  statPath,
  writeAtomically,
} from './local-files.js'
import { readBytes } from './local-read.js'
import type { LoginOptions } from './login-shell.js'
import type { SharedWatcher } from './orphan-guard.js'
import { currentUser, describeSystem } from './probe.js'
import { isPtyInstalled, type PtyModule } from './pty.js'
import { FileMemory } from './remembered-files.js'

const TEMPORARY = ['/tmp', '/var/tmp']
const STANDARD_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What {@link createLocalEnvironment} needs. Nothing is read from this program's own environment. */
export interface LocalEnvironmentOptions {
  /** Where the shell starts. Absolute. */
  readonly cwd: string
  /** The variables children get, but for those that `withholds` names. Without `PATH` the standard directories are used. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Whether children do not get a variable of `env`, or one that start-up files set; commands that name one are told. Asked before the
   * first command. Default: they get all.
   */
  readonly withholds?: (name: string, value: string) => boolean
  /** What a command that starts in the absolute `cwd` is held to; `null` for nothing of its own. Asked before each. Default: nothing. */
  readonly holds?: (command: string, cwd: string) => Promise<CommandHold | null>
  /** What `~` stands for. Absolute. */
  readonly home: string
  /** Where long outputs and the records of background processes are kept; made on first use. Absolute. */
  readonly outputDir: string
  /** bash or a POSIX shell. Default: bash, else `/bin/sh`. */
  readonly shell?: string
  /** Default: silent. */
  readonly logger?: Logger
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** Loads node-pty, or what stands in for it. Default: the node-pty that is installed beside this package, if any. */
  readonly loadPty?: () => Promise<PtyModule>
  /** Holds commands to the working directory and temporary folders, with credentials out of sight. Default: none of that. */
  readonly isolation?: IsolationOptions
  /** Reads the start-up files of the user's shell, once, before the first command. Default: none are read. */
  readonly login?: Pick<LoginOptions, 'shell' | 'shared' | 'unshared'>
  /** What ends commands when the program dies, shared by environments without isolation. Default: each has its own. */
  readonly watcher?: SharedWatcher
  /** Named pipes that no command had yet, shared by environments. Default: each has those beside its outputs. */
  readonly pipes?: SharedPipes
  /** Where temporary files go; isolated commands may write there. Default `/tmp` and `/var/tmp`. */
  readonly temp?: readonly string[]
  /** The user's name for `probe`. Default: the one this program runs as. */
  readonly user?: string
}

/**
 * This machine as an environment: its files, a persistent shell, background processes.
 * @throws HermesError `environment.invalid_path` when `cwd`, `home` or `outputDir` is not absolute.
 */
export function createLocalEnvironment(options: LocalEnvironmentOptions): Environment {
  for (const name of ['cwd', 'home', 'outputDir'] as const) {
    if (isAbsolute(options[name])) continue
    throw new HermesError(`The local environment needs an absolute ${name}; got "${options[name]}".`, {
      code: 'environment.invalid_path',
      details: { option: name, path: options[name] },
    })
  }
  return new LocalEnvironment(options)
}

interface Variables {
  readonly env: Readonly<Record<string, string>>
  readonly withheld: string[]
}

class LocalEnvironment implements Environment {
  readonly backend = 'local'
  readonly root: string
  readonly sudo: SudoAccess
  readonly #options: LocalEnvironmentOptions
  readonly #shellPath: string
  readonly #cwd: string
  readonly #table: ProcessTable
  #memory: FileMemory | null = null
  /** The workspace as it was when this was opened. */
  readonly #workspace: Workspace | null
  readonly #isolate: Isolate | null
  readonly #support: IsolationSupport
  readonly #isIsolated: () => boolean
  #isolation: Promise<Isolation> | null = null
  #loaded: Isolation | null = null
  // Made before the first command: a session that runs none does not wait for a look at its home directory and variables.
  #madeBounds: Bounds | null = null
  #madeShell: Shell | null = null
  #variables: Variables | null = null
  readonly #closing = new AbortController()
  #madeCapabilities: Environment['capabilities'] | null = null
  readonly #programs = new Set<RunningProgram>()

  constructor(options: LocalEnvironmentOptions) {
    const { outputDir, clock = systemClock, logger = silentLogger } = options
    const path = options.env['PATH'] || STANDARD_PATH
    this.#options = options
    this.#shellPath = options.shell ?? findShell(path)
    this.#cwd = resolve(options.cwd)
    this.#workspace = options.isolation ? workspaceAt(this.#cwd, options.isolation.workspaces) : null
    this.root = this.#workspace?.path ?? realIfThere(this.#cwd) ?? this.#cwd
    this.#support = options.isolation?.support ?? createIsolationSupport()
    this.#isolate = options.isolation ? (...requested) => this.#isolated(...requested) : null
    this.#isIsolated = () => this.#isolate !== null && this.#support.why() === null
    // The one that was there at the start, whatever commands have put in front of it since.
    this.sudo = sudoAccess(path)
    const program = shellProgram(this.#shellPath)
    this.#table = new ProcessTable({ program, outputDir, clock, logger, loadPty: options.loadPty })
  }

  get #shell(): Shell {
    const { outputDir, clock = systemClock, logger = silentLogger, home, login, holds } = this.#options
    this.#madeShell ??= new Shell({
      program: shellProgram(this.#shellPath),
      cwd: this.#cwd,
      env: this.#variablesOfCommands().env,
      outputDir,
      clock,
      logger,
      login: login ? { ...login, home, admits: (name, value) => this.#admits(name, value) } : null,
      holds,
      take: (taken, handle) => this.#table.take(taken, handle),
      isolate: this.#isolate,
      isIsolated: this.#isIsolated,
      pipes: this.#options.pipes,
      // What is isolated is found by the mark of its own guard.
      ...(this.#isolate ? {} : { watcher: this.#options.watcher }),
    })
    return this.#madeShell
  }

  #boundsOf(isolation: IsolationOptions): Bounds {
    const { home, temp = TEMPORARY } = this.#options
    const workspace = this.#workspace ?? undefined
    this.#madeBounds ??= new Bounds({ cwd: this.#cwd, home, temp, isolation, workspace })
    return this.#madeBounds
  }

  #variablesOfCommands(): Variables {
    const { env, withholds = () => false } = this.#options
    if (this.#variables) return this.#variables
    const withheld = Object.keys(env).filter((name) => withholds(name, env[name] ?? ''))
    const kept = Object.entries(env).filter(([name]) => !withheld.includes(name))
    const variables = Object.fromEntries(kept)
    this.#variables = { env: { ...variables, PATH: variables['PATH'] || STANDARD_PATH }, withheld }
    return this.#variables
  }

  /** Whether commands get a variable that a start-up file set. */
  #admits(name: string, value: string): boolean {
    const { withholds = () => false } = this.#options
    if (!withholds(name, value)) return true
    const { withheld } = this.#variablesOfCommands()
    if (!withheld.includes(name)) withheld.push(name)
    return false
  }

  /** A pseudo-terminal, and whether this machine can isolate, is looked for when somebody first asks. */
  get capabilities(): Environment['capabilities'] {
    return (this.#madeCapabilities ??= this.#ableTo())
  }

  /** Made once: of an object literal with getters V8 keeps each one, and all it sees, until it next looks through the whole heap. */
  #ableTo(): Environment['capabilities'] {
    const pty = this.#options.loadPty !== undefined || isPtyInstalled()
    const withheld = () => this.#variablesOfCommands().withheld
    const { isolation } = this.#options
    if (!isolation) {
      return {
        background: true,
        pty,
        isolated: false,
        get withheld() {
          return withheld()
        },
      }
    }
    const isIsolated = this.#isIsolated
    const bounds = () => this.#boundsOf(isolation)
    return {
      background: true,
      pty,
      get withheld() {
        return withheld()
      },
      get writable() {
        return bounds().writable
      },
      get isolated() {
        return isIsolated()
      },
      get outside() {
        return isIsolated()
      },
      hides: (path) => this.#loaded?.hides(realIfThere(path) ?? path, this.#shell.folders()) ?? false,
      get offline() {
        return isolation.network === false && isIsolated()
      },
      get asksForNetwork() {
        return isolation.network === 'ask' && isIsolated()
      },
    }
  }

  cwd(): string {
    return this.#madeShell?.cwd() ?? nearestDirectory(this.#cwd)
  }

  resolve(path: string): string {
    if (path === '~') return this.#options.home
    if (path.startsWith('~/')) return resolve(this.#options.home, path.slice(2))
    return isAbsolute(path) ? resolve(path) : resolve(this.cwd(), path)
  }

  read(path: string, options?: Parameters<Environment['read']>[1]) {
    return readBytes(this.resolve(path), options)
  }

  async *readMany(folder: string, paths: AsyncIterable<readonly string[]>, options: ReadManyOptions) {
    const { readMany } = await import('./local-read-many.js')
    const signal = AbortSignal.any([options.signal, this.#closing.signal])
    yield* readMany(this.resolve(folder), paths, { ...options, signal })
  }

  stat(path: string) {
    return statPath(this.resolve(path))
  }

  list(path: string) {
    return listDirectory(this.resolve(path))
  }

  realpath(path: string) {
    return realPath(this.resolve(path))
  }

  async write(
    permit: Permit,
    path: string,
    bytes: Uint8Array,
    options: NonNullable<Parameters<Environment['write']>[3]> = {},
  ): Promise<FileStat> {
    const target = this.resolve(path)
    const real = await realPath(target)
    permit.consume(writeAction('write', target))
    if (options.noLinks && real !== target) throw linkCame(target)
    const written = await writeAtomically(real, bytes, options)
    this.#memory?.permitted(real)
    return written
  }

  async mkdir(permit: Permit, path: string): Promise<void> {
    const target = this.resolve(path)
    permit.consume(writeAction('mkdir', target))
    await makeDirectory(target)
  }

  async rename(permit: Permit, from: string, to: string, options?: { readonly noLinks?: boolean }): Promise<void> {
    const source = this.resolve(from)
    permit.consume(writeAction('rename', source))
    await renamePath(source, this.resolve(to), options)
    this.#memory?.permitted(this.resolve(to))
  }

  async remove(permit: Permit, path: string, options?: { readonly noLinks?: boolean }): Promise<void> {
    const target = this.resolve(path)
    permit.consume(writeAction('remove', target))
    await removePath(target, options)
  }

  async exec(permit: Permit, command: string, options: ExecOptions = {}): Promise<ExecResult> {
    this.#requireOpen()
    checkCommand(command)
    const requested = options.cwd === undefined ? options : { ...options, cwd: this.resolve(options.cwd) }
    return this.#shell.exec(command, requested, (cwd) => permit.consume(spawnAction(command, cwd, options)))
  }

  async spawn(permit: Permit, command: string, options: SpawnOptions = {}): Promise<BackgroundProcess> {
    this.#requireOpen()
    checkCommand(command)
    await this.#shell.ready()
    const cwd = this.#shell.start(options.cwd === undefined ? undefined : this.resolve(options.cwd)).cwd
    permit.consume(spawnAction(command, cwd, options))
    const isolate = options.outside ? null : this.#isolate
    // Its namespace does not end with the agent then: foreground commands in there have to be ended one by one.
    if (isolate) this.#shell.guard.channel()
    const askpass = this.#shell.askpass(options)
    const hold = await this.#options.holds?.(command, cwd)
    const env = heldVariables({ ...this.#shell.environment(options), ...options.env, ...askpass?.env }, hold)
    try {
      const process = await this.#table.spawn(command, cwd, env, {
        pty: options.pty ?? false,
        ...(askpass ? { line: askpass.commandLine(command) } : {}),
        ...(isolate
          ? {
              isolate: (requested) =>
                isolate(requested, this.#shell.folders(), { ...isolateOptions(options, hold), outlives: true }),
            }
          : {}),
      })
      if (askpass) process.observe({ onExit: () => askpass.remove() })
      return process
    } catch (error) {
      askpass?.remove()
      throw error
    }
  }

  readonly startProgram = async (permit: Permit, request: ProgramRequest): Promise<RunningProgram> => {
    this.#requireOpen()
    const { argv, outside } = request
    const line = programLine(argv)
    checkCommand(line)
    await this.#shell.ready()
    const { cwd } = this.#shell.start(request.cwd === undefined ? undefined : this.resolve(request.cwd))
    permit.consume(spawnAction(line, cwd, request))
    const { startLocalProgram } = await import('../programs/local-program.js')
    const isolate = outside ? null : this.#isolate
    const program = await startLocalProgram({
      argv,
      cwd,
      env: { ...this.#shell.environment(request), ...request.env },
      isolate: isolate ? (requested) => isolate(requested, this.#shell.folders(), request) : undefined,
      onDescriptors: request.onDescriptors,
      guard: this.#shell.guard,
      clock: this.#options.clock ?? systemClock,
    })
    this.#programs.add(program)
    void program.ended.then(() => this.#programs.delete(program))
    // Whoever closed it meanwhile knew of no such program.
    if (this.#closing.signal.aborted) await program.kill()
    this.#requireOpen()
    return program
  }

  readonly rememberFiles: NonNullable<Environment['rememberFiles']> = (selection) => {
    this.#memory ??= new FileMemory(this.root)
    return this.#memory.remember(selection, () => {
      const { outputDir, clock = systemClock } = this.#options
      return savedOutput(outputDir, clock)
    })
  }

  processes(): readonly BackgroundProcess[] {
    return this.#table.list()
  }

  async probe(): Promise<EnvironmentProbe> {
    const { home, user = currentUser() } = this.#options
    return { backend: this.backend, os: await describeSystem(), user, home, cwd: this.cwd(), shell: this.#shellPath }
  }

  async close(options: { readonly keepProcesses?: boolean } = {}): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort(
      new HermesError('This environment is closed; open another one.', { code: 'environment.closed' }),
    )
    const keep = options.keepProcesses ?? false
    await Promise.all([...this.#programs].map((program) => program.kill()))
    await Promise.all([this.#madeShell?.close(keep), this.#table.close(keep)])
    await (await this.#isolation)?.close(keep)
    this.#madeBounds?.close()
  }

  async #isolated(...requested: Parameters<Isolate>): Promise<IsolatedProgram> {
    this.#isolation ??= this.#loadIsolation(this.#boundsOf(this.#options.isolation!))
    return (await this.#isolation).wrap(...requested)
  }

  async #loadIsolation(bounds: Bounds): Promise<Isolation> {
    const { Isolation } = await import('../isolation/isolation.js')
    const { outputDir, logger = silentLogger } = this.#options
    const [support, { platform }] = [this.#support, process]
    // What a command has made of it says nothing about what may be seen.
    const path = () => this.#shell.environment({ outside: true })['PATH'] ?? ''
    this.#loaded = new Isolation({ bounds, outputDir, support, logger, platform, path })
    return this.#loaded
  }

  #requireOpen(): void {
    this.#closing.signal.throwIfAborted()
  }
}

function writeAction(operation: 'write' | 'mkdir' | 'rename' | 'remove', path: string): Action {
  return { type: 'write', path, operation, backend: 'local' }
}

function spawnAction(
  command: string,
  cwd: string,
  { outside, network }: Pick<ExecOptions, 'outside' | 'network'>,
): Action {
  return {
    type: 'spawn',
    command,
    cwd,
    backend: 'local',
    ...(outside ? { outside } : {}),
    ...(network ? { network } : {}),
  }
}
