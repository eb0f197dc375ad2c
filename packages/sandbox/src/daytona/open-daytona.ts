import type { Daytona, Sandbox } from '@daytona/sdk'
import { errorLine, HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { CloudWords } from '../cloud/cloud-failure.js'
import { refused, unreachable } from '../cloud/cloud-failure.js'
import type { Cloud, CloudSandbox } from '../cloud/cloud-host.js'
import { isSdkInstalled, loadSdk, sdkMissing } from '../cloud/load-sdk.js'
import type { CloudOptions } from '../cloud/open-cloud.js'
import { cloudLabels, idleSecondsOf, openCloudEnvironment, sandboxName } from '../cloud/open-cloud.js'
import type { TextSandbox } from '../cloud/text-way.js'
import { converseByText } from '../cloud/text-way.js'
import { quote } from '../shell/command-text.js'

/**
 * Opens an environment in a sandbox of Daytona, by the package `@daytona/sdk`: the one there is for the task and profile, started again when
 * it was stopped, else a new one.
 * @throws HermesError `environment.sdk_missing`, `auth_failed`, `quota_exceeded`, `rate_limited`, `service_unavailable`, `unreachable`,
 * `not_found` (the working directory).
 */
export async function openDaytonaEnvironment(options: DaytonaOptions): Promise<Environment> {
  return openCloudEnvironment(new DaytonaCloud(options), options)
}

/** Whether the package is there and the key is taken. @throws HermesError when not. */
export async function probeDaytona(options: DaytonaOptions, how: { readonly isOffline: boolean }): Promise<void> {
  if (!isSdkInstalled('@daytona/sdk')) throw sdkMissing('@daytona/sdk', 'not found')
  if (!how.isOffline) await new DaytonaCloud(options).ask()
}

/** What `openDaytonaEnvironment` needs. Nothing is read from this program's own environment. */
export interface DaytonaOptions extends CloudOptions {
  readonly apiKey: string
  /** Default `https://app.daytona.io/api`. */
  readonly apiUrl?: string
  /** Where sandboxes run, for example `us`. Default: the organization's. */
  readonly target?: string
  /** An image of a public registry, or the name of a snapshot when it has no `:` and no `/`. Default: the service's own. */
  readonly image?: string
  /** Default: the service's. It gives 10 GiB at most, and what is more is cut to that. */
  readonly diskMb?: number
}

type Sdk = Pick<
  typeof import('@daytona/sdk'),
  'Daytona' | 'DaytonaError' | 'DaytonaConnectionError' | 'DaytonaTimeoutError'
>

const API_URL = 'https://app.daytona.io/api'
/** An image may have to be built into a snapshot first. */
const CREATE_SECONDS = 600
const START_SECONDS = 120
/** Longer than any request of ours waits there. */
const RUN_SECONDS = 60
const MAX_DISK_GIB = 10
const MB_PER_GIB = 1_024

/** What the service says of a sandbox that does not run, whatever the status. */
const NOT_RUNNING = /sandbox\b.*\b(is not (running|started)|not found|stopped|archived|destroyed)|no such container/i

/** Sandboxes of Daytona. @see https://www.daytona.io/docs/en/typescript-sdk */
class DaytonaCloud implements Cloud {
  readonly backend = 'daytona'
  readonly name: string
  readonly #options: DaytonaOptions
  readonly #words: CloudWords
  #sdk: Sdk | null = null
  #client: Daytona | null = null

  constructor(options: DaytonaOptions) {
    this.#options = options
    this.name = `the Daytona sandbox ${sandboxName(options)}`
    this.#words = { service: 'Daytona', credentials: 'DAYTONA_API_KEY', sandbox: this.name }
  }

  async open(): Promise<CloudSandbox> {
    const { sandbox, isNew } = await this.#findOrCreate()
    const way = new DaytonaSandbox(sandbox)
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
    return this.#failure(error, true)
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = null
    await client?.[Symbol.asyncDispose]()
  }

  /** Asks the service whether it takes the key. */
  async ask(): Promise<void> {
    const client = await this.#connect()
    try {
      for await (const _ of client.list({ limit: 1 })) break
    } catch (error) {
      throw this.#failure(error, false)
    } finally {
      await this.close()
    }
  }

  #failure(error: unknown, isOfSandbox: boolean): HermesError {
    if (HermesError.isInstance(error)) return error
    const sdk = this.#sdk
    if (!sdk || !(error instanceof sdk.DaytonaError)) return unreachable(error, this.#words)
    const { statusCode: status, message } = error
    if (NOT_RUNNING.test(message)) return refused({ status: 410, message }, this.#words, true)
    if (status === undefined || error instanceof sdk.DaytonaConnectionError) return unreachable(error, this.#words)
    return refused({ status, message }, this.#words, isOfSandbox)
  }

  async #findOrCreate(): Promise<{ readonly sandbox: Sandbox; readonly isNew: boolean }> {
    const client = await this.#connect()
    try {
      const found = await this.#find(client)
      return { sandbox: found ?? (await this.#create(client)), isNew: found === null }
    } catch (error) {
      throw this.#failure(error, false)
    }
  }

  async #connect(): Promise<Daytona> {
    this.#sdk ??= await loadSdk<Sdk>('@daytona/sdk')
    const { apiKey, apiUrl = API_URL, target } = this.#options
    // States are asked for; a socket that stays open for them would keep the program alive.
    const how = { useDeprecatedPolling: true, otelEnabled: false }
    this.#client ??= new this.#sdk.Daytona({ apiKey, apiUrl, ...(target === undefined ? {} : { target }), ...how })
    return this.#client
  }

  /** The sandbox that is there already, running; `null` when there is none. */
  async #find(client: Daytona): Promise<Sandbox | null> {
    let sandbox: Sandbox
    try {
      sandbox = await client.get(sandboxName(this.#options))
    } catch (error) {
      if ((error as { statusCode?: unknown }).statusCode === 404) return null
      throw error
    }
    switch (sandbox.state) {
      case 'started':
        return sandbox
      case 'destroyed':
      case 'destroying':
        return null
      case 'starting':
      case 'creating':
      case 'restoring':
      case 'resuming':
      case 'pending_build':
      case 'building_snapshot':
      case 'pulling_snapshot':
        await sandbox.waitUntilStarted(CREATE_SECONDS)
        return sandbox
      case 'stopping':
        await sandbox.waitUntilStopped(START_SECONDS)
        break
      case 'error':
      case 'build_failed':
        if (sandbox.recoverable) {
          await sandbox.recover(START_SECONDS)
          return sandbox
        }
        await sandbox.delete(START_SECONDS, true)
        return null
      default:
    }
    await sandbox.start(START_SECONDS)
    return sandbox
  }

  async #create(client: Daytona): Promise<Sandbox> {
    const { image, persistent = true, cpus, memoryMb, diskMb } = this.#options
    const common = {
      name: sandboxName(this.#options),
      labels: cloudLabels(this.#options),
      // The service stops it, and removes it when it is not to be kept, also when this program dies.
      autoStopInterval: Math.ceil(idleSecondsOf(this.#options) / 60),
      ...(persistent ? {} : { ephemeral: true }),
    }
    const gib = (mb: number | undefined, max: number) => (mb ? Math.min(Math.ceil(mb / MB_PER_GIB), max) : undefined)
    const [memory, disk] = [gib(memoryMb, Number.MAX_SAFE_INTEGER), gib(diskMb, MAX_DISK_GIB)]
    const resources = {
      ...(cpus ? { cpu: Math.ceil(cpus) } : {}),
      ...(memory === undefined ? {} : { memory }),
      ...(disk === undefined ? {} : { disk }),
    }
    try {
      // A snapshot has its resources with it.
      if (image === undefined || !/[:/]/.test(image))
        return await client.create(
          { ...common, ...(image === undefined ? {} : { snapshot: image }) },
          { timeout: CREATE_SECONDS },
        )
      return await client.create({ ...common, image, resources }, { timeout: CREATE_SECONDS })
    } catch (error) {
      // Another program made it in the meantime.
      const other = (error as { statusCode?: unknown }).statusCode === 409 ? await this.#find(client) : null
      if (other) return other
      throw error
    }
  }
}

/** Commands and files by the SDK. */
class DaytonaSandbox implements TextSandbox {
  readonly #sandbox: Sandbox

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  async run(line: string, env: Readonly<Record<string, string>>) {
    const command = `/bin/sh -c ${quote(line)}`
    const { exitCode, result } = await this.#sandbox.process.executeCommand(command, undefined, { ...env }, RUN_SECONDS)
    return { exitCode, text: result }
  }

  async upload(path: string, bytes: Uint8Array): Promise<void> {
    await this.#sandbox.fs.uploadFile(Buffer.from(bytes), path)
  }

  async download(path: string): Promise<Uint8Array> {
    const bytes = await this.#sandbox.fs.downloadFile(path)
    if (bytes !== undefined) return bytes
    throw new HermesError(`A reply of the sandbox is gone: ${errorLine(path)}.`, {
      code: 'environment.connection_lost',
      retryable: true,
    })
  }
}
