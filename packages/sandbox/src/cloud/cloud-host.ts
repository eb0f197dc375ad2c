import { randomBytes } from 'node:crypto'
import type { Clock, Logger } from '@hermes/contracts'
import { errorLine, HermesError } from '@hermes/contracts'
import type { Lease } from '../processes/leases.js'
import { takeLease } from '../processes/leases.js'
import type { ProcessHandle } from '../processes/process-handle.js'
import type { RemoteProcessId } from '../processes/process-record.js'
import type { RemoteCommand } from '../remote/exec-script.js'
import { backgroundScript } from '../remote/exec-script.js'
import type { ProgramOutput, RemoteHost, RemoteStream, StreamListener } from '../remote/remote-host.js'
import { runScript } from '../remote/run-script.js'
import type { RemoteProcess, RemoteStart } from '../shell/remote-start.js'
import { missingDirectory } from '../shell/session.js'
import type { RemoteProcessTarget } from './followed-remote-process.js'
import { FollowedRemoteProcess } from './followed-remote-process.js'
import { awaitRemoteProcess, dropRemoteProcess, startRemoteProcess } from './remote-process-scripts.js'
import { remoteProcessStream } from './remote-process-stream.js'

/** A sandbox of a cloud, running. */
export interface CloudSandbox {
  /** It was made just now, with nothing in it of one before. */
  readonly isNew: boolean
  /** Runs a script to its end, with `input` as its standard input. */
  converse(script: string, input: Uint8Array): Promise<ProgramOutput>
  /** Ends it: with `keep` its files are there for whoever opens it next. */
  end(how: 'keep' | 'remove'): Promise<void>
}

/** A cloud and the sandbox wanted there. */
export interface Cloud {
  /** The environment's backend name. */
  readonly backend: string
  /** What errors call the sandbox. */
  readonly name: string
  /** A sandbox that the service ends after a rest has lost its files, so it is ended here before that. Default `false`. */
  readonly forgetsAtRest?: boolean
  /** Finds the sandbox, else makes it, and sees that it runs and goes on running for a while. */
  open(): Promise<CloudSandbox>
  /** Anything thrown by the SDK, as one line. */
  failure(error: unknown): HermesError
  /** Lets go of connections. */
  close(): Promise<void>
}

interface CloudHostOptions {
  readonly cloud: Cloud
  /** Seconds of rest after which the sandbox may have been stopped. */
  readonly idleSeconds: number
  /** Whether the sandbox's files are left for the next one who opens it. */
  readonly persistent: boolean
  /** Where users of the sandbox on this machine are counted. Absolute. */
  readonly leaseDir: string
  readonly clock: Clock
  readonly logger: Logger
}

/** What a request may take beside the time for its bytes. */
const REQUEST_LIMIT_MS = 120_000
const BYTES_PER_MS = 50
const TIDY_LIMIT_MS = 1_000
const NEW_ONE = 'The sandbox is a new one: files and processes of the one before are gone.'
const GONE = 'environment.sandbox_gone'

/** A sandbox of a cloud: found or made on first use, looked for again after a rest, and ended with its last user here. */
export class CloudHost implements RemoteHost {
  readonly backend: string
  readonly isolated = true
  readonly name: string
  readonly #options: CloudHostOptions
  readonly #remoteProcesses = new Set<FollowedRemoteProcess>()
  readonly #streams = new Set<Promise<void>>()
  #sandbox: CloudSandbox | null = null
  #lease: Lease | null = null
  #openedMs = 0
  #usedMs = 0
  #closed = false
  #notice: string | null = null
  #opening: Promise<void> | null = null
  #rest: NodeJS.Timeout | null = null
  /** Requests to the sandbox that have not been answered. */
  #underWay = 0

  constructor(options: CloudHostOptions) {
    this.#options = options
    this.backend = options.cloud.backend
    this.name = options.cloud.name
  }

