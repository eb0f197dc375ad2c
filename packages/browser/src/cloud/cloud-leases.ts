import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, errorLine, HermesError, isJsonObject, type JsonObject, type Logger } from '@hermes/contracts'
import { writePrivate } from '@hermes/files'
import { isOwnerRunning, machineName, ownerName } from '../launch/profile-folder.js'
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
  /** It is at work: who sees no processes of this machine knows it by that. Never rejects. */
  used(): void
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
/** How often what has no end of its own says that it is at work. */
const MARKED_EVERY_MS = 600_000
/** A stop waits for it. */
const RELEASED_WITHIN_MS = 20_000
/** What was asked for so long ago is there, or never will be. */
const MADE_WITHIN_MS = 60_000
/** The cloud said no, or was not asked: nothing was made. */
const REFUSED = /^(?:browser\.cloud_(?:refused|unpaid|limited)|policy\.\w+)$/
const NAME = /^cloud-(\d+-\w+)-\w+\.json$/

interface LeasesOptions {
  /** For what is written down. Absolute; made on first use. */
  readonly folder: string
  readonly logger: Logger
  readonly clock: Clock
  /** Hears of each that could not be released: {@link CloudLeases.releaseLeft} tries it again. */
  readonly failed?: () => void
  /** Takes back what {@link CloudLeases.releaseLeft} asks for. */
  readonly signal?: AbortSignal
  /** How long releasing one may take. Default: 20 s. */
  readonly releasedWithinMs?: number
}

/** Sessions in clouds. Each is written down before it is used, so that others release those of owners that ended otherwise. */
export class CloudLeases {
  readonly #port: CloudPort
  readonly #folder: string
  readonly #options: LeasesOptions
  readonly #clock: Clock
  readonly #costs: string[] = []
  /** Files of those that could not be released, and since when. */
  readonly #unreleased = new Map<string, number>()
  #pass: Promise<number> | null = null
  /** Clouds that keep no session alive for this account. */
  readonly #unpaid = new Set<CloudName>()
  #aside: { readonly lease: HeldLease; readonly sinceMs: number } | null = null

  constructor(port: CloudPort, options: LeasesOptions) {
    this.#port = port
    this.#folder = options.folder
    this.#options = options
    this.#clock = options.clock
  }

