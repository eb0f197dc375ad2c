import { errorLine, HermesError } from '@hermes/contracts'
import type { WebCall } from '@hermes/contracts/web'
import { createRedactor } from '@hermes/safety'
import type { BrowserContext, Dialog, Page } from 'playwright-core'
import type { BrowserOptions } from '../browser-options.js'
import type { CamofoxPages } from '../camofox/camofox-pages.js'
import type { BrowserSettings } from '../settings.js'
import type { BrowserProcess } from './browser-process.js'
import { Downloads, MOST_BYTES } from './downloads.js'
import { Gate } from './gate.js'
import { CAMOFOX_NOTICE } from './notices.js'
import { Profile } from './profile.js'
import { Recording } from './recording.js'
import type { Tab } from './tab.js'
import type { Zone, ZoneKind } from './zone.js'

const MOST_TABS = 20
const TOO_MANY = `The page opens more than ${MOST_TABS} tabs; the others were closed.`
const NO_WINDOWS = { first: '', count: 0 }
const MOST_ERRORS = 50
const MOST_NOTES = 8
const MOST_CLOSED_SHOWN = 8

const LEAST_BEGINNING = 4

/** What a session keeps while its pages are closed. */
interface Asleep {
  readonly kind: ZoneKind
  readonly url: string
  readonly scrollY: number
  /** Addresses of its other tabs, which stay closed: a session that wakes costs one page. */
  readonly others: readonly string[]
  readonly states: ReadonlyMap<ZoneKind, Awaited<ReturnType<BrowserContext['storageState']>>>
}

interface OpenDialog {
  readonly dialog: Dialog
  readonly tab: Tab
}

/** What a session's browser needs. */
interface SessionOptions {
  readonly options: BrowserOptions
  readonly settings: () => BrowserSettings
  /** The browser that all sessions share for pages of a kind, started where it does not run. */
  readonly process: (kind: ZoneKind) => Promise<BrowserProcess>
  /** A page in Camofox, where pages of the public web are opened there; `null` where they are not. */
  readonly camofox: (gate: Gate) => Promise<CamofoxPages | null>
  /** Where what its pages download goes; `null` takes nothing. */
  readonly folder: string | null
  /** Where pictures of what its pages show go; `null` for none. */
  readonly recordingFolder: string | null
}

/** The pages of one session, of which one call works at a time. */
export class BrowserSession {
  readonly #ports: SessionOptions
  readonly #zones = new Map<ZoneKind, Promise<Zone>>()
  readonly #tabs: Tab[] = []
  readonly #dialogs: OpenDialog[] = []
  readonly #notes: string[] = []
  readonly #console: string[] = []
  /** What was filled in from the vault: no answer holds it, whatever a page does with it. */
  readonly #redactor = createRedactor({ secrets: [] })
  readonly secrets = new Set<string>()
  readonly #profile: Profile | null
  readonly #recording: Recording | null
  readonly gate: Gate
  readonly downloads: Downloads
  #current: Tab | null = null
  #camofox: CamofoxPages | null = null
  #isInCamofox = false
  #notifiedOfCamofox = false
  #asleep: Asleep | null = null
  #leadsOut: string | null = null
  #nextTab = 1
  #personMs = 0
  #isAsking = 0
  #noticed = false
  #isOpening = false
  #dialogOpened: (() => void) | null = null
  #crashed: (() => void) | null = null
  /** Tabs that pages opened, which nobody was told of yet. */
  readonly #openedTabs: number[] = []
  /** Windows that pages wanted and did not get, which nobody was told of yet. */
  #blockedWindows = NO_WINDOWS
  #queue: Promise<unknown> = Promise.resolve()
  #closing = new AbortController()
  usedAtMs: number
  isBusy = false

  constructor(ports: SessionOptions) {
    this.#ports = ports
    this.usedAtMs = ports.options.clock.now()
    const { profile } = ports.settings()
    this.#profile = profile === null ? null : new Profile(ports.options.profileDir, profile)
    this.downloads = new Downloads(ports.folder ?? '', (text) => this.note(text))
    const { recordingFolder } = ports
    const recorded = { clock: ports.options.clock, note: (text: string) => this.note(text) }
    this.#recording = recordingFolder === null ? null : new Recording(recordingFolder, recorded)
    this.gate = new Gate(ports.options, {
      note: (text) => this.note(text),
      leadsOut: (url) => {
        this.#leadsOut = url
      },
      asking: (work) => this.asking(work),
      hold: () => this.#hold(),
      tabs: () => this.#tabs,
    })
  }

