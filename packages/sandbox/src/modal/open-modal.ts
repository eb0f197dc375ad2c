import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { HermesError, Logger } from '@hermes/contracts'
import { errorLine, silentLogger } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import type { App, Image, ModalClient, Sandbox } from 'modal'
import type { CloudWords } from '../cloud/cloud-failure.js'
import type { Cloud, CloudSandbox } from '../cloud/cloud-host.js'
import { isSdkInstalled, loadSdk, sdkMissing } from '../cloud/load-sdk.js'
import type { CloudOptions } from '../cloud/open-cloud.js'
import { cloudLabels, idleSecondsOf, openCloudEnvironment, sandboxName } from '../cloud/open-cloud.js'
import type { ProgramOutput } from '../remote/remote-host.js'
import { START_LINE, scriptLine } from '../remote/shell-text.js'
import { modalFailure } from './modal-failure.js'

/**
 * Opens an environment in a sandbox of Modal, by the package `modal`: the one that runs for the task and profile, else a new one from the
 * snapshot of the last. Which snapshot that is stands in `modal-snapshots.json` of `outputDir`.
 * @throws HermesError `environment.sdk_missing`, `auth_failed`, `quota_exceeded`, `rate_limited`, `service_unavailable`, `unreachable`,
 * `not_found` (the working directory).
 */
export async function openModalEnvironment(options: ModalOptions): Promise<Environment> {
  const { logger = silentLogger } = options
  return openCloudEnvironment(new ModalCloud({ ...options, logger }), options)
}

/** Whether the package is there and the token is taken. @throws HermesError when not. */
export async function probeModal(options: ModalOptions, how: { readonly isOffline: boolean }): Promise<void> {
  if (!isSdkInstalled('modal')) throw sdkMissing('modal', 'not found')
  const { logger = silentLogger } = options
  if (!how.isOffline) await new ModalCloud({ ...options, logger }).ask()
}

/** What `openModalEnvironment` needs. Nothing is read from this program's own environment but what the package `modal` reads itself. */
export interface ModalOptions extends CloudOptions {
  readonly tokenId: string
  readonly tokenSecret: string
  /** An image of a public registry. Default `debian:12`. */
  readonly image?: string
  /** The app that sandboxes belong to, made when it is missing. Default `hermes`. */
  readonly app?: string
}

type Sdk = Pick<typeof import('modal'), 'ModalClient' | 'NotFoundError' | 'AlreadyExistsError'>

const DEFAULT_IMAGE = 'debian:12'
const DEFAULT_APP = 'hermes'
/** The longest that a sandbox may run. */
const LIFE_MS = 24 * 3_600_000
/** The service's own idle limit comes after ours, for it forgets the files. */
const GRACE_SECONDS = 600
/** Longer than any request of ours waits there. */
const EXEC_MS = 60_000
/** What is set aside for a sandbox that may take more. */
const RESERVED_MB = 1_024
/** What goes in one message. */
const WRITE_BYTES = 1024 * 1024

/** Sandboxes of Modal. @see https://modal.com/docs/sdk/js */
class ModalCloud implements Cloud {
  readonly backend = 'modal'
  readonly forgetsAtRest = true
  readonly name: string
  readonly #options: ModalOptions & { readonly logger: Logger }
  readonly #words: CloudWords
  readonly #snapshots: SnapshotFile
  #sdk: Sdk | null = null
  #client: ModalClient | null = null
  #sandbox: Sandbox | null = null
  #isNew = false

  constructor(options: ModalOptions & { readonly logger: Logger }) {
    this.#options = options
    this.name = `the Modal sandbox ${sandboxName(options)}`
    this.#words = { service: 'Modal', credentials: 'MODAL_TOKEN_ID and MODAL_TOKEN_SECRET', sandbox: this.name }
    this.#snapshots = new SnapshotFile(join(options.outputDir, 'modal-snapshots.json'))
  }

  async open(): Promise<CloudSandbox> {
    this.#isNew = false
    try {
      const sandbox = await this.#findOrCreate()
      this.#sandbox = sandbox
      return {
        isNew: this.#isNew,
        converse: (script, input) => converse(sandbox, script, input),
        end: (how) => this.#end(sandbox, how),
      }
    } catch (error) {
      throw modalFailure(error, this.#words, false)
    }
  }

  failure(error: unknown): HermesError {
    return modalFailure(error, this.#words, true)
  }

  async close(): Promise<void> {
    this.#sandbox?.detach()
    this.#client?.close()
    this.#sandbox = null
    this.#client = null
  }

  /** Asks the service whether it takes the token. */
  async ask(): Promise<void> {
    try {
      await this.#app(await this.#connect())
    } catch (error) {
      throw modalFailure(error, this.#words, false)
    } finally {
      await this.close()
    }
  }

  async #connect(): Promise<ModalClient> {
    this.#sdk ??= await loadSdk<Sdk>('modal')
    const { tokenId, tokenSecret, logger } = this.#options
    const say = (message: string, ...facts: unknown[]) => logger.warn(`modal: ${message}`, { facts: facts.map(String) })
    const quiet = () => undefined
    this.#client ??= new this.#sdk.ModalClient({
      tokenId,
      tokenSecret,
      logger: { debug: quiet, info: quiet, warn: say, error: say },
    })
    return this.#client
  }

