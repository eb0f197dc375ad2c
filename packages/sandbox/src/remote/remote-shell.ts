import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { type Clock, errorLine, HermesError, type Logger } from '@hermes/contracts'
import type { ExecOptions, ExecResult } from '@hermes/contracts/environment'
import { fileError } from '../file-error.js'
import type { RemoteProcessId } from '../processes/process-record.js'
import { commandOutput, outputListener } from '../shell/command-output.js'
import { checkCommand, quote } from '../shell/command-text.js'
import type { OutputCollector } from '../shell/output-collector.js'
import { RunningCommands } from '../shell/running-commands.js'
import { commandLimitMs, commandResult, missingDirectory, ShellSession, whenAborted } from '../shell/session.js'
import type { ShellState } from '../shell/shell-state.js'
import { execScript, type RemoteCommand } from './exec-script.js'
import { killScript } from './kill-script.js'
import { type RemoteEnd, runRemoteCommand } from './remote-command.js'
import { remoteFileError } from './remote-error.js'
import type { RemoteHost, RemoteStream } from './remote-host.js'
import type { RemoteSudo } from './remote-sudo.js'
import { runScript } from './run-script.js'

interface RemoteShellOptions {
  readonly host: RemoteHost
  readonly shell: string
  readonly scratch: string
  /** What it begins with; its names are those the other side may set by itself. */
  readonly state: ShellState
  readonly inherited: readonly string[]
  /** `null` where nobody becomes root with a password. */
  readonly sudo: RemoteSudo | null
  readonly outputDir: string
  readonly clock: Clock
  readonly logger: Logger
}

/** A shell over there whose directory and exported variables persist, though each command gets a process of its own. */
export class RemoteShell {
  readonly #options: RemoteShellOptions
  readonly #running = new RunningCommands()
  readonly #streams = new Set<RemoteStream>()
  /** Sessions of commands that left processes behind. */
  readonly #orphans: RemoteProcessId[] = []
  readonly #session: ShellSession
  /** The directory, or the nearest above it when it was missing last. */
  #nearest: string

  constructor(options: RemoteShellOptions) {
    this.#options = options
    this.#session = new ShellSession(options.state, options.state.env)
    this.#nearest = options.state.cwd
  }

  cwd(): string {
    return this.#nearest
  }

