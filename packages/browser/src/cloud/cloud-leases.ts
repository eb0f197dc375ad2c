import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, HermesError, isJsonObject, type JsonObject, type Logger } from '@hermes/contracts'
import { isOwnerRunning, ownerName } from '../launch/profile-folder.js'
import { askCloud } from './ask-cloud.js'
import type { CloudPort } from './cloud-port.js'
import {
  CLOUDS,
  type CloudLease,
  type CloudName,
  type CloudVendor,
  type RemoteService,
  SERVICES,
} from './cloud-vendors.js'

/** A session in a cloud that was released. */
interface Released {
  /** As they say it; `null` where they do not. */
  readonly cost: string | null
}

/** What is written down until it is released. */
export interface Hold {
  /** Ends it there, unless it is borrowed. Never rejects. */
  release(): Promise<Released>
  /** Takes back what was written down, and leaves it as it is there. */
  forget(): Promise<void>
  /** Whether nobody else has written down the same, in any process of this home. */
  isOnly(): Promise<boolean>
}

/** A session in a cloud that is ours. */
export interface HeldLease extends CloudLease, Hold {
  readonly cloud: CloudName
  /** When it was made: it is paid from then on. */
  readonly sinceMs: number
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
  readonly #clock: Clock
  readonly #costs: string[] = []
  /** Clouds that keep no session alive for this account. */
  readonly #unpaid = new Set<CloudName>()
  #aside: { readonly lease: HeldLease; readonly sinceMs: number } | null = null

  constructor(
    port: CloudPort,
    { folder, logger, clock }: { readonly folder: string; readonly logger: Logger; readonly clock: Clock },
  ) {
    this.#port = port
    this.#folder = folder
    this.#logger = logger
    this.#clock = clock
  }

  /** Makes one. Rejects as {@link askCloud} does. */
  async create(name: CloudName): Promise<HeldLease> {
    await Promise.all([this.releaseLeft(), this.releaseAside()])
    const vendor = CLOUDS[name]
    const { answer, staysAlive } = await this.#made(name, vendor)
    const lease = vendor.lease(answer)
    if (!lease)
      throw new HermesError(`${vendor.label} made no session: its answer names none.`, { code: 'browser.cloud_failed' })
    return { ...lease, staysAlive, cloud: name, sinceMs: this.#clock.now(), ...(await this.hold(name, lease.id)) }
  }

  async #made(name: CloudName, vendor: CloudVendor): Promise<{ answer: JsonObject; staysAlive: boolean }> {
    const { variables } = this.#port
    const ask = (staysAlive: boolean) =>
      askCloud(vendor, vendor.create({ seconds: LONGEST_SECONDS, staysAlive, variables }), this.#port)
    if (this.#unpaid.has(name)) return { answer: await ask(false), staysAlive: false }
    try {
      return { answer: await ask(true), staysAlive: true }
    } catch (error) {
      if (!vendor.staysAliveIfPaid || (error as HermesError).code !== 'browser.cloud_unpaid') throw error
      const answer = await ask(false)
      this.#unpaid.add(name)
      return { answer, staysAlive: false }
    }
  }

  /** A connection to one ended, and nobody of us ended it: one that goes on is there for {@link takeAside}, another one is released. */
  async connectionEnded(lease: HeldLease): Promise<void> {
    if (!lease.staysAlive || this.#aside !== null) await lease.release()
    else this.#aside = { lease, sinceMs: this.#clock.now() }
  }

  /** One of this cloud that goes on without a connection; `null` for none. */
  takeAside(name: CloudName): HeldLease | null {
    const lease = this.#aside?.lease ?? null
    if (lease?.cloud !== name) return null
    this.#aside = null
    return lease
  }

  /** The one that goes on without a connection, and since when it has none; `null` for none. */
  get aside(): { readonly lease: HeldLease; readonly sinceMs: number } | null {
    return this.#aside
  }

  /** Never rejects. */
  async releaseAside(): Promise<void> {
    const lease = this.#aside?.lease
    this.#aside = null
    await lease?.release()
  }

  /** Writes a session down, so that it is released whatever becomes of us. `isBorrowed`: it is somebody else's, and never ended. */
  async hold(name: ServiceName, id: string, { isBorrowed = false } = {}): Promise<Hold> {
    const file = join(this.#folder, `cloud-${ownerName()}-${randomBytes(4).toString('hex')}.json`)
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    await writeFile(file, JSON.stringify({ cloud: name, id, isBorrowed }), { mode: 0o600 })
    let released: Promise<Released> | null = null
    const forget = () => rm(file, { force: true }).catch(() => undefined)
    return {
      release: () => (released ??= isBorrowed ? forget().then(() => ({ cost: null })) : this.#release(name, id, file)),
      forget,
      isOnly: async () => (await this.#recordsOf(name, id)).length === 1,
    }
  }

  /** Those of one session; what a process that has ended had borrowed is nobody's. */
  async #recordsOf(name: ServiceName, id: string): Promise<readonly LeaseRecord[]> {
    const found = (await readdir(this.#folder)).map(async (file) => {
      const [, owner] = NAME.exec(file) ?? []
      const record = owner === undefined ? null : await recordIn(join(this.#folder, file))
      if (record?.cloud !== name || record.id !== id || (record.isBorrowed && !isOwnerRunning(owner!))) return []
      return [record]
    })
    return (await Promise.all(found)).flat()
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
      const record = await recordIn(file)
      if (record === null || record.isBorrowed) await rm(file, { force: true })
      else await this.#release(record.cloud, record.id, file)
    }
  }

  /** Over a connection that ended meanwhile nothing is asked: that is done again, as it may be asked for twice. */
  async #ended(vendor: RemoteService, id: string): Promise<JsonObject> {
    const ask = () => askCloud(vendor, vendor.release(id, this.#port.variables), this.#port)
    return ask().catch((error: unknown) => {
      if (HermesError.isInstance(error) && error.code === 'browser.cloud_unreached') return ask()
      throw error
    })
  }

  /** A record stays where the cloud could not be asked; the next start tries again. */
  async #release(name: ServiceName, id: string, file: string): Promise<Released> {
    const vendor = SERVICES[name]
    try {
      const answer = await this.#ended(vendor, id)
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

interface LeaseRecord {
  readonly cloud: ServiceName
  readonly id: string
  /** Whether it was there before, and stays. */
  readonly isBorrowed: boolean
}

/** `null` for a file that is none. */
async function recordIn(file: string): Promise<LeaseRecord | null> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as JsonObject
    const { cloud, id, isBorrowed } = isJsonObject(value) ? value : {}
    if (typeof cloud !== 'string' || !Object.hasOwn(SERVICES, cloud) || typeof id !== 'string') return null
    return { cloud: cloud as ServiceName, id, isBorrowed: isBorrowed === true }
  } catch {
    return null
  }
}
