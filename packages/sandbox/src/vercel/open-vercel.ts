import type { Clock, Logger } from '@hermes/contracts'
import { errorLine, HermesError, silentLogger, systemClock } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { Sandbox } from '@vercel/sandbox'
import type { CloudWords } from '../cloud/cloud-failure.js'
import { refused, unreachable } from '../cloud/cloud-failure.js'
import type { Cloud, CloudSandbox } from '../cloud/cloud-host.js'
import { isSdkInstalled, loadSdk, sdkMissing } from '../cloud/load-sdk.js'
import type { CloudOptions } from '../cloud/open-cloud.js'
import { cloudLabels, idleSecondsOf, openCloudEnvironment, sandboxName } from '../cloud/open-cloud.js'
import type { TextSandbox } from '../cloud/text-way.js'
import { converseByText } from '../cloud/text-way.js'

const RUNTIMES = ['node24', 'node22', 'python3.13']
/** The default of `terminal.container_disk`, which means nobody asked for a size. */
const UNASKED_DISK_MB = 51_200
const DEFAULT_CWD = '/vercel/sandbox'

/**
 * Opens an environment in a sandbox of Vercel, by the package `@vercel/sandbox`: the one there is for the task and profile, resumed from its
 * snapshot when it was stopped, else a new one.
 * @throws HermesError `environment.sdk_missing`, `auth_failed`, `quota_exceeded`, `rate_limited`, `service_unavailable`, `unreachable`,
 * `invalid_option`, `not_found` (the working directory).
 */
export async function openVercelEnvironment(options: VercelOptions): Promise<Environment> {
  const { runtime = 'node24', diskMb = 0, clock = systemClock, logger = silentLogger } = options
  if (!RUNTIMES.includes(runtime)) throw invalid(`There is no runtime "${runtime}"; it can be ${RUNTIMES.join(', ')}.`)
  if (diskMb !== 0 && diskMb !== UNASKED_DISK_MB)
    throw invalid('The disk of a Vercel sandbox has one size; leave terminal.container_disk out.')
  const cloud = new VercelCloud({ ...options, runtime, clock, logger })
  return openCloudEnvironment(cloud, { ...options, cwd: options.cwd ?? DEFAULT_CWD })
}

/** Whether the package is there and the credentials are taken. @throws HermesError when not. */
export async function probeVercel(options: VercelOptions, how: { readonly isOffline: boolean }): Promise<void> {
  if (!isSdkInstalled('@vercel/sandbox')) throw sdkMissing('@vercel/sandbox', 'not found')
  if (how.isOffline) return
  const { runtime = 'node24', clock = systemClock, logger = silentLogger } = options
  await new VercelCloud({ ...options, runtime, clock, logger }).ask()
}

function invalid(line: string): HermesError {
  return new HermesError(line, { code: 'environment.invalid_option' })
}

/** What `openVercelEnvironment` needs. Nothing is read from this program's own environment. */
export interface VercelOptions extends CloudOptions {
  readonly token: string
  readonly teamId: string
  readonly projectId: string
  /** `node24`, `node22` or `python3.13`. Default `node24`. */
  readonly runtime?: string
  /** MB; the service's disk has one size, so anything but 0 and 51,200 is refused. */
  readonly diskMb?: number
  /** Default: the program's own. */
  readonly fetch?: typeof fetch
}

type Sdk = Pick<typeof import('@vercel/sandbox'), 'Sandbox' | 'APIError' | 'StreamError'>

/** What machines there are; each core brings 2 GB. */
const CORES = [1, 2, 4, 8]
const MB_PER_CORE = 2_048

interface VercelCloudOptions extends VercelOptions {
  readonly runtime: string
  readonly clock: Clock
  readonly logger: Logger
}

/** Sandboxes of Vercel. @see https://vercel.com/docs/vercel-sandbox/sdk-reference */
class VercelCloud implements Cloud {
  readonly backend = 'vercel_sandbox'
  readonly name: string
  readonly #options: VercelCloudOptions
  readonly #words: CloudWords
  #sdk: Sdk | null = null

  constructor(options: VercelCloudOptions) {
    this.#options = options
    this.name = `the Vercel sandbox ${sandboxName(options)}`
    const credentials = 'VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID'
    this.#words = { service: 'Vercel', credentials, sandbox: this.name }
  }