  /** What a command in `cwd` (default: the shell's directory) is started with. */
  remote(command: string, cwd: string | undefined, env: Readonly<Record<string, string>> = {}): RemoteCommand {
    const { shell, inherited } = this.#options
    checkCommand(command)
    const at = cwd ?? this.#nearest
    const names = new Set([...inherited, ...Object.keys(this.#session.env)])
    return { command, cwd: at, env: { ...this.#session.env, ...env, PWD: at }, inherited: names, shell }
  }

  /** `remote`, whose `sudo` is told a password where one is given. @throws HermesError what the host makes of its client's failure. */
  async withSudo(remote: RemoteCommand, { sudoPassword }: Pick<ExecOptions, 'sudoPassword'>): Promise<RemoteCommand> {
    const { sudo, scratch } = this.#options
    if (sudoPassword === undefined || sudo === null) return remote
    const askpass = await sudo.askpass(`${scratch}/askpass-${randomBytes(4).toString('hex')}`, sudoPassword)
    if (askpass === null) return remote
    const [command, env] = [askpass.commandLine(remote.command), { ...remote.env, ...askpass.env }]
    return { ...remote, command, env, around: { before: askpass.lay, after: askpass.remove } }
  }

  /** Runs `command`; `consume` is called with the starting directory just before. */
  exec(command: string, options: ExecOptions, consume: (cwd: string) => void): Promise<ExecResult> {
    return this.#running.run(options.signal, (signal) => this.#exec(command, options, consume, signal))
  }

  /** Ends running commands, and unless `keepProcesses` what earlier ones left in the background. */
  async close(keepProcesses: boolean): Promise<void> {
    await this.#running.stop()
    const { host, scratch } = this.#options
    const orphans = keepProcesses || this.#orphans.length === 0 ? '' : `( ${killScript(this.#orphans)} )\n`
    // Outputs that were saved stay: the conversation names them.
    await runScript(host, `${orphans}rm -f ${quote(scratch)}/askpass-*; rmdir ${quote(scratch)} 2>/dev/null`)
  }

  /** Saves text over there, for the user alone; the path. @throws HermesError `environment.*`. */
  keepText(text: string): Promise<string> {
    return this.#save(Buffer.from(text))
  }

  /** Gives up on what still runs. */
  abandon(): void {
    for (const stream of this.#streams) stream.stop()
  }

  async #exec(
    command: string,
    options: ExecOptions,
    consume: (cwd: string) => void,
    signal: AbortSignal,
  ): Promise<ExecResult> {
    const { host, clock, logger, scratch } = this.#options
    const startedMs = clock.now()
    const remote = this.remote(command, options.cwd, options.env)
    consume(remote.cwd)
    const output = commandOutput(options, this.#outputs())
    try {
      const emit = outputListener(output, options.onOutput, logger)
      if (options.cwd === undefined && remote.cwd !== this.#session.cwd)
        emit(Buffer.from(`[${this.#session.cwd} does not exist any more; running in ${remote.cwd}.]\n`))
      if (!signal.aborted) await Promise.race([host.connect(), whenAborted(signal)])
      if (signal.aborted) return this.#result({ type: 'stopped', why: 'abort' }, output, startedMs)
      const mark = randomBytes(8).toString('hex')
      const withPassword = await this.withSudo(remote, options)
      const end = await runRemoteCommand({
        host,
        script: execScript(withPassword, mark, scratch, options.stdin !== undefined),
        mark,
        input: options.stdin ?? '',
        onOutput: emit,
        timeoutMs: commandLimitMs(options),
        signal,
        clock,
        onStream: (stream) => this.#keepTrack(stream),
      })
      // Who was ended takes nothing away any more.
      if (end.type === 'stopped' && withPassword.around)
        await runScript(host, withPassword.around.after).catch(() => null)
      if (end.type === 'gone') throw this.#missing(remote.cwd, end.nearest, options)
      const notice = host.takeNotice?.() ?? null
      if (notice !== null) emit(Buffer.from(`[${notice}]\n`))
      const dropped = this.#keepState(
        end,
        withPassword.around ? { ...options, env: { ...options.env, SUDO_ASKPASS: '' } } : options,
      )
      if (dropped !== '') emit(Buffer.from(dropped))
      output.end()
      return { ...this.#result(end, output, startedMs), fullOutputPath: await this.#handOver(output) }
    } finally {
      output.end()
    }
  }

  #outputs() {
    const { outputDir, clock } = this.#options
    try {
      mkdirSync(outputDir, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw fileError(error, 'make the directory', outputDir)
    }
    return { outputDir, clock }
  }

  #keepTrack(stream: RemoteStream): void {
    this.#streams.add(stream)
    void stream.closed.then(() => this.#streams.delete(stream))
  }

  /** The line that tells of variables that could not be kept. */
  #keepState(end: RemoteEnd, options: ExecOptions): string {
    if (end.type !== 'ended') return ''
    if (end.left) this.#orphans.push(end.left)
    const notice = end.signal === null ? this.#session.keep(end.state, options) : null
    if (notice !== null && options.cwd === undefined) this.#nearest = end.nearest
    return notice ?? ''
  }

  /** Saved output goes where the agent's tools can read it. */
  async #handOver(output: OutputCollector): Promise<string | null> {
    if (output.filePath === null) return null
    const { logger } = this.#options
    try {
      return await this.#save(readFileSync(output.filePath))
    } catch (error) {
      logger.warn('A long output could not be saved on the other side.', { error: errorLine(error) })
      return null
    } finally {
      rmSync(output.filePath, { force: true })
    }
  }

  async #save(bytes: Uint8Array): Promise<string> {
    const { host, scratch, clock } = this.#options
    const path = `${scratch}/output-${clock.now()}-${randomBytes(4).toString('hex')}.txt`
    const script = `umask 077; [ -d ${quote(scratch)} ] || mkdir ${quote(scratch)}; cat > ${quote(path)}`
    const { ok, stderr } = await runScript(host, script, bytes)
    if (!ok) throw remoteFileError(stderr, 'write', path)
    return path
  }

  #missing(cwd: string, nearest: string, options: ExecOptions): HermesError {
    if (options.cwd !== undefined) return missingDirectory(cwd)
    this.#nearest = nearest
    return new HermesError(`The shell's directory ${cwd} was removed; it is in ${nearest} now. Nothing ran.`, {
      code: 'environment.not_found',
      details: { path: cwd },
    })
  }

  #result(end: RemoteEnd, output: OutputCollector, startedMs: number): ExecResult {
    const ran = end.type === 'ended' ? end : { exitCode: null, signal: null }
    const ending = { ...ran, stopped: end.type === 'stopped' ? end.why : null }
    const durationMs = this.#options.clock.now() - startedMs
    return commandResult(ending, output, { durationMs, cwd: this.cwd(), fullOutputPath: null })
  }
}