  /** Makes one. Rejects as {@link askCloud} does. */
  async create(name: CloudName): Promise<HeldLease> {
    const left = this.releaseLeft()
    await this.releaseAside()
    const vendor = CLOUDS[name]
    const mark = randomBytes(16).toString('hex')
    const file = this.#newFile()
    // Before it is paid for: who is killed before the answer is written down leaves what to look for.
    if (vendor.marks) await this.#write(file, { cloud: name, mark })
    try {
      const { answer, staysAlive } = await this.#made(name, mark).catch(async (error: unknown) => {
        // What was left counts there until it is released.
        if ((error as HermesError).code !== 'browser.cloud_limited' || (await left) === 0) throw error
        return this.#made(name, mark)
      })
      const lease = vendor.lease(answer)
      if (!lease)
        throw new HermesError(`${vendor.label} made no session: its answer names none.`, {
          code: 'browser.cloud_failed',
        })
      const hold = await this.#hold(file, { cloud: name, id: lease.id })
      return { ...lease, staysAlive, cloud: name, sinceMs: this.#clock.now(), ...hold }
    } catch (error) {
      if (!vendor.marks || REFUSED.test(String((error as HermesError).code))) await this.#forget(file)
      else this.#tryAgain(file)
      throw error
    }
  }

  async #made(name: CloudName, mark: string): Promise<{ answer: JsonObject; staysAlive: boolean }> {
    const { variables } = this.#port
    const vendor: CloudVendor = CLOUDS[name]
    const ask = (staysAlive: boolean) =>
      askCloud(vendor, vendor.create({ seconds: LONGEST_SECONDS, staysAlive, mark, variables }), this.#port)
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
  hold(name: ServiceName, id: string, { isBorrowed = false } = {}): Promise<Hold> {
    return this.#hold(this.#newFile(), { cloud: name, id, isBorrowed })
  }

  async #hold(
    file: string,
    record: { readonly cloud: ServiceName; readonly id: string; readonly isBorrowed?: boolean },
  ) {
    await this.#write(file, record)
    const { cloud, id, isBorrowed = false } = record
    let released: Promise<Released> | null = null
    let writtenMs = this.#clock.now()
    const forget = () => rm(file, { force: true }).catch(() => undefined)
    return {
      release: () => (released ??= isBorrowed ? forget().then(() => ({ cost: null })) : this.#release(cloud, id, file)),
      forget,
      isOnly: async () => (await this.#recordsOf(cloud, id)).length === 1,
      used: () => {
        const nowMs = this.#clock.now()
        if (nowMs - writtenMs < MARKED_EVERY_MS) return
        writtenMs = nowMs
        void utimes(file, nowMs / 1_000, nowMs / 1_000).catch(() => undefined)
      },
    }
  }

  #newFile(): string {
    return join(this.#folder, `cloud-${ownerName()}-${randomBytes(4).toString('hex')}.json`)
  }

  /** Whole or not at all: what a killed process wrote half of would never be released. */
  #write(file: string, record: Readonly<Record<string, unknown>>): Promise<void> {
    return writePrivate(file, JSON.stringify({ isBorrowed: false, ...record, machine: machineName() }))
  }

  /** Those of one session; what a process that has ended had borrowed is nobody's. */
  async #recordsOf(name: ServiceName, id: string): Promise<readonly LeaseRecord[]> {
    const found = (await readdir(this.#folder)).map(async (file) => {
      const [, owner] = NAME.exec(file) ?? []
      const record = owner === undefined ? null : await recordIn(join(this.#folder, file))
      if (
        record?.cloud !== name ||
        record.id !== id ||
        (record.isBorrowed && isHere(record) && !isOwnerRunning(owner!))
      )
        return []
      return [record]
    })
    return (await Promise.all(found)).flat()
  }

  /** What those of this process cost that are over, a line each. */
  costs(): readonly string[] {
    return this.#costs
  }

  /** Releases those of processes that have ended, and own ones that could not be released before; how many it were. Never rejects. */
  releaseLeft(): Promise<number> {
    this.#pass ??= this.#releaseLeft().finally(() => {
      this.#pass = null
    })
    return this.#pass
  }

  async #releaseLeft(): Promise<number> {
    const names = await readdir(this.#folder).catch(() => [])
    const released = names.map(async (name): Promise<number> => {
      const [, owner] = NAME.exec(name) ?? []
      const file = join(this.#folder, name)
      if (owner === undefined) return 0
      const record = await recordIn(file)
      const isRunning = (record === null || isHere(record)) && isOwnerRunning(owner)
      if (isRunning && !this.#unreleased.has(file)) return 0
      if (record !== null && !isHere(record) && !(await isOver(file, this.#clock.now()))) return 0
      if (record !== null && !record.isBorrowed) {
        if (record.id === null) return this.#releaseMarked(record, file)
        await this.#release(record.cloud, record.id, file, this.#options.signal)
        return this.#unreleased.has(file) ? 0 : 1
      }
      await rm(file, { force: true }).catch(() => undefined)
      return 0
    })
    return (await Promise.all(released)).reduce((sum, one) => sum + one, 0)
  }

  /** Whether any could not be released that may still run. */
  get hasUnreleased(): boolean {
    const nowMs = this.#clock.now()
    return [...this.#unreleased.values()].some((sinceMs) => nowMs - sinceMs <= LONGEST_SECONDS * 1_000)
  }

  /** Over a connection that ended meanwhile nothing is asked: that is done again, as it may be asked for twice. Who is silent is not waited for again. */
  async #ended(vendor: RemoteService, id: string, signal?: AbortSignal): Promise<JsonObject> {
    const { releasedWithinMs: withinMs = RELEASED_WITHIN_MS } = this.#options
    const request = vendor.release(id, this.#port.variables)
    const ask = () => askCloud(vendor, request, this.#port, { withinMs, ...(signal ? { signal } : {}) })
    return ask().catch((error: unknown) => {
      if (HermesError.isInstance(error) && error.code === 'browser.cloud_unreached' && !signal?.aborted) return ask()
      throw error
    })
  }

  /** Releases what was made by a request whose answer nobody wrote down, found by its mark; how many it were. */
  async #releaseMarked({ cloud, mark }: LeaseRecord, file: string): Promise<number> {
    const { signal, releasedWithinMs: withinMs = RELEASED_WITHIN_MS } = this.#options
    const vendor = cloud === 'camofox' ? null : CLOUDS[cloud]
    if (!vendor?.marks || (await this.#ageMs(file)) > LONGEST_SECONDS * 1_000) {
      await this.#forget(file)
      return 0
    }
    try {
      const isEarly = (await this.#ageMs(file)) < MADE_WITHIN_MS
      const answer = await askCloud(vendor, vendor.marks.running, this.#port, {
        withinMs,
        ...(signal ? { signal } : {}),
      })
      const running = Array.isArray(answer['items']) ? answer['items'].filter(isJsonObject) : []
      const ids = running.flatMap((one) =>
        vendor.marks.markOf(one) === mark && typeof one['id'] === 'string' ? [one['id']] : [],
      )
      for (const id of ids) await this.#release(cloud, id, file, signal)
      if (ids.length === 0 && isEarly) this.#tryAgain(file)
      else if (ids.length === 0) await this.#forget(file)
      return this.#unreleased.has(file) ? 0 : ids.length
    } catch (error) {
      if (!signal?.aborted)
        this.#keep(file, `Whether ${vendor.label} has a session left could not be asked: ${errorLine(error)}`)
      return 0
    }
  }

  async #ageMs(file: string): Promise<number> {
    const written = await stat(file).catch(() => null)
    return written === null ? 0 : this.#clock.now() - written.mtimeMs
  }

  /** A record stays where the cloud could not be asked: that is tried again. */
  async #release(name: ServiceName, id: string, file: string, signal?: AbortSignal): Promise<Released> {
    const vendor = SERVICES[name]
    try {
      const answer = await this.#ended(vendor, id, signal)
      await this.#forget(file)
      const cost = vendor.cost(answer)
      if (cost !== null) this.#costs.push(`A session of ${vendor.label} that is over cost ${cost}.`)
      return { cost }
    } catch (error) {
      const line = error instanceof Error ? error.message : String(error)
      // One that has expired is gone already.
      if (/answered (?:404|409|410)/.test(line)) await this.#forget(file)
      else if (!signal?.aborted) this.#keep(file, `A session of ${vendor.label} was not released: ${line}`)
      return { cost: null }
    }
  }

  async #forget(file: string): Promise<void> {
    this.#unreleased.delete(file)
    await rm(file, { force: true }).catch(() => undefined)
  }

  #keep(file: string, line: string): void {
    if (!this.#unreleased.has(file)) this.#options.logger.warn(line)
    this.#tryAgain(file)
  }

  #tryAgain(file: string): void {
    if (!this.#unreleased.has(file)) this.#unreleased.set(file, this.#clock.now())
    this.#options.failed?.()
  }
}

interface LeaseRecord {
  readonly cloud: ServiceName
  /** `null` until the cloud has answered; its `mark` is what it is found by then. */
  readonly id: string | null
  readonly mark: string | null
  /** Whether it was there before, and stays. */
  readonly isBorrowed: boolean
  /** Where its owner runs; `null` in records of older versions. */
  readonly machine: string | null
}

/** Whether its owner would be seen from here: a home may be shared with containers, which have process ids of their own. */
const isHere = ({ machine }: LeaseRecord): boolean => machine === null || machine === machineName()

/** Whether nobody pays for one any more, wherever its owner runs. Camofox sets no end; who uses it says so while it does. */
async function isOver(file: string, nowMs: number): Promise<boolean> {
  const written = await stat(file).catch(() => null)
  return written === null || nowMs - written.mtimeMs > LONGEST_SECONDS * 1_000
}

/** `null` for a file that is none. */
async function recordIn(file: string): Promise<LeaseRecord | null> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as JsonObject
    const { cloud, id = null, mark = null, isBorrowed, machine } = isJsonObject(value) ? value : {}
    if (typeof cloud !== 'string' || !Object.hasOwn(SERVICES, cloud)) return null
    if (typeof (id ?? mark) !== 'string') return null
    return {
      ...{ cloud: cloud as ServiceName, id: id as string | null, mark: mark as string | null },
      isBorrowed: isBorrowed === true,
      machine: typeof machine === 'string' ? machine : null,
    }
  } catch {
    return null
  }
}
