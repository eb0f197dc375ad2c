import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, HermesError } from '@hermes/contracts'
import { clientMissing, ProgramHost } from '../remote/program-host.js'
import type { HostClient } from '../remote/remote-host.js'
import { sshFailure } from './ssh-errors.js'

const PERSIST_SECONDS = 300
const ALIVE_SECONDS = 15
/** What opening may take beside the connect timeout: authentication, and programs of the user's own configuration. */
const LOGIN_LIMIT_MS = 20_000

/** Where a host is and how to log in there. What is not given is up to the user's ssh configuration. */
export interface SshTarget {
  /** A host name, an address, or a name from the ssh configuration. */
  readonly host: string
  readonly user?: string
  readonly port?: number
  /** A private key, used alone. */
  readonly identityFile?: string
  /** Instead of the user's own list. */
  readonly knownHostsFile?: string
  /** Instead of the user's own configuration. */
  readonly configFile?: string
  /** `strict` knows only hosts on record; `accept-new` takes the key of one it never saw. A changed key is refused by both. Default `strict`. */
  readonly hostKeys?: 'strict' | 'accept-new'
  /** Seconds until a server must have answered. Default 10. */
  readonly connectTimeout?: number
}

interface SshHostOptions extends SshTarget {
  /** Variables of the ssh client; see `SshOptions`. */
  readonly clientEnv: Readonly<Record<string, string>>
  /** Where the shared connection's socket goes; a short path, for the system allows about 100 characters. */
  readonly socketDir: string
  readonly clock: Clock
}

/**
 * A machine reached by the system's `ssh`. One connection is opened, without any question to the user, and shared by all commands;
 * it is opened again when it was lost. Background processes have connections of their own.
 */
export class SshHost extends ProgramHost {
  readonly backend = 'ssh'
  readonly isolated = false
  readonly name: string
  readonly #options: SshHostOptions
  #directory: Promise<string> | null = null
  #socket: string | null = null
  #opening: Promise<void> | null = null
  #closed = false

  /** @throws HermesError `environment.invalid_host`. */
  constructor(options: SshHostOptions) {
    super()
    for (const part of [options.host, options.user ?? 'user']) {
      // A leading dash would be an option of ssh; the rest has no place in a name.
      if (/^[^-\s'"`$\\;&|<>()][^\s'"`$\\;&|<>()]*$/.test(part)) continue
      throw new HermesError(`"${part}" is no name of a host or user.`, { code: 'environment.invalid_host' })
    }
    this.#options = options
    this.name = `${options.user === undefined ? '' : `${options.user}@`}${options.host}`
  }

  async connect(): Promise<void> {
    // What is left to end once this is closed gets connections of its own.
    if (this.#closed) return
    if (this.#socket !== null && existsSync(this.#socket)) return
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null
    })
    await this.#opening
  }

  client(line: string, options: { readonly lasts?: boolean } = {}): HostClient {
    const shared = this.#socket !== null && !options.lasts
    return this.#ssh([
      ...(shared ? ['-o', 'ControlMaster=no', '-o', `ControlPath=${this.#socket}`] : ['-o', 'ControlPath=none']),
      ...this.#target(),
      line,
    ])
  }

  failure(exitCode: number | null, stderr: string): HermesError {
    return sshFailure(this.name, exitCode, stderr)
  }

  async close({ keepProcesses }: { readonly keepProcesses: boolean }): Promise<void> {
    this.#closed = true
    await this.#opening?.catch(() => undefined)
    const directory = await this.#directory
    if (this.#socket !== null && existsSync(this.#socket) && !keepProcesses) {
      await run(this.#ssh(['-O', 'exit', '-o', `ControlPath=${this.#socket}`, ...this.#target()]), LOGIN_LIMIT_MS)
    }
    this.#socket = null
    if (directory !== null && directory !== undefined) await rm(directory, { recursive: true, force: true })
  }

  async #open(): Promise<void> {
    this.#directory ??= mkdtemp(join(this.#options.socketDir, 'hermes-ssh-'))
    const directory = await this.#directory
    const [socket, log] = [join(directory, 's'), join(directory, 'log')]
    await rm(socket, { force: true })
    await rm(log, { force: true })
    const share = ['ControlMaster=yes', `ControlPath=${socket}`, `ControlPersist=${PERSIST_SECONDS}`]
    const client = this.#ssh(['-f', '-N', '-E', log, ...share.flatMap((option) => ['-o', option]), ...this.#target()])
    const limitMs = this.#connectSeconds() * 1000 + LOGIN_LIMIT_MS
    const exitCode = await run(client, limitMs)
    if (exitCode === 0) {
      this.#socket = socket
      return
    }
    const text = await readFile(log, 'utf8').catch(() => '')
    throw exitCode === 'late'
      ? sshFailure(this.name, null, `${text}\nConnection timed out`)
      : sshFailure(this.name, exitCode, text)
  }

  #ssh(args: readonly string[]): HostClient {
    return { program: 'ssh', args, env: this.#options.clientEnv }
  }

  #connectSeconds(): number {
    return this.#options.connectTimeout ?? 10
  }

  /** Nothing may ask, and nothing of this machine is lent to the other one. */
  #target(): string[] {
    const { host, user, port, identityFile, knownHostsFile, configFile, hostKeys = 'strict' } = this.#options
    const options = [
      'BatchMode=yes',
      `StrictHostKeyChecking=${hostKeys === 'strict' ? 'yes' : 'accept-new'}`,
      `ConnectTimeout=${this.#connectSeconds()}`,
      `ServerAliveInterval=${ALIVE_SECONDS}`,
      'ClearAllForwardings=yes',
      'ForwardAgent=no',
      'ForwardX11=no',
      'PermitLocalCommand=no',
      'RequestTTY=no',
      'RemoteCommand=none',
      ...(knownHostsFile === undefined ? [] : [`UserKnownHostsFile="${knownHostsFile}"`]),
      ...(identityFile === undefined ? [] : ['IdentitiesOnly=yes']),
    ]
    return [
      ...(configFile === undefined ? [] : ['-F', configFile]),
      ...options.flatMap((option) => ['-o', option]),
      ...(identityFile === undefined ? [] : ['-i', identityFile]),
      ...(port === undefined ? [] : ['-p', String(port)]),
      ...(user === undefined ? [] : ['-l', user]),
      '-T',
      '--',
      host,
    ]
  }
}

/** Runs a client for its exit code; `late` when it had to be ended. */
function run(client: HostClient, limitMs: number): Promise<number | null | 'late'> {
  const child = spawn(client.program, client.args, { cwd: '/', env: client.env, detached: true, stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      resolve('late')
    }, limitMs)
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(clientMissing(client.program, error))
    })
    // Not `close`: the connection stays behind in the background.
    child.once('exit', (exitCode) => {
      clearTimeout(timer)
      resolve(exitCode)
    })
  })
}
