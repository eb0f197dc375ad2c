import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HermesError, isJsonObject, type Logger } from '@hermes/contracts'
import { isOwnerRunning, ownerName } from '../launch/profile-folder.js'
import { askCloud } from './ask-cloud.js'
import type { CloudPort } from './cloud-port.js'
import { CLOUDS, type CloudLease, type CloudName, SERVICES } from './cloud-vendors.js'

/** A session in a cloud that was released. */
interface Released {
  /** As they say it; `null` where they do not. */
  readonly cost: string | null
}

type ServiceName = keyof typeof SERVICES

/** Longer than any work; the cloud ends a session then, whatever became of us. */
const LONGEST_SECONDS = 3_600
const NAME = /^cloud-(\d+-\w+)-\w+\.json$/

/** Sessions in clouds. Each is written down before it is used, so that the next start releases those of owners that ended otherwise. */
export class CloudLeases {
  readonly #port: CloudPort
  readonly #folder: string
  readonly #logger: Logger
  readonly #costs: string[] = []

  constructor(port: CloudPort, { folder, logger }: { readonly folder: string; readonly logger: Logger }) {
    this.#port = port
    this.#folder = folder
    this.#logger = logger
  }

  /** Makes one. Rejects as {@link askCloud} does. */
  async create(name: CloudName): Promise<CloudLease & { release(): Promise<Released> }> {
    await this.releaseLeft()
    const vendor = CLOUDS[name]
    const answer = await askCloud(vendor, vendor.create(LONGEST_SECONDS, this.#port.variables), this.#port)
    const lease = vendor.lease(answer)
    if (!lease)
      throw new HermesError(`${vendor.label} made no session: its answer names none.`, { code: 'browser.cloud_failed' })
    return { ...lease, ...(await this.hold(name, lease.id)) }
  }

  /** Writes a session down, so that it is released whatever becomes of us. */
  async hold(name: ServiceName, id: string): Promise<{ release(): Promise<Released> }> {
    const file = join(this.#folder, `cloud-${ownerName()}-${randomBytes(4).toString('hex')}.json`)
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await writeFile(file, JSON.stringify({ cloud: name, id }), { mode: 0o600 })
    let released: Promise<Released> | null = null
    return { release: () => (released ??= this.#release(name, id, file)) }
  }

  /** What those of this process cost that are over, a line each. */
  costs(): readonly string[] {
    return this.#costs
  }

  /** Releases those of processes that have ended. Never rejects. */
  async releaseLeft(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => [])
    for (const name of names) {
      const [, owner] = NAME.exec(name) ?? []
      if (owner === undefined || isOwnerRunning(owner)) continue
      const file = join(this.#folder, name)
      const { cloud, id } = await recordIn(file)
      if (cloud === null) await rm(file, { force: true })
      else await this.#release(cloud, id, file)
    }
  }

  /** A record stays where the cloud could not be asked; the next start tries again. */
  async #release(name: ServiceName, id: string, file: string): Promise<Released> {
    const vendor = SERVICES[name]
    try {
      const answer = await askCloud(vendor, vendor.release(id, this.#port.variables), this.#port)
      await rm(file, { force: true })
      const cost = vendor.cost(answer)
      if (cost !== null) this.#costs.push(`A session of ${vendor.label} that is over cost ${cost}.`)
      return { cost }
    } catch (error) {
      const line = error instanceof Error ? error.message : String(error)
      // One that has expired is gone already.
      if (/answered (?:404|409|410)/.test(line)) await rm(file, { force: true })
      else this.#logger.warn(`A session of ${vendor.label} was not released: ${line}`)
      return { cost: null }
    }
  }
}

async function recordIn(
  file: string,
): Promise<{ readonly cloud: ServiceName; readonly id: string } | { readonly cloud: null; readonly id: '' }> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (!isJsonObject(value as never)) return { cloud: null, id: '' }
    const { cloud, id } = value as { readonly cloud?: unknown; readonly id?: unknown }
    const isKnown = typeof cloud === 'string' && Object.hasOwn(SERVICES, cloud)
    return isKnown && typeof id === 'string' ? { cloud: cloud as ServiceName, id } : { cloud: null, id: '' }
  } catch {
    return { cloud: null, id: '' }
  }
}
