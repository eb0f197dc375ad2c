import { join } from 'node:path'
import type { BrowserOptions } from '../browser-options.js'
import type { BrowserSettings } from '../settings.js'
import type { BrowserProcess } from './browser-process.js'
import { BrowserSession } from './browser-session.js'
import { pruneDownloads } from './downloads.js'

/** Contexts cost what Chromium makes them cost. */
const MOST_AWAKE = 4

/** The browsers of all sessions of a home: one program, started with the first page and ended with the last. */
export class BrowserSessions {
  readonly #options: BrowserOptions
  readonly #settings: () => BrowserSettings
  readonly #sessions = new Map<string, BrowserSession>()
  readonly #ended = new AbortController()
  #process: Promise<BrowserProcess> | null = null
  #isWatching = false

  constructor(options: BrowserOptions, settings: () => BrowserSettings) {
    this.#options = options
    this.#settings = settings
  }

  get isRunning(): boolean {
    return this.#process !== null
  }

  list(): readonly (readonly [id: string, session: BrowserSession])[] {
    return [...this.#sessions]
  }

  /** The browser of a session, made where it has none. Nothing is started before it opens a page. */
  get(sessionId: string): BrowserSession {
    const known = this.#sessions.get(sessionId)
    if (known) return known
    const session = new BrowserSession({
      options: this.#options,
      settings: this.#settings(),
      process: () => this.#running(),
      folder: join(this.#options.downloadDir, sessionId.replace(/[^\w-]+/g, '_').slice(0, 80)),
    })
    this.#sessions.set(sessionId, session)
    return session
  }

  /** Never rejects. */
  async end(sessionId: string): Promise<boolean> {
    const session = this.#sessions.get(sessionId)
    this.#sessions.delete(sessionId)
    await session?.close()
    await this.#closeUnused()
    return session !== undefined
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#ended.abort()
    const sessions = [...this.#sessions.values()]
    this.#sessions.clear()
    const process = this.#process
    this.#process = null
    await process?.then((running) => running.close()).catch(() => undefined)
    await Promise.all(sessions.map((session) => session.close()))
  }

  #running(): Promise<BrowserProcess> {
    const known = this.#process
    if (known) return this.#withRoom(known)
    // Loaded with the first page: what speaks to a browser is much, and few sessions open one.
    const starting = import('./browser-process.js').then(({ startBrowser }) =>
      startBrowser(this.#options, this.#settings()),
    )
    this.#process = starting
    void pruneDownloads(this.#options.downloadDir, this.#options.clock.now())
    const forget = () => {
      if (this.#process === starting) this.#process = null
    }
    starting.then((running) => running.hub.closed.then(forget), forget)
    if (!this.#isWatching) void this.#watch()
    return starting
  }

  /** Puts those that were idle longest to sleep where too many are awake. */
  async #withRoom(process: Promise<BrowserProcess>): Promise<BrowserProcess> {
    const awake = [...this.#sessions.values()].filter((session) => session.isAwake || session.isBusy)
    const idle = awake.filter((session) => !session.isBusy).sort((left, right) => left.usedAtMs - right.usedAtMs)
    for (const session of idle.slice(0, Math.max(0, awake.length - MOST_AWAKE))) await session.close({ sleeps: true })
    return process
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options
    this.#isWatching = true
    while (this.#process !== null && !this.#ended.signal.aborted) {
      const { idleMs } = this.#settings()
      await clock.sleep(Math.min(idleMs / 4, 15_000), this.#ended.signal).catch(() => undefined)
      if (this.#ended.signal.aborted) break
      for (const session of this.#sessions.values())
        if (session.isAwake && !session.isBusy && clock.now() - session.usedAtMs >= idleMs)
          await session.close({ sleeps: true })
      await this.#closeUnused()
    }
    this.#isWatching = false
  }

  async #closeUnused(): Promise<void> {
    const isUsed = [...this.#sessions.values()].some((session) => session.isAwake || session.isBusy)
    const process = this.#process
    if (isUsed || !process) return
    this.#process = null
    await process.then((running) => running.close()).catch(() => undefined)
  }
}
