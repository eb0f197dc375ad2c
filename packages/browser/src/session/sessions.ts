import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { BrowserOptions } from '../browser-options.js'
import { camofoxUser } from '../camofox/camofox-user.js'
import { choosePlace, type Place } from '../cloud/choose-place.js'
import { CloudLeases } from '../cloud/cloud-leases.js'
import type { BrowserSettings } from '../settings.js'
import type { BrowserProcess } from './browser-process.js'
import { BrowserSession } from './browser-session.js'
import { pruneDownloads } from './downloads.js'
import type { Gate } from './gate.js'
import { pruneRecordings } from './recording.js'
import type { ZoneKind } from './zone.js'

/** Contexts cost what Chromium makes them cost. */
const MOST_AWAKE = 4
/** How often it is tried to release what is paid elsewhere and could not be released. */
const RELEASES_AGAIN_MS = 60_000

/** The browsers of all sessions of a home: one program, started with the first page and ended with the last. */
export class BrowserSessions {
  readonly #options: BrowserOptions
  readonly #settings: () => BrowserSettings
  readonly #sessions = new Map<string, BrowserSession>()
  /** Sessions whose pages others may take, by the key for that. */
  readonly #offered = new Map<string, string>()
  /** Sessions that work in the pages of another one. */
  readonly #guests = new Map<string, string>()
  readonly #ended = new AbortController()
  /** Tabs of a user of Camofox who stays, by the sessions that took them over. */
  readonly #takenTabs = new Set<string>()
  readonly leases: CloudLeases
  readonly #processes = new Map<'local' | 'elsewhere', Promise<BrowserProcess>>()
  #connected: string | null = null
  #isWatching = false
  #nextOnce = 1

  constructor(options: BrowserOptions, settings: () => BrowserSettings) {
    this.#options = options
    this.#settings = settings
    this.leases = new CloudLeases(options.cloud, {
      folder: options.cacheDir,
      logger: options.logger,
      clock: options.clock,
      failed: () => this.#watchOnce(),
      signal: this.#ended.signal,
    })
  }

  get isRunning(): boolean {
    return this.#processes.size > 0
  }