  async open(): Promise<CloudSandbox> {
    const { Sandbox } = await this.#load()
    const { runtime, persistent = true } = this.#options
    const idleMs = idleSecondsOf(this.#options) * 1000
    const cores = this.#cores()
    let isNew = false
    const sandbox = await Sandbox.getOrCreate({
      ...this.#access(),
      name: sandboxName(this.#options),
      runtime,
      timeout: idleMs,
      persistent,
      tags: cloudLabels(this.#options),
      ...(cores === null ? {} : { resources: { vcpus: cores } }),
      // What is kept is the newest state; older ones would only cost.
      ...(persistent ? { keepLastSnapshots: { count: 1 } } : {}),
      resume: true,
      onCreate: async () => {
        isNew = true
      },
    })
    await this.#prolong(sandbox, idleMs)
    const way = new VercelSandbox(sandbox)
    return {
      isNew,
      converse: (script, input) => converseByText(way, script, input),
      async end(how) {
        if (how === 'keep') await sandbox.stop()
        else await sandbox.delete()
      },
    }
  }

  failure(error: unknown): HermesError {
    if (HermesError.isInstance(error)) return error
    const sdk = this.#sdk
    if (sdk && error instanceof sdk.APIError) {
      const isOfSandbox = error.sessionId !== undefined || error.sandboxName !== undefined
      return refused({ status: error.response.status, message: messageOf(error) }, this.#words, isOfSandbox)
    }
    // The stream of a command broke off because its machine went away.
    if (sdk && error instanceof sdk.StreamError)
      return refused({ status: 410, message: error.message }, this.#words, true)
    return unreachable(error, this.#words)
  }

  async close(): Promise<void> {}

  /** Asks the service whether it takes the credentials. */
  async ask(): Promise<void> {
    const { Sandbox } = await this.#load()
    try {
      await Sandbox.list({ ...this.#access(), limit: 1 })
    } catch (error) {
      throw this.failure(error)
    }
  }

  async #load(): Promise<Sdk> {
    this.#sdk ??= await loadSdk<Sdk>('@vercel/sandbox')
    return this.#sdk
  }

  #access() {
    const { token, teamId, projectId, fetch } = this.#options
    return { token, teamId, projectId, ...(fetch ? { fetch } : {}) }
  }

  /** The largest machine within the limits; `null` when there are none. */
  #cores(): number | null {
    const { cpus = 0, memoryMb = 0 } = this.#options
    if (cpus === 0 && memoryMb === 0) return null
    const limit = Math.min(cpus || Number.POSITIVE_INFINITY, (memoryMb || Number.POSITIVE_INFINITY) / MB_PER_CORE)
    return CORES.findLast((cores) => cores <= limit) ?? 1
  }

  /** A machine ends after a time, at work or not; what is in use goes on for another idle time. Plans set an end to that. */
  async #prolong(sandbox: Sandbox, idleMs: number): Promise<void> {
    const { clock, logger } = this.#options
    const leftMs = (sandbox.expiresAt?.getTime() ?? clock.now()) - clock.now()
    if (leftMs > idleMs * 0.75) return
    try {
      await sandbox.extendTimeout(Math.ceil(idleMs - leftMs))
    } catch (error) {
      logger.warn('A sandbox cannot run any longer; it is resumed from its snapshot when it stops.', {
        name: this.name,
        error: errorLine(error),
      })
    }
  }
}

/** Commands and files by the SDK, which starts a machine again that was stopped in between. */
class VercelSandbox implements TextSandbox {
  readonly #sandbox: Sandbox

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  async run(line: string, env: Readonly<Record<string, string>>) {
    const finished = await this.#sandbox.runCommand({ cmd: '/bin/sh', args: ['-c', line], env: { ...env } })
    return { exitCode: finished.exitCode, text: await finished.stdout() }
  }

  async upload(path: string, bytes: Uint8Array): Promise<void> {
    await this.#sandbox.writeFiles([{ path, content: bytes, mode: 0o600 }])
  }

  async download(path: string): Promise<Uint8Array> {
    const bytes = await this.#sandbox.readFileToBuffer({ path })
    if (bytes === null)
      throw new HermesError(`A reply of the sandbox is gone: ${path}.`, { code: 'environment.connection_lost' })
    return bytes
  }
}

/** The service's own words are in the body. */
function messageOf(error: { readonly message: string; readonly json?: unknown }): string {
  const text = (error.json as { error?: { message?: unknown } } | undefined)?.error?.message
  return typeof text === 'string' ? text : error.message
}