  /** Whether it has pages in a browser of ours. */
  get isAwake(): boolean {
    return this.#zones.size > 0
  }

  /** Whether it has pages anywhere. */
  get isOpen(): boolean {
    return this.isAwake || this.#camofox?.isOpen === true
  }

  /** Where it is recorded; `null` where it is not. */
  get recordingFolder(): string | null {
    return this.#recording?.folder ?? null
  }

  get tabs(): readonly Tab[] {
    return this.#tabs
  }

  /** Newest last. */
  get console(): readonly string[] {
    return this.#console
  }

  clearConsole(): void {
    this.#console.length = 0
  }

  isCurrent(tab: Tab): boolean {
    return tab === this.#current
  }

  get dialog(): Dialog | null {
    return this.#dialogs[0]?.dialog ?? null
  }

  /** From now on no answer holds this. */
  conceal(secret: string): void {
    this.#recording?.end('a secret of the vault comes to the page, and no picture may show it')
    this.secrets.add(secret)
    this.#redactor.add(secret)
  }

  /** Without what was filled in, also where long texts were cut within it. */
  shown(text: string): string {
    return [...this.secrets].reduce(withoutCut, this.#redactor.redactValues(text))
  }

  /** Something that the next answer tells. */
  note(text: string): void {
    if (!this.#notes.includes(text)) this.#notes.push(text)
  }

  /**
   * Does one thing after the other: what a call gives, and what happened beside it. It ends with a dialog that opens, the time for a call, a
   * page that breaks or a browser that goes.
   */
  async run(context: WebCall, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const turn = this.#queue.then(() => this.#turn(context, work))
    this.#queue = turn.catch(() => undefined)
    return turn
  }

  /** The page in Camofox, where calls are about that one. */
  get camofox(): CamofoxPages | null {
    return this.#isInCamofox ? this.#camofox : null
  }

  /** The page in Camofox for an address that is opened there; `null` for others. Calls are about it from now on. */
  async camofoxFor(url: string): Promise<CamofoxPages | null> {
    const pages = this.gate.zoneOf(url) === 'public' ? await this.#ports.camofox(this.gate) : null
    this.#isInCamofox = pages !== null
    if (pages === null) return null
    return (this.#camofox ??= pages)
  }

  /** Says once what holds in Camofox. */
  tellOfCamofox(): void {
    if (!this.#notifiedOfCamofox) this.note(CAMOFOX_NOTICE)
    this.#notifiedOfCamofox = true
  }

  /** The page that calls are about. @throws HermesError `browser.no_page`. */
  async page(): Promise<Tab> {
    if (this.#isInCamofox)
      throw new HermesError('Camofox cannot do this: its API has nothing for it. browser.backend: local can.', {
        code: 'browser.cannot_act',
      })
    if (this.#asleep) await this.#wake(this.#asleep)
    const tab = this.#current
    if (!tab) throw new HermesError('No page is open. Open one with browser_navigate.', { code: 'browser.no_page' })
    if (tab.isCrashed) throw crashed()
    // It may have come to an end meanwhile.
    if (tab.isStuck) await tab.check()
    if (tab.isStuck) throw stuck()
    return tab
  }

  /** A page that may show what an address leads to: the current one if it is of that kind. */
  async pageFor(url: string): Promise<Tab> {
    const kind = this.gate.zoneOf(url)
    if (this.#current?.zone.kind === kind && !isDead(this.#current)) return this.#current
    const zone = await this.#zone(kind)
    const free = this.#tabs.find((tab) => tab.zone === zone && !isDead(tab) && tab.page.url() === 'about:blank')
    this.#current = free ?? (await this.#open(zone))
    return this.#current
  }

  /** Makes a new page in place of the current one. */
  async newPageFor(url: string): Promise<Tab> {
    this.#current = await this.#open(await this.#zone(this.gate.zoneOf(url)))
    return this.#current
  }

  /** Resolves once every page that was opened is a tab, or soon after. */
  async knowsItsTabs(signal: AbortSignal): Promise<void> {
    const tab = this.#current
    if (!tab) return
    const { guard } = await this.#ports.process(tab.zone.kind)
    const isMissing = () =>
      this.#tabs.filter(({ zone }) => zone === tab.zone).length < Math.min(guard.pagesOf(tab.zone.contextId), MOST_TABS)
    for (let tries = 0; tries < 50 && isMissing(); tries++) {
      signal.throwIfAborted()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  switchTo(number: number): Tab {
    const tab = this.#tabs.find((one) => one.number === number)
    if (!tab) throw new HermesError(`There is no tab ${number}.`, { code: 'browser.no_page' })
    this.#current = tab
    void tab.page.bringToFront().catch(() => undefined)
    return tab
  }

  /** An address that a page of this machine or its network led to, once. */
  takeLeadingOut(): string | null {
    const url = this.#leadsOut
    this.#leadsOut = null
    return url
  }

  /** Answers the dialog that is open. @throws HermesError `browser.no_dialog`. */
  async answerDialog(accepts: boolean, text?: string): Promise<string> {
    const open = this.#dialogs.shift()
    if (!open) throw new HermesError('No dialog is open.', { code: 'browser.no_dialog' })
    const { dialog } = open
    await (accepts ? dialog.accept(text) : dialog.dismiss()).catch(() => undefined)
    return `${accepts ? 'Accepted' : 'Dismissed'} the ${dialog.type()} ${JSON.stringify(dialog.message().slice(0, 200))}.`
  }

  /** Closes all pages; cookies, address and scroll position are kept with `sleeps`. Never rejects. */
  async close({ sleeps = false } = {}): Promise<void> {
    if (sleeps && this.#current && !this.dialog) this.#asleep = await this.#remember(this.#current).catch(() => null)
    else if (!sleeps) this.#asleep = null
    const camofox = this.#camofox
    if (!sleeps) [this.#camofox, this.#isInCamofox] = [null, false]
    const zones = [...this.#zones.values()]
    this.#closing.abort()
    this.#closing = new AbortController()
    this.#zones.clear()
    this.#tabs.length = 0
    this.#dialogs.length = 0
    this.#current = null
    await Promise.all([
      this.#recording?.written(),
      sleeps ? camofox?.sleep() : camofox?.close(),
      ...zones.map((zone) => zone.then((one) => this.#end(one)).catch(() => undefined)),
    ])
  }

  async #end(zone: Zone): Promise<void> {
    if (zone.isHere) await this.#profile?.keep(zone.kind, zone.context)
    await zone.close()
  }

  async #turn(context: WebCall, work: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const over = new AbortController()
    const signal = AbortSignal.any([context.signal, over.signal])
    signal.throwIfAborted()
    this.gate.enter(context)
    this.isBusy = true
    this.#personMs = 0
    this.#leadsOut = null
    try {
      await this.gate.speech.begin()
      const working = work(signal)
      working.catch(() => undefined)
      const text = await Promise.race([working, this.#interruptions(signal)])
      if (this.gate.failure !== null) throw this.gate.failure
      const answer = this.shown([text, ...this.#happened()].filter((line) => line !== '').join('\n'))
      this.#current?.wasShown(answer)
      return answer
    } catch (error) {
      if (this.gate.failure !== null) throw this.gate.failure
      throw this.#withNotes(await this.#whyLate(error))
    } finally {
      over.abort()
      this.gate.leave()
      this.isBusy = false
      this.usedAtMs = this.#ports.options.clock.now()
      this.#dialogOpened = null
      this.#crashed = null
    }
  }

  /** What ends a call before its work: resolves with words for a dialog, rejects otherwise. */
  #interruptions(signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      // The browser needs a moment to say what became of the click that opened it.
      this.#dialogOpened = () => resolve('')
      // What a dead page was asked it never answers.
      this.#crashed = () => reject(crashed())
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      void this.#timeIsUp(signal).then(
        (error) => reject(error),
        () => undefined,
      )
    })
  }

  async #timeIsUp(signal: AbortSignal): Promise<HermesError> {
    const { clock } = this.#ports.options
    const { commandMs } = this.#ports.settings()
    const start = clock.now()
    for (;;) {
      const left = commandMs + this.#personMs - (clock.now() - start)
      if (left <= 0 && this.#isAsking === 0) break
      await clock.sleep(Math.max(left, 500), signal)
    }
    return new HermesError(
      `The page did not get there within ${commandMs / 1000} s. It may still be loading: look with browser_snapshot, or wait with browser_wait.`,
      { code: 'browser.timeout' },
    )
  }

  /** What is late may be so because the page answers nothing any more. */
  async #whyLate(error: unknown): Promise<unknown> {
    const isLate = HermesError.isInstance(error) && error.code === 'browser.timeout'
    if (!isLate || !this.#current || this.dialog) return error
    await this.#current.check()
    return this.#current.isStuck ? stuck() : error
  }

  /** Does what a person may be asked about; that time is not the call's. */
  async asking<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.#ports.options
    const start = clock.now()
    this.#isAsking++
    try {
      return await work()
    } finally {
      this.#isAsking--
      this.#personMs += clock.now() - start
    }
  }

  /** What happened beside a call, once. */
  #happened(): readonly string[] {
    const { dialog } = this
    const notes = [...openedLine(this.#openedTabs.splice(0)), ...this.#blockedLine(), ...this.#notes.splice(0)]
    const left = notes.length - MOST_NOTES
    return [
      ...notes.slice(0, MOST_NOTES),
      ...(left > 0 ? [`(${left} more notes)`] : []),
      ...(dialog
        ? [`A dialog is open, and the page waits for it: ${describeDialog(dialog)}. Answer it with browser_dialog.`]
        : []),
    ]
  }

  #windowBlocked(url: string): void {
    const { first, count } = this.#blockedWindows
    this.#blockedWindows = { first: count === 0 ? url.slice(0, 300) : first, count: count + 1 }
  }

  #blockedLine(): readonly string[] {
    const { first, count } = this.#blockedWindows
    this.#blockedWindows = NO_WINDOWS
    if (count === 0) return []
    const [what, which] = count === 1 ? ['a window', 'it'] : [`${count} windows`, 'the first']
    return [
      `The page wanted to open ${what} by itself, and a window opens by a click alone: ${which} was for ${first}. browser_navigate opens that here.`,
    ]
  }

  #withNotes(error: unknown): unknown {
    if (!(error instanceof Error) || error.name === 'AbortError') return error
    const notes = this.#happened()
    const isOurs = HermesError.isInstance(error)
    const line = isOurs ? errorLine(error) : driverLine(error)
    const text = this.shown([line, ...notes].join('\n'))
    return new HermesError(text, { code: isOurs ? error.code : 'browser.failed', cause: error })
  }

  #zone(kind: ZoneKind): Promise<Zone> {
    const known = this.#zones.get(kind)
    if (known) return known
    const opening = this.#openZone(kind)
    this.#zones.set(kind, opening)
    opening.catch(() => this.#zones.delete(kind))
    return opening
  }

  async #openZone(kind: ZoneKind): Promise<Zone> {
    const { process } = this.#ports
    // What is needed next is loaded while the browser starts.
    const [running, { openZone }] = await Promise.all([process(kind), import('./zone.js'), import('./tab.js')])
    if (running.notice !== null && !this.#noticed) this.note(running.notice)
    this.#noticed = true
    const isHere = running.where.type === 'local'
    const zone = await openZone({
      kind,
      browser: running.browser,
      guard: running.guard,
      connect: isHere ? this.gate.connect(kind) : null,
      watched: {
        mayGo: this.gate.mayGo(kind, { isHere }),
        // One of ours comes to be also while a page opens many.
        mostPages: () => (this.#isOpening ? Number.POSITIVE_INFINITY : MOST_TABS),
        tooMany: () => this.note(TOO_MANY),
        windowBlocked: (url) => this.#windowBlocked(url),
      },
      // Cookies that the person keeps stay on this machine.
      storageState: this.#asleep?.states.get(kind) ?? (isHere ? await this.#profile?.load(kind) : undefined),
    })
    try {
      if (this.gate.speech.isHolding || !isHere) await running.guard.hold(zone.contextId)
      for (const page of zone.context.pages()) await this.#adopt(running, zone, page)
    } catch (error) {
      // A browser that goes meanwhile does not take the proxy of the zone with it.
      await zone.close()
      throw error
    }
    zone.context.on('page', (page) => {
      void this.#tellOfTab(running, zone, page).catch(() => undefined)
    })
    void running.hub.closed.then(() => this.#lost(zone))
    const addresses = new Map<unknown, string>()
    const unheed = running.hub.on('Browser.downloadWillBegin', ({ guid, url }) => void addresses.set(guid, String(url)))
    const uncount = running.hub.on('Browser.downloadProgress', ({ guid, receivedBytes, totalBytes }) => {
      if (Math.max(Number(receivedBytes), Number(totalBytes)) <= MOST_BYTES) return
      this.downloads.tooLarge.add(addresses.get(guid) ?? '')
      // Of another zone: the browser knows no such download there.
      running.hub.call('Browser.cancelDownload', { guid, browserContextId: zone.contextId }).catch(() => undefined)
    })
    zone.context.once('close', () => {
      unheed()
      uncount()
    })
    return zone
  }

  async #tellOfTab(running: BrowserProcess, zone: Zone, page: Page): Promise<void> {
    const isOurs = this.#isOpening
    const tab = await this.#adopt(running, zone, page)
    if (isOurs) return
    if (tab) this.#openedTabs.push(tab.number)
    // A tab that a click opens lies over the one that the session goes on in, which then draws nothing and moves nothing.
    await this.#current?.page.bringToFront()
  }

  /** All that the pages of this session ask for is asked about from now on. */
  async #hold(): Promise<void> {
    for (const zone of await Promise.all(this.#zones.values())) {
      const { guard } = await this.#ports.process(zone.kind)
      await guard.hold(zone.contextId)
    }
  }

  #lost(zone: Zone): void {
    if (!this.#zones.has(zone.kind)) return
    void this.close()
  }

  async #open(zone: Zone): Promise<Tab> {
    const running = await this.#ports.process(zone.kind)
    this.#isOpening = true
    try {
      const dead = this.#tabs.filter(isDead).map((tab) => this.#drop(tab))
      await Promise.all(dead)
      const tab = this.#tabs.length < MOST_TABS && (await this.#adopt(running, zone, await zone.context.newPage()))
      if (tab) return tab
      throw new HermesError(`${MOST_TABS} tabs are open, and no more can be. Close one with browser_tabs.`, {
        code: 'browser.no_page',
      })
    } finally {
      this.#isOpening = false
    }
  }

  /** Closes a page that is of no use. One that does not answer takes its time with that as well. */
  async #drop(tab: Tab): Promise<void> {
    this.#closed(tab)
    const closing = tab.page.close().catch(() => undefined)
    if (tab.isCrashed) await closing
  }

  async #adopt(running: BrowserProcess, zone: Zone, page: Page): Promise<Tab | null> {
    const known = this.#tabs.find((tab) => tab.page === page)
    if (known) return known
    if (this.#tabs.length >= MOST_TABS) return this.#tooMany(page)
    const [targetId, { Tab }] = await Promise.all([zone.targetOf(page), import('./tab.js')])
    const twice = this.#tabs.find((tab) => tab.page === page)
    if (twice) return twice
    // Many come at once.
    if (this.#tabs.length >= MOST_TABS) return this.#tooMany(page)
    const tab = new Tab(running, { page, zone, number: this.#nextTab++, targetId })
    this.#tabs.push(tab)
    page.on('request', (request) => this.gate.speech.learn(request.url(), request.method()))
    page.on('dialog', (dialog) => this.#dialogCame({ dialog, tab }))
    page.on('console', (message) => {
      const isIcon = message.location().url.endsWith('/favicon.ico')
      if (message.type() === 'error' && !isIcon) this.#log(`error: ${message.text()}`)
    })
    page.on('pageerror', (error) => this.#log(`uncaught: ${error.message}`))
    page.on('download', (download) => {
      if (this.#ports.folder === null) void download.cancel().catch(() => undefined)
      else this.downloads.take(download)
    })
    page.on('crash', () => {
      if (this.isCurrent(tab)) this.#crashed?.()
      else this.note(`Tab ${tab.number} crashed.`)
    })
    page.on('close', () => this.#closed(tab))
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) void this.#leaveMade(page)
    })
    void this.#recording?.watch(page, tab.number)
    // It may have come before anybody listened.
    void this.#leaveMade(page)
    return tab
  }

  /** No request is seen of a document that a page makes itself, so that it is left once it is there. */
  async #leaveMade(page: Page): Promise<void> {
    const url = page.url()
    if (!/^(?:blob|data|filesystem):/.test(url)) return
    this.note(`The page led to ${url.slice(0, 100)}, and nothing but http and https is opened.`)
    const before = await page.goBack({ waitUntil: 'commit' }).catch(() => null)
    if (before === null && page.url() === url) await page.close().catch(() => undefined)
  }

  async #tooMany(page: Page): Promise<null> {
    this.note(TOO_MANY)
    await page.close().catch(() => undefined)
    return null
  }

  #closed(tab: Tab): void {
    const at = this.#tabs.indexOf(tab)
    if (at >= 0) this.#tabs.splice(at, 1)
    if (this.#current === tab) this.#current = this.#tabs.at(-1) ?? null
  }

  #log(text: string): void {
    const line = text.replace(/\s+/g, ' ').slice(0, 300)
    this.#console.push(line)
    if (this.#console.length > MOST_ERRORS) this.#console.shift()
    if (this.isBusy) this.note(`Console ${line.slice(0, 200)}`)
  }

  #dialogCame(open: OpenDialog): void {
    const { dialog } = open
    const { dialogs, dialogMs } = this.#ports.settings()
    if (dialogs !== 'must_respond') {
      const accepts = dialogs === 'auto_accept' || dialog.type() === 'beforeunload'
      this.note(`${accepts ? 'Accepted' : 'Dismissed'} by itself: ${describeDialog(dialog)}.`)
      void (accepts ? dialog.accept() : dialog.dismiss()).catch(() => undefined)
      return
    }
    this.#dialogs.push(open)
    open.tab.page.once('close', () => this.#dropDialog(open))
    void this.#dismissLater(open, dialogMs)
    this.#dialogOpened?.()
  }

  async #dismissLater(open: OpenDialog, ms: number): Promise<void> {
    try {
      await this.#ports.options.clock.sleep(ms, this.#closing.signal)
    } catch {
      return
    }
    if (!this.#dropDialog(open)) return
    this.note(`Nobody answered within ${ms / 1000} s, so it was dismissed: ${describeDialog(open.dialog)}.`)
    await open.dialog.dismiss().catch(() => undefined)
  }

  #dropDialog(open: OpenDialog): boolean {
    const at = this.#dialogs.indexOf(open)
    if (at >= 0) this.#dialogs.splice(at, 1)
    return at >= 0
  }

  async #remember({ page, zone }: Tab): Promise<Asleep> {
    const states = new Map<ZoneKind, Awaited<ReturnType<BrowserContext['storageState']>>>()
    for (const [kind, opening] of this.#zones) states.set(kind, await (await opening).context.storageState())
    const scrollY = await page.evaluate('window.scrollY').catch(() => 0)
    const others = this.#tabs
      .map((tab) => tab.page.url())
      .filter((url, at) => this.#tabs[at] !== this.#current && isWeb(url))
    return { kind: zone.kind, url: page.url(), scrollY: Number(scrollY) || 0, others, states }
  }

  async #wake(asleep: Asleep): Promise<void> {
    const zone = await this.#zone(asleep.kind)
    this.#current = this.#tabs.find((tab) => tab.zone === zone) ?? (await this.#open(zone))
    this.#asleep = null
    if (asleep.others.length > 0) this.note(closedLine(asleep.others))
    if (!isWeb(asleep.url)) return
    await this.#current.page.goto(asleep.url, { waitUntil: 'domcontentloaded' }).catch(() => undefined)
    await this.#current.page.evaluate(`window.scrollTo(0, ${asleep.scrollY})`).catch(() => undefined)
    this.note('The page had been closed while idle, and was opened again: what was typed into it is gone.')
  }
}

const crashed = () =>
  new HermesError('The page crashed. Open it again with browser_navigate.', { code: 'browser.page_failed' })

const stuck = () =>
  new HermesError(
    'The page answers nothing: it never came, or a script of it never ends. browser_navigate opens another one in its place.',
    {
      code: 'browser.page_failed',
    },
  )

const isDead = ({ isCrashed, isStuck }: Tab) => isCrashed || isStuck

const isWeb = (url: string) => /^https?:/.test(url)

function closedLine(urls: readonly string[]): string {
  const shown = urls.slice(0, MOST_CLOSED_SHOWN).map((url) => url.slice(0, 200))
  const more = urls.length > shown.length ? ` and ${urls.length - shown.length} more` : ''
  return `Other tabs had been closed while idle: ${shown.join(' , ')}${more}. browser_navigate opens them again.`
}

function openedLine(tabs: readonly number[]): readonly string[] {
  if (tabs.length === 0) return []
  const [what, them] = tabs.length === 1 ? ['tab', 'it'] : ['tabs', 'them']
  return [`The page opened ${what} ${tabs.join(', ')}: browser_tabs shows ${them}.`]
}

function describeDialog(dialog: Dialog): string {
  const text = JSON.stringify(dialog.message().slice(0, 500))
  const value = dialog.type() === 'prompt' ? ` (default ${JSON.stringify(dialog.defaultValue().slice(0, 100))})` : ''
  return dialog.type() === 'beforeunload' ? 'the page asks whether to leave it' : `${dialog.type()} ${text}${value}`
}

/** The first line of what the driver throws, without its call log. */
function driverLine({ message }: Error): string {
  const line = message.split('\n')[0]!.replace(/^\w+\.\w+: /, '')
  const known: readonly (readonly [RegExp, string])[] = [
    [
      /net::ERR_NAME_NOT_RESOLVED|net::ERR_TUNNEL_CONNECTION_FAILED/,
      'The site cannot be reached: its name leads nowhere, it does not answer, or it may not be connected to.',
    ],
    [
      /net::ERR_INVALID_AUTH_CREDENTIALS/,
      'The site wants a name and a password before it shows anything (HTTP authentication), which the browser has none of.',
    ],
    [/net::ERR_TOO_MANY_REDIRECTS/, 'The site redirects in a circle, so that no page comes of it.'],
    [/net::ERR_BLOCKED_BY_CLIENT/, 'The page was not opened.'],
    [/net::ERR_CERT_\w+/, 'The certificate of the site is not valid, so it was not opened.'],
    [/Download is starting/, 'The address is a file, and the page stayed as it was.'],
    // The one before it, which its call had no more time for, was still on its way.
    [/net::ERR_ABORTED|is interrupted by another navigation/, 'The page was not opened.'],
    [
      /net::ERR_/,
      `The page cannot be shown: what the site sent is broken (${/net::(ERR_\w+)/.exec(line)?.[1] ?? ''}).`,
    ],
    [
      /Target page, context or browser has been closed|Target closed/,
      'The page was closed meanwhile. Open it again with browser_navigate.',
    ],
    [/(?:Page|Target) crashed/, 'The page crashed. Open it again with browser_navigate.'],
  ]
  return known.find(([pattern]) => pattern.test(line))?.[1] ?? line.slice(0, 300)
}

/** Hides the beginning of a secret before the mark of a cut; what is as short as this is in many words. */
function withoutCut(text: string, secret: string): string {
  const beginning = secret.slice(0, LEAST_BEGINNING)
  if (beginning.length < LEAST_BEGINNING || !text.includes(beginning)) return text
  let shown = text
  for (let length = secret.length - 1; length >= LEAST_BEGINNING; length--)
    shown = shown.replaceAll(`${secret.slice(0, length)}…`, '[REDACTED]…')
  return shown
}