  #app(client: ModalClient): Promise<App> {
    return client.apps.fromName(this.#options.app ?? DEFAULT_APP, { createIfMissing: true })
  }

  async #findOrCreate(): Promise<Sandbox> {
    const client = await this.#connect()
    const app = await this.#app(client)
    const running = await this.#find(client)
    if (running) return running
    const snapshot = await this.#snapshot(client)
    const image = snapshot ?? client.images.fromRegistry(this.#options.image ?? DEFAULT_IMAGE)
    try {
      const made = await client.sandboxes.create(app, image, this.#wanted())
      this.#isNew = snapshot === null
      return made
    } catch (error) {
      // Another program made it in the meantime.
      const other = error instanceof this.#sdk!.AlreadyExistsError ? await this.#find(client) : null
      if (other) return other
      throw error
    }
  }

  async #find(client: ModalClient): Promise<Sandbox | null> {
    try {
      return await client.sandboxes.fromName(this.#options.app ?? DEFAULT_APP, sandboxName(this.#options))
    } catch (error) {
      if (error instanceof this.#sdk!.NotFoundError) return null
      throw error
    }
  }

  /** What the last sandbox left behind; `null` when there is nothing, or the service has it no more. */
  async #snapshot(client: ModalClient): Promise<Image | null> {
    const id = this.#options.persistent === false ? null : this.#snapshots.get(sandboxName(this.#options))
    if (id === null) return null
    try {
      return await client.images.fromId(id)
    } catch (error) {
      if (!(error instanceof this.#sdk!.NotFoundError)) throw error
      this.#options.logger.warn('The snapshot of a sandbox is gone; it begins anew.', { name: this.name, id })
      return null
    }
  }

  #wanted() {
    const { cpus, memoryMb } = this.#options
    return {
      name: sandboxName(this.#options),
      tags: cloudLabels(this.#options),
      timeoutMs: LIFE_MS,
      idleTimeoutMs: Math.ceil(idleSecondsOf(this.#options) + GRACE_SECONDS) * 1000,
      ...(cpus ? { cpu: cpus, cpuLimit: cpus } : {}),
      ...(memoryMb ? { memoryMiB: Math.min(memoryMb, RESERVED_MB), memoryLimitMiB: memoryMb } : {}),
    }
  }

  async #end(sandbox: Sandbox, how: 'keep' | 'remove'): Promise<void> {
    const name = sandboxName(this.#options)
    const before = this.#snapshots.get(name)
    if (how === 'keep') this.#snapshots.set(name, (await sandbox.snapshotFilesystem({ ttlMs: null })).imageId)
    await sandbox.terminate()
    if (how === 'remove') this.#snapshots.set(name, null)
    if (before !== null) await this.#forget(before)
  }

  /** A snapshot that another one took the place of only costs. */
  async #forget(id: string): Promise<void> {
    try {
      await (await this.#connect()).images.delete(id)
    } catch (error) {
      this.#options.logger.warn('An old snapshot was not deleted.', { id, error: errorLine(error) })
    }
  }
}

/** Runs a script with its standard streams as they are: bytes both ways. */
async function converse(sandbox: Sandbox, script: string, input: Uint8Array): Promise<ProgramOutput> {
  const process = await sandbox.exec(['/bin/sh', '-c', START_LINE], { mode: 'binary', timeoutMs: EXEC_MS })
  const writer = process.stdin.getWriter()
  // A script that ends without reading all of its input is no failure.
  const sent = (async () => {
    await writer.write(Buffer.from(scriptLine(script)))
    for (let at = 0; at < input.length; at += WRITE_BYTES) await writer.write(input.subarray(at, at + WRITE_BYTES))
    await writer.close()
  })().catch(() => undefined)
  const [stdout, stderr, exitCode] = await Promise.all([
    process.stdout.readBytes(),
    process.stderr.readBytes(),
    process.wait(),
    sent,
  ])
  return { exitCode, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr).toString('utf8') }
}

/** Which snapshot each sandbox is made from the next time, in a file of JSON. What cannot be read counts as nothing. */
class SnapshotFile {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  get(name: string): string | null {
    const id = this.#read()[name]
    return typeof id === 'string' ? id : null
  }

  set(name: string, id: string | null): void {
    const { [name]: _, ...others } = this.#read()
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    const text = JSON.stringify(id === null ? others : { ...others, [name]: id }, null, 2)
    writeFileSync(`${this.#path}.tmp`, `${text}\n`, { mode: 0o600 })
    renameSync(`${this.#path}.tmp`, this.#path)
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      const found: unknown = JSON.parse(readFileSync(this.#path, 'utf8'))
      return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {}
    } catch {
      return {}
    }
  }
}