  /** The browsers that run, those that start left out. */
  async running(): Promise<readonly BrowserProcess[]> {
    const all = await Promise.allSettled(this.#processes.values())
    return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }

  /** Where pages of the public web are opened. */
  place(): Promise<Place> {
    const { env, cloud } = this.#options
    return choosePlace({ settings: this.#settings(), variables: cloud.variables, env, connected: this.#connected })
  }

  /** Opens pages of the public web in the browser at an address from now on; `null`: as config.yaml says. Open pages close. */
  async connect(address: string | null): Promise<void> {
    this.#connected = address
    const sessions = [...this.#sessions.keys()]
    await Promise.all(sessions.map((id) => this.end(id)))
    await this.#stop('elsewhere')
  }

  list(): readonly (readonly [id: string, session: BrowserSession])[] {
    return [...this.#sessions]
  }

  /** The browser of a session, made where it has none. Nothing is started before it opens a page. */
  get(sessionId: string): BrowserSession {
    this.#watchOnce()
    const known = this.#sessions.get(this.#guests.get(sessionId) ?? sessionId)
    if (known) return known
    const name = sessionId.replace(/[^\w-]+/g, '_').slice(0, 80)
    const session = this.#make(name)
    this.#sessions.set(sessionId, session)
    return session
  }

  /** The key by which another session, such as that of a delegated task, may work in the pages of this one. */
  offer(sessionId: string): string {
    const host = this.#guests.get(sessionId) ?? sessionId
    const [key = randomBytes(9).toString('base64url')] = [...this.#offered].find(([, one]) => one === host) ?? []
    this.#offered.set(key, host)
    return key
  }

  /** A session works in the pages of the one that offered the key from now on; its own close. @throws HermesError `browser.no_page`. */
  async take(sessionId: string, key: string): Promise<void> {
    const host = this.#offered.get(key)
    if (host === undefined || !this.#sessions.has(host))
      throw new HermesError('That key opens no pages: who gave it has closed them.', { code: 'browser.no_page' })
    if (host === sessionId) return
    const own = this.#sessions.get(sessionId)
    this.#sessions.delete(sessionId)
    this.#guests.set(sessionId, host)
    await own?.close()
  }

  /** `name`: of the folders of a session; `null` for what leaves nothing. */
  #make(name: string | null, { isLocal = false } = {}): BrowserSession {
    const process = (kind: ZoneKind) => this.#running(isLocal ? 'near' : kind)
    // What is made for one piece of work has no cookies of the person.
    const settings = isLocal ? () => ({ ...this.#settings(), profile: null }) : this.#settings
    const camofox = async (gate: Gate) => {
      if (isLocal || (await this.place()).type !== 'camofox') return null
      const { CamofoxPages } = await import('../camofox/camofox-pages.js')
      const { cloud, cacheDir } = this.#options
      const user = camofoxUser(this.#settings(), cloud.variables, cacheDir)
      return new CamofoxPages(cloud, { leases: this.leases, gate, user, taken: this.#takenTabs })
    }
    const { downloadDir, recordingDir, clock } = this.#options
    const folder = name === null ? null : join(downloadDir, name)
    const began = new Date(clock.now()).toISOString().replace(/[^\dTZ]/g, '')
    const recordingFolder = name !== null && settings().recordsSessions ? join(recordingDir, `${name}-${began}`) : null
    return new BrowserSession({ options: this.#options, settings, process, camofox, folder, recordingFolder })
  }

  /** Does something in a session that is made for it, takes no files and leaves nothing. The browser stays for a while: there may be more. */
  async once<Value>(work: (session: BrowserSession) => Promise<Value>): Promise<Value> {
    const id = `once:${this.#nextOnce++}`
    // For reading, the browser of this machine will do; those elsewhere are paid by the minute.
    const session = this.#make(null, { isLocal: true })
    this.#sessions.set(id, session)
    try {
      return await work(session)
    } finally {
      this.#sessions.delete(id)
      await session.close()
    }
  }

  /** Never rejects. */
  async end(sessionId: string): Promise<boolean> {
    if (this.#guests.delete(sessionId)) return true
    for (const [guest, host] of this.#guests) if (host === sessionId) this.#guests.delete(guest)
    for (const [key, host] of this.#offered) if (host === sessionId) this.#offered.delete(key)
    const session = this.#sessions.get(sessionId)
    this.#sessions.delete(sessionId)
    await session?.close()
    await this.#closeUnused()
    if (this.#sessions.size === 0) await this.leases.releaseAside()
    return session !== undefined
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#ended.abort()
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(sessions.map((session) => session.close()))
    await Promise.all([this.#stop('local'), this.#stop('elsewhere')])
    await this.leases.releaseAside()
  }

  async #running(kind: ZoneKind): Promise<BrowserProcess> {
    const chosen: Place = kind === 'near' ? { type: 'local' } : await this.place()
    // Camofox is spoken to by tools themselves; what else wants a page has one here.
    const place: Place = chosen.type === 'camofox' ? { type: 'local' } : chosen
    const key = place.type === 'local' ? 'local' : 'elsewhere'
    const known = this.#processes.get(key)
    if (known) return this.#withRoom(known)
    const starting = this.#start(place)
    this.#processes.set(key, starting)
    const { downloadDir, recordingDir, clock } = this.#options
    void pruneDownloads(downloadDir, clock.now())
    void pruneRecordings(recordingDir, clock.now())
    const forget = () => {
      if (this.#processes.get(key) === starting) this.#processes.delete(key)
    }
    starting.then((running) => running.hub.closed.then(forget), forget)
    this.#watchOnce()
    return starting
  }

  // Loaded with the first page: what speaks to a browser is much, and few sessions open one.
  async #start(place: Place): Promise<BrowserProcess> {
    if (place.type === 'local' || place.type === 'camofox')
      return (await import('./browser-process.js')).startBrowser(this.#options, this.#settings())
    return (await import('./remote-browser.js')).connectBrowser(place, this.#options, this.leases)
  }

  async #stop(key: 'local' | 'elsewhere'): Promise<void> {
    const process = this.#processes.get(key)
    this.#processes.delete(key)
    await process?.then((running) => running.close()).catch(() => undefined)
  }

  /** Puts those that were idle longest to sleep where too many are awake. */
  async #withRoom(process: Promise<BrowserProcess>): Promise<BrowserProcess> {
    const awake = [...this.#sessions.values()].filter((session) => session.isAwake || session.isBusy)
    const idle = awake.filter((session) => !session.isBusy).sort((left, right) => left.usedAtMs - right.usedAtMs)
    for (const session of idle.slice(0, Math.max(0, awake.length - MOST_AWAKE))) await session.close({ sleeps: true })
    return process
  }

  #watchOnce(): void {
    if (!this.#isWatching && !this.#ended.signal.aborted) void this.#watch()
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options
    let triedMs = clock.now()
    this.#isWatching = true
    do {
      const { idleMs } = this.#settings()
      await clock.sleep(Math.min(idleMs / 4, 15_000), this.#ended.signal).catch(() => undefined)
      if (this.#ended.signal.aborted) break
      for (const session of this.#sessions.values())
        if (session.isOpen && !session.isBusy && clock.now() - session.usedAtMs >= idleMs)
          await session.close({ sleeps: true })
      const { aside } = this.leases
      if (aside && clock.now() - aside.sinceMs >= idleMs) await this.leases.releaseAside()
      await this.#closeUnused()
      if (clock.now() - triedMs >= RELEASES_AGAIN_MS) {
        await this.leases.releaseLeft()
        triedMs = clock.now()
      }
    } while (this.#isUsed)
    this.#isWatching = false
  }

  get #isUsed(): boolean {
    const isPaid = this.#processes.size > 0 || this.leases.aside !== null || this.leases.hasUnreleased
    return isPaid || [...this.#sessions.values()].some((session) => session.isOpen || session.isBusy)
  }

  async #closeUnused(): Promise<void> {
    const isUsed = [...this.#sessions.values()].some((session) => session.isAwake || session.isBusy)
    if (!isUsed) await Promise.all([this.#stop('local'), this.#stop('elsewhere')])
  }
}