  async connect(): Promise<void> {
    if (this.#isFresh()) return
    // What is under way may be the end of the one before.
    while (this.#opening) await this.#opening
    if (this.#isFresh()) return
    this.#opening = this.#open().finally(() => {
      this.#opening = null
    })
    await this.#opening
  }

  async converse(script: string, input: Uint8Array): Promise<ProgramOutput> {
    try {
      return await this.#converse(script, input)
    } catch (error) {
      // It was stopped since the last request, or removed: what asked finds it running again, or another one.
      if ((error as HermesError).code !== GONE) throw error
      await this.connect()
      return this.#converse(script, input)
    }
  }

  stream(script: string, input: string, listener: StreamListener): RemoteStream {
    const stream = remoteProcessStream(this, this.#options.clock, script, input, listener)
    this.#streams.add(stream.closed)
    void stream.closed.then(() => this.#streams.delete(stream.closed))
    return stream
  }

  background(remote: RemoteCommand, mark: string): RemoteStart {
    const start = async (log: string) => {
      const failure = (report: string) =>
        report.includes(`${mark} gone`) ? missingDirectory(remote.cwd) : this.failure(null, report)
      const remoteProcess = await startBackgroundRemoteProcess(this.#target(log), {
        script: backgroundScript(remote, mark),
        mark,
        failure,
      })
      this.#remoteProcesses.add(remoteProcess.handle)
      return remoteProcess
    }
    return { type: 'job', start }
  }

  follow(remoteProcess: string, log: string): ProcessHandle {
    const handle = followAgain(this.#target(log), remoteProcess)
    this.#remoteProcesses.add(handle)
    return handle
  }

  takeNotice(): string | null {
    const notice = this.#notice
    this.#notice = null
    return notice
  }

  isAsleep(): boolean {
    const { clock, idleSeconds } = this.#options
    return this.#sandbox === null || clock.now() - this.#usedMs > idleSeconds * 1000
  }

  failure(exitCode: number | null, stderr: string): HermesError {
    const text = stderr.trim().split('\n').at(-1) ?? ''
    return new HermesError(
      `${this.name} gave no answer to a request${text === '' ? '' : `: ${text.replace(/\.$/, '')}`}.`,
      {
        code: 'environment.connection_lost',
        retryable: true,
        details: { exitCode },
      },
    )
  }

  async close({ keepProcesses }: { readonly keepProcesses: boolean }): Promise<void> {
    this.#closed = true
    if (this.#rest) clearTimeout(this.#rest)
    for (const remoteProcess of this.#remoteProcesses) remoteProcess.letGo()
    await this.#opening?.catch(() => undefined)
    await this.#tidied()
    const { cloud, persistent } = this.#options
    const isLast = this.#lease?.release() ?? false
    // What the service stopped is kept already.
    const hasEnded = persistent && this.isAsleep() && !cloud.forgetsAtRest
    try {
      if (isLast && !keepProcesses && !hasEnded)
        await this.#guard(this.#sandbox?.end(persistent ? 'keep' : 'remove'), REQUEST_LIMIT_MS)
    } catch (error) {
      this.#notEnded(error)
    }
    this.#sandbox = null
    await cloud.close()
  }

  /** It may have been stopped only after a while; one that is at work is told in time to go on. */
  #isFresh(): boolean {
    const { clock, idleSeconds } = this.#options
    return this.#sandbox !== null && clock.now() - this.#openedMs < (idleSeconds * 1000) / 2
  }

  async #open(): Promise<void> {
    // What is left to end once this is closed does not count as a user.
    if (!this.#closed) this.#lease ??= takeLease(this.#options.leaseDir)
    this.#sandbox = await this.#guard(this.#options.cloud.open(), null)
    if (this.#sandbox.isNew && this.#openedMs > 0) this.#notice = NEW_ONE
    this.#openedMs = this.#options.clock.now()
  }

  #converse(script: string, input: Uint8Array): Promise<ProgramOutput> {
    const sandbox = this.#sandbox
    if (sandbox === null) throw this.failure(null, '')
    this.#usedMs = this.#options.clock.now()
    this.#underWay++
    const answer = this.#guard(sandbox.converse(script, input), REQUEST_LIMIT_MS + input.length / BYTES_PER_MS)
    return answer.finally(() => {
      this.#usedMs = this.#options.clock.now()
      this.#underWay--
      this.#restLater()
    })
  }

  #restLater(): void {
    const { cloud, persistent, idleSeconds } = this.#options
    if (!cloud.forgetsAtRest || !persistent || this.#closed) return
    if (this.#rest) clearTimeout(this.#rest)
    this.#rest = setTimeout(() => void this.#restNow(), idleSeconds * 1000).unref()
  }

  /** Puts the sandbox away unless somebody else here works in it; the next command opens it again. */
  async #restNow(): Promise<void> {
    const sandbox = this.#sandbox
    // What takes longer than a rest is no rest; its end begins the next one.
    const isAtWork = this.#underWay > 0 || this.#streams.size > 0
    if (sandbox === null || this.#closed || isAtWork || !this.#lease?.isAlone()) return
    this.#sandbox = null
    this.#opening ??= sandbox
      .end('keep')
      .catch((error: unknown) => this.#notEnded(error))
      .finally(() => {
        this.#opening = null
      })
    await this.#opening
  }

  /** The last question about a command also removes what it left over there. */
  async #tidied(): Promise<void> {
    if (this.#streams.size === 0 || this.isAsleep()) return
    const done = new AbortController()
    const late = this.#options.clock.sleep(TIDY_LIMIT_MS, done.signal).catch(() => undefined)
    await Promise.race([Promise.all(this.#streams), late])
    done.abort()
  }

  #notEnded(error: unknown): void {
    const facts = { name: this.name, error: errorLine(error) }
    this.#options.logger.warn('A sandbox was not ended; it ends by itself after a while.', facts)
  }

  #target(log: string) {
    const { clock, logger } = this.#options
    return { way: this, clock, logger, log }
  }

  /** What the SDK throws, as one line; with a limit also when it says nothing at all. */
  async #guard<T>(work: Promise<T> | undefined, limitMs: number | null): Promise<T> {
    const settled = new AbortController()
    const late = (ms: number) =>
      this.#options.clock.sleep(ms, settled.signal).then(() => Promise.reject(silent(this.name)))
    try {
      const racers = [work as Promise<T>, ...(limitMs === null ? [] : [late(limitMs)])]
      return await Promise.race(racers)
    } catch (error) {
      const failure = HermesError.isInstance(error) ? error : this.#options.cloud.failure(error)
      // The next command looks for it anew.
      if (failure.code === GONE) this.#sandbox = null
      throw failure
    } finally {
      settled.abort()
    }
  }
}

function silent(name: string): HermesError {
  return new HermesError(`${name} does not answer. Check the network and the state of the service.`, {
    code: 'environment.unreachable',
    retryable: true,
  })
}

/** Starts `script`, whose standard error says which process it is: `mark NUMBER TIME`. */
async function startBackgroundRemoteProcess(
  target: Omit<RemoteProcessTarget, 'folder'>,
  {
    script,
    mark,
    failure,
  }: { readonly script: string; readonly mark: string; readonly failure: (report: string) => HermesError },
): Promise<RemoteProcess & { readonly handle: FollowedRemoteProcess }> {
  const folder = `/tmp/hermes-job-${randomBytes(8).toString('hex')}`
  const { ok, stdout, stderr } = await runScript(
    target.way,
    `${startRemoteProcess(folder, script, 'pieces')}${awaitRemoteProcess(folder)}`,
  )
  const report = stdout.toString('utf8')
  const text = new RegExp(`^${mark} (\\d+) (\\S+)$`, 'm').exec(report)
  if (!ok || !text) {
    // What is told is why it did not start.
    await runScript(target.way, dropRemoteProcess(folder)).catch(() => undefined)
    throw failure(ok ? report : stderr)
  }
  const id: RemoteProcessId = { pid: Number(text[1]), startTime: text[2]! }
  return { handle: new FollowedRemoteProcess({ ...target, folder }, id.pid), id, token: `${id.pid} ${folder}` }
}

/** Follows a job that an earlier program started; `token` is what {@link startBackgroundRemoteProcess} gave. */
function followAgain(target: Omit<RemoteProcessTarget, 'folder'>, token: string): FollowedRemoteProcess {
  const [pid, folder = ''] = token.split(' ')
  return new FollowedRemoteProcess({ ...target, folder }, Number(pid))
}
