import { randomBytes } from 'node:crypto'
import { isAbsolute, posix } from 'node:path'
import { type Clock, errorLine, HermesError, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type {
  BackgroundProcess,
  Environment,
  EnvironmentProbe,
  ExecOptions,
  ExecResult,
  FileStat,
  ProgramRequest,
  RunningProgram,
  SpawnOptions,
} from '@hermes/contracts/environment'
import { programLine } from '@hermes/contracts/environment'
import type { Action, Permit } from '@hermes/contracts/policy'
import { ProcessTable } from '../processes/process-table.js'
import { shellProgram } from '../shell/shell-script.js'
import { parseShellState } from '../shell/shell-state.js'
import type { FolderSync, SyncFolder } from '../sync/folder-sync.js'
import { killScript } from './kill-script.js'
import { parseProbe, probeScript, type RemoteFacts } from './probe-script.js'
import { RemoteFiles } from './remote-files.js'
import type { RemoteHost } from './remote-host.js'
import { RemoteShell } from './remote-shell.js'
import { RemoteSudo } from './remote-sudo.js'
import { runScript } from './run-script.js'

/** How long the other side may take to be left tidy; ending processes that resist takes two seconds each time. */
const CLOSE_LIMIT_MS = 6_000

/** What every environment on another side needs. */
export interface RemoteOptions {
  /** Where the shell starts: absolute, or from the home directory over there. Default: that home directory. */
  readonly cwd?: string
  /** Variables added over there, for commands only; they travel on standard input and show in no list of processes. */
  readonly env?: Readonly<Record<string, string>>
  /** Where the records of background processes are kept on this machine; made on first use, one for each other side. Absolute. */
  readonly outputDir: string
  /** Folders that are to be the same here and over there. Default none. */
  readonly folders?: readonly SyncFolder[]
  /** Default: silent. */
  readonly logger?: Logger
  /** Default: the machine's clock. */
  readonly clock?: Clock
}

/**
 * Opens the way to `host` and an environment there. `login`: commands get the variables of a login shell.
 * @throws HermesError `environment.not_found` when `cwd` is missing over there, or what the host throws.
 */
export async function openRemoteEnvironment(
  host: RemoteHost,
  options: RemoteOptions & { readonly login: boolean },
): Promise<Environment> {
  if (!isAbsolute(options.outputDir)) {
    throw new HermesError(`An environment needs an absolute outputDir; got "${options.outputDir}".`, {
      code: 'environment.invalid_path',
      details: { option: 'outputDir', path: options.outputDir },
    })
  }
  try {
    const sync = await syncOf(host, options)
    await sync?.begin()
    return new RemoteEnvironment(host, { ...options, sync }, await probe(host, options))
  } catch (error) {
    await host.close({ keepProcesses: false })
    throw error
  }
}

async function syncOf(host: RemoteHost, options: RemoteOptions): Promise<FolderSync | null> {
  const { folders = [], outputDir, clock = systemClock, logger = silentLogger } = options
  if (folders.length === 0) return null
  const { FolderSync } = await import('../sync/folder-sync.js')
  return new FolderSync({ host, folders, stateDir: outputDir, clock, logger })
}

async function probe(host: RemoteHost, options: RemoteOptions & { readonly login: boolean }): Promise<RemoteFacts> {
  const cwd = (options.cwd ?? '.').replace(/^~(\/|$)/, './')
  const { ok, stdout, stderr } = await runScript(host, probeScript(cwd, options.login))
  const missing = /HERMES:no_directory (.*)/.exec(stderr)?.[1]
  if (missing !== undefined) {
    throw new HermesError(`${host.name} has no directory ${missing}; make it, or set another working directory.`, {
      code: 'environment.not_found',
      details: { path: missing },
    })
  }
  const found = ok ? parseProbe(stdout) : null
  if (found) return found
  throw new HermesError(
    `${host.name} is no place for commands: ${stderr.trim().split('\n').at(-1) || 'its shell answers strangely'}.`,
    { code: 'environment.unusable' },
  )
}

class RemoteEnvironment implements Environment {
  readonly backend: string
  readonly root: string
  readonly capabilities: Environment['capabilities']
  readonly sudo: RemoteSudo | undefined
  readonly startProgram: Environment['startProgram']
  readonly #host: RemoteHost
  readonly #side: RemoteFacts
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #shell: RemoteShell
  readonly #files: RemoteFiles
  readonly #table: ProcessTable
  readonly #sync: FolderSync | null
  readonly #programs = new Set<RunningProgram>()
  #closed = false

  constructor(host: RemoteHost, options: RemoteOptions & { readonly sync: FolderSync | null }, side: RemoteFacts) {
    const { outputDir, clock = systemClock, logger = silentLogger, env = {} } = options
    this.backend = host.backend
    this.capabilities = { background: true, pty: side.pty && (host.hasPty ?? false), isolated: host.isolated }
    this.#host = host
    this.#sync = options.sync
    this.#side = side
    this.#logger = logger
    this.#clock = clock
    const found = parseShellState(side.state, {}) ?? { cwd: side.home, env: {} }
    this.root = found.cwd
    const state = { cwd: found.cwd, env: { ...found.env, ...env } }
    const { shell, scratch } = side
    const inherited = Object.keys(found.env)
    // In a container commands are root, or nobody can become it.
    this.sudo = host.isolated ? undefined : new RemoteSudo(host, state.env['PATH'] ?? '')
    const { sudo = null } = this
    this.#shell = new RemoteShell({ host, shell, scratch, state, inherited, sudo, outputDir, clock, logger })
    const client = host.client?.bind(host)
    this.startProgram = client && ((permit, request) => this.#startProgram(client, permit, request))
    this.#files = new RemoteFiles(host, side.stat)
    this.#table = new ProcessTable({
      program: shellProgram('/bin/sh'),
      outputDir,
      clock,
      logger,
      follow: host.follow?.bind(host),
      killRemote: async (process) => void (await runScript(host, killScript([process]))),
    })
  }

  cwd(): string {
    return this.#shell.cwd()
  }

  resolve(path: string): string {
    if (path === '~') return this.#side.home
    if (path.startsWith('~/')) return posix.resolve(this.#side.home, path.slice(2))
    return posix.resolve(this.cwd(), path)
  }

  read(path: string, options?: { readonly offset?: number; readonly length?: number }) {
    return this.#files.read(this.resolve(path), options)
  }

  stat(path: string) {
    return this.#files.stat(this.resolve(path))
  }

  list(path: string) {
    return this.#files.list(this.resolve(path))
  }

  realpath(path: string) {
    return this.#files.realpath(this.resolve(path))
  }

  async write(
    permit: Permit,
    path: string,
    bytes: Uint8Array,
    options?: Parameters<Environment['write']>[3],
  ): Promise<FileStat> {
    const target = this.resolve(path)
    permit.consume(this.#writeAction('write', target))
    return this.#files.write(target, bytes, options)
  }

  async mkdir(permit: Permit, path: string): Promise<void> {
    const target = this.resolve(path)
    permit.consume(this.#writeAction('mkdir', target))
    await this.#files.mkdir(target)
  }

  async rename(permit: Permit, from: string, to: string, options?: { readonly noLinks?: boolean }): Promise<void> {
    const source = this.resolve(from)
    permit.consume(this.#writeAction('rename', source))
    await this.#files.rename(source, this.resolve(to), options)
  }

  async remove(permit: Permit, path: string, options?: { readonly noLinks?: boolean }): Promise<void> {
    const target = this.resolve(path)
    permit.consume(this.#writeAction('remove', target))
    await this.#files.remove(target, options)
  }

  async exec(permit: Permit, command: string, options: ExecOptions = {}): Promise<ExecResult> {
    this.#requireOpen()
    if (!options.signal?.aborted) await this.#takeOver()
    const requested = options.cwd === undefined ? options : { ...options, cwd: this.resolve(options.cwd) }
    return this.#shell.exec(command, requested, (cwd) => permit.consume(this.#spawnAction(command, cwd)))
  }

  async spawn(permit: Permit, command: string, options: SpawnOptions = {}): Promise<BackgroundProcess> {
    this.#requireOpen()
    if (options.pty && !this.capabilities.pty) {
      throw new HermesError(`There is no pseudo-terminal in a ${this.backend} environment; run it without.`, {
        code: 'environment.no_pty',
      })
    }
    await this.#takeOver()
    const remote = this.#shell.remote(command, options.cwd && this.resolve(options.cwd), options.env)
    permit.consume(this.#spawnAction(command, remote.cwd))
    await this.#host.connect()
    const withPassword = await this.#shell.withSudo({ ...remote, pty: options.pty ?? false }, options)
    const start = this.#host.background(withPassword, randomBytes(8).toString('hex'))
    return this.#table.spawn(command, remote.cwd, {}, { remote: start, pty: options.pty ?? false })
  }

  async #startProgram(
    client: NonNullable<RemoteHost['client']>,
    permit: Permit,
    { argv, cwd, env }: ProgramRequest,
  ): Promise<RunningProgram> {
    this.#requireOpen()
    await this.#takeOver()
    this.#requireOpen()
    const line = programLine(argv)
    const remote = this.#shell.remote(line, cwd && this.resolve(cwd), env)
    permit.consume(this.#spawnAction(line, remote.cwd))
    const { startRemoteProgram } = await import('../programs/remote-program.js')
    const program = await startRemoteProgram({ host: this.#host, client, argv, remote, scratch: this.#side.scratch })
    this.#programs.add(program)
    void program.ended.then(() => this.#programs.delete(program))
    // Whoever closed it meanwhile knew of no such program.
    if (this.#closed) await program.kill()
    this.#requireOpen()
    return program
  }

  async keepText(text: string): Promise<string> {
    this.#requireOpen()
    return this.#shell.keepText(text)
  }

  processes(): readonly BackgroundProcess[] {
    return this.#table.list()
  }

  async probe(): Promise<EnvironmentProbe> {
    const { os, user, home, shell } = this.#side
    return { backend: this.backend, os, user, home, cwd: this.cwd(), shell }
  }

  async close(options: { readonly keepProcesses?: boolean } = {}): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const keepProcesses = options.keepProcesses ?? false
    if (!this.#host.isAsleep?.()) await this.#sync?.finish()
    const tidied = new AbortController()
    // A side that cannot be reached any more cannot be tidied; that is no reason to fail or to wait at the end.
    const late = this.#clock.sleep(CLOSE_LIMIT_MS, tidied.signal).then(
      () => 'it does not answer',
      () => null,
    )
    const shell = this.#host.isAsleep?.() ? null : this.#shell.close(keepProcesses)
    const programs = [...this.#programs].map((program) => program.kill())
    const all = Promise.all([...programs, shell, this.#table.close(keepProcesses)])
    const why = await Promise.race([all.then(() => null, errorLine), late])
    tidied.abort()
    this.#shell.abandon()
    if (why !== null) this.#logger.warn('An environment was not left tidy.', { host: this.#host.name, why })
    await this.#host.close({ keepProcesses })
  }

  /** What changed here since; a command runs all the same. */
  async #takeOver(): Promise<void> {
    try {
      await this.#sync?.push()
    } catch (error) {
      this.#logger.warn('Changes here were not taken over.', { host: this.#host.name, error: errorLine(error) })
    }
  }

  #requireOpen(): void {
    if (!this.#closed) return
    throw new HermesError('This environment is closed; open another one.', { code: 'environment.closed' })
  }

  #writeAction(operation: 'write' | 'mkdir' | 'rename' | 'remove', path: string): Action {
    return { type: 'write', path, operation, backend: this.backend }
  }

  #spawnAction(command: string, cwd: string): Action {
    return { type: 'spawn', command, cwd, backend: this.backend }
  }
}
