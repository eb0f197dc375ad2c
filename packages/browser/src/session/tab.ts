import { HermesError } from '@hermes/contracts'
import type { FileChooser, Page, Request, WebSocket } from 'playwright-core'
import type { Found, Located, PageNode } from '../page/page-node.js'
import { lineOf, type Snapshot, shownLines } from '../page/snapshot-text.js'
import { type FramePlace, Worlds } from '../page/worlds.js'
import type { BrowserProcess } from './browser-process.js'
import type { Zone } from './zone.js'

/** Nodes of one document; a page with more says so. */
const MOST_NODES = 6_000
const MOST_FRAMES = 30
/** Lines of one site that are remembered; others are shown again. */
const MOST_SHOWN = 10_000
const MOST_ADDRESSES = 5_000
const QUIET_MS = 1_500
const DOCUMENT_MS = 15_000
const ANSWERS_WITHIN_MS = 3_000

interface KnownRef {
  readonly place: FramePlace
  readonly role: string
  readonly name: string
}

/** One page of a session. */
export class Tab {
  readonly page: Page
  readonly zone: Zone
  readonly number: number
  /** The browser's own name for it. */
  readonly targetId: string
  readonly #worlds: Worlds
  readonly #refs = new Map<string, KnownRef>()
  readonly #busy = new Set<Request>()
  readonly #sockets = new Set<WebSocket>()
  #navigation: Request | null = null
  /** What the document that stands there came with. */
  #document: Request | null = null
  #isBrokenOff = false
  #nextRef = 1
  #latest: Snapshot | null = null
  /** What answers held of it, by origin. */
  readonly #shown = new Map<string, Set<string>>()
  #chooserCame: ((chooser: FileChooser) => void) | null = null
  /** The file that has all lines of it; `null` before one was written. */
  wholePage: string | null = null
  isCrashed = false
  /** Whatever it is asked, it does not answer: it never came, or a script of it never ends. */
  isStuck = false
  /** Whether a navigation ended without a document since {@link mark}: what it led to may be a file. */
  wasCutOff = false

  constructor(
    process: BrowserProcess,
    {
      page,
      zone,
      number,
      targetId,
    }: { readonly page: Page; readonly zone: Zone; readonly number: number; readonly targetId: string },
  ) {
    this.page = page
    this.zone = zone
    this.number = number
    this.targetId = targetId
    this.#worlds = new Worlds(process.hub, process.guard)
    page.on('request', (request) => this.#begun(request))
    const over = (request: Request) => {
      this.#busy.delete(request)
      if (this.#navigation === request) this.#navigation = null
    }
    page.on('requestfinished', over)
    page.on('requestfailed', (request) => {
      if (this.#navigation === request) this.wasCutOff = true
      // It is never said to be ready.
      else if (this.#document === request) this.#isBrokenOff = true
      over(request)
    })
    page.on('framenavigated', (frame) => {
      if (frame !== page.mainFrame()) return
      if (this.#navigation !== null) this.#document = this.#navigation
      this.#navigation = null
    })
    page.on('websocket', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    // Always heard, so that no window of the browser itself opens.
    page.on('filechooser', (chooser) => this.#chooserCame?.(chooser))
    page.on('crash', () => {
      this.isCrashed = true
    })
  }

  /** Looks whether the page answers at all. Never rejects. */
  async check(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(true), ANSWERS_WITHIN_MS)
    const answered = this.#isReady().then(
      () => false,
      () => false,
    )
    this.isStuck = await Promise.race([answered, late])
    clearTimeout(timer)
  }

  /** What was last shown of it. */
  get latest(): Snapshot | null {
    return this.#latest
  }

  /** An answer held this text of the page. */
  wasShown(text: string): void {
    if (!this.#latest) return
    const shown = this.#shownOf(this.#latest.url)
    for (const line of shownLines(text)) if (shown.size < MOST_SHOWN) shown.add(line)
  }

  #shownOf(url: string): Set<string> {
    const origin = URL.parse(url)?.origin ?? ''
    const shown = this.#shown.get(origin) ?? new Set()
    this.#shown.set(origin, shown)
    return shown
  }

  /** The page as it is now. `scope` is the reference of an element to stay within. */
  async snapshot(scope?: string): Promise<Snapshot> {
    const known = scope === undefined ? null : this.#known(scope)
    const place = known?.place ?? this.#main()
    const found = await this.#collect(place, scope)
    const nodes = await this.#withFrames(place, found, { left: MOST_FRAMES })
    const { url, title, scroll, isCut, contentType } = found
    const shown = this.#shownOf(url)
    const snapshot = { nodes, lines: nodes.map(lineOf), url, title, scroll, isCut, contentType, shown }
    if (scope === undefined) this.#latest = snapshot
    return snapshot
  }

  /** Where an element is now, in the window. @throws HermesError `browser.stale_ref`, `browser.cannot_click`. */
  async locate(
    ref: string,
  ): Promise<{ readonly x: number; readonly y: number; readonly tag: string; readonly inputType: string }> {
    const { place } = this.#known(ref)
    await this.#reveal(place)
    const located = await this.#worlds.call(place, 'locate', ref)
    if (located.type !== 'at') throw await this.#whyNot(ref, located)
    const offset = await this.#offset(place)
    return { ...located, x: located.x + offset.x, y: located.y + offset.y }
  }

  /** Calls a function of the page script about an element. */
  async onElement<Name extends 'focus' | 'fill' | 'choose'>(
    ref: string,
    name: Name,
    argument: Parameters<import('../page/page-node.js').PageScript[Name]>[1],
  ): Promise<ReturnType<import('../page/page-node.js').PageScript[Name]>> {
    const { place } = this.#known(ref)
    await this.#reveal(place)
    const result = await this.#worlds.call(place, name, ...([ref, argument] as never))
    const type = (result as { readonly type: string }).type
    if (type === 'gone' || type === 'hidden' || type === 'disabled') throw await this.#whyNot(ref, { type })
    return result as never
  }

  async scroll(options: {
    readonly ref?: string
    readonly by: number
  }): Promise<{ readonly y: number; readonly height: number }> {
    const place = options.ref === undefined ? this.#main() : this.#known(options.ref).place
    const scrolled = await this.#worlds.call(place, 'scroll', options)
    if (scrolled === null) throw await this.#whyNot(options.ref!, { type: 'gone' })
    return scrolled
  }

  shows(text: string): Promise<boolean> {
    return this.#worlds.call(this.#main(), 'shows', { text })
  }

  images(): Promise<
    readonly { readonly src: string; readonly alt: string; readonly width: number; readonly height: number }[]
  > {
    return this.#worlds.call(this.#main(), 'images', { max: 50 })
  }

  /** Of the document that an element stands in, which may be a frame of another site. */
  originOf(ref: string): Promise<string> {
    return this.#worlds.call(this.#known(ref).place, 'origin')
  }

  /** What tells the document that stands there from others. */
  documentId(): Promise<number> {
    return this.#worlds.call(this.#main(), 'documentId')
  }

  addresses(): Promise<readonly string[]> {
    return this.#worlds.call(this.#main(), 'addresses', { max: MOST_ADDRESSES })
  }

  /** Origins of the WebSockets that stand open. */
  openSockets(): readonly string[] {
    const origins = [...this.#sockets].map((socket) => new URL(socket.url().replace(/^ws/, 'http')).origin)
    return [...new Set(origins)]
  }

  /** The choice of files that something opens; `null` where it opens none in time. */
  async chooserOf(opens: () => Promise<void>, withinMs: number): Promise<FileChooser | null> {
    const { promise, resolve } = Promise.withResolvers<FileChooser | null>()
    this.#chooserCame = resolve
    const timer = setTimeout(() => resolve(null), withinMs)
    try {
      await opens()
      return await promise
    } finally {
      clearTimeout(timer)
      this.#chooserCame = null
    }
  }

  /** Draws references beside what is in the window, as the page itself has it. Gives them. */
  label(): Promise<readonly string[]> {
    return this.#worlds.call(this.#main(), 'label')
  }

  async unlabel(): Promise<void> {
    await this.#worlds.call(this.#main(), 'unlabel').catch(() => undefined)
  }

  /** How a person calls an element: as it was last shown. */
  describe(ref: string): string {
    const { role, name } = this.#known(ref)
    return `${role}${name === '' ? '' : ` ${JSON.stringify(name)}`}`
  }

  /** Marks what is under way already, so that {@link settle} waits for what comes after. */
  mark(): void {
    this.#busy.clear()
    this.wasCutOff = false
  }

  /** Resolves once what an action began has come to rest: a new document is there, what it asked for has been answered, or time is up. */
  async settle(signal: AbortSignal): Promise<void> {
    await pause(25, signal)
    const since = performance.now()
    // A window may close itself by what was done in it.
    const waits = () => performance.now() - since < DOCUMENT_MS && !this.page.isClosed()
    while (this.#navigation !== null && waits()) await pause(20, signal)
    while (waits() && !this.#isBrokenOff && !(await this.#isReady())) await pause(20, signal)
    const quiet = performance.now()
    while (this.#busy.size > 0 && performance.now() - quiet < QUIET_MS && !this.page.isClosed()) await pause(20, signal)
  }

  #begun(request: Request): void {
    const isMain = request.isNavigationRequest() && request.frame() === this.page.mainFrame()
    if (isMain) {
      this.#navigation = request
      this.#isBrokenOff = false
    }
    if (isMain || /^(?:xhr|fetch|script|document)$/.test(request.resourceType())) this.#busy.add(request)
  }

  /** A document that cannot be asked is about to be another one. */
  #isReady(): Promise<boolean> {
    return this.#worlds.call(this.#main(), 'isReady').catch((error: unknown) => {
      if (HermesError.isInstance(error) && error.code !== 'browser.lost') return false
      throw error
    })
  }

  #main(): FramePlace {
    return { frameId: this.targetId, parent: null }
  }

  async #collect(place: FramePlace, scope?: string): Promise<Found> {
    const found = await this.#worlds.call(place, 'collect', {
      start: this.#nextRef,
      max: MOST_NODES,
      ...(scope === undefined ? {} : { scope }),
    })
    this.#nextRef = found.next
    for (const { ref, role, name } of found.nodes) if (ref !== undefined) this.#refs.set(ref, { place, role, name })
    return found
  }

  /** Puts what is in frames where they stand. Those out of sight are read too, up to a number. */
  async #withFrames(place: FramePlace, { nodes }: Found, budget: { left: number }): Promise<readonly PageNode[]> {
    const all: PageNode[] = []
    for (const node of nodes) {
      all.push(node)
      if (node.frame === undefined || budget.left-- <= 0) continue
      try {
        const inner = await this.#worlds.frameAt(place, { index: node.frame, ref: node.ref! })
        if (!inner) continue
        const found = await this.#collect(inner)
        const within = await this.#withFrames(inner, found, budget)
        all.push(...within.map((one) => (node.inView ? one : { ...one, inView: false })))
      } catch (error) {
        // A frame that cannot be read keeps its line.
        if (!HermesError.isInstance(error) || error.code === 'browser.lost') throw error
      }
    }
    return all
  }

  #known(ref: string): KnownRef {
    const known = this.#refs.get(ref)
    if (known) return known
    throw new HermesError(`There is no element ${ref}. References look like e12 and come with each snapshot.`, {
      code: 'browser.stale_ref',
    })
  }

  async #whyNot(ref: string, located: { readonly type: string; readonly by?: string } | Located): Promise<HermesError> {
    const { role, name } = this.#known(ref)
    const what = `${ref} (${role}${name === '' ? '' : ` ${JSON.stringify(name)}`})`
    switch (located.type) {
      case 'gone': {
        const { nodes } = await this.snapshot()
        const equal = nodes.find((node) => node.ref !== undefined && node.role === role && node.name === name)
        const near =
          equal ?? nodes.find((node) => node.ref !== undefined && node.role === role && isAlike(node.name, name))
        const hint = near
          ? `The nearest equal one is ${lineOf(near)}.`
          : 'Nothing like it is there now: browser_snapshot.'
        return new HermesError(`${what} is gone. ${hint}`, { code: 'browser.stale_ref' })
      }
      case 'covered':
        return cannot(`${what} is covered by ${(located as { readonly by: string }).by}. Deal with that first.`)
      case 'disabled':
        return cannot(`${what} is disabled.`)
      case 'moving':
        return cannot(`${what} keeps moving. Wait for it with browser_wait, then try again.`)
      default:
        return cannot(`${what} is not visible. Open what holds it first, or take another snapshot.`)
    }
  }

  /** Scrolls the frames around a place into the window. */
  async #reveal({ parent }: FramePlace): Promise<void> {
    if (!parent) return
    await this.#reveal(parent.place)
    await this.#worlds.call(parent.place, 'locate', parent.ref)
  }

  async #offset({ parent }: FramePlace): Promise<{ readonly x: number; readonly y: number }> {
    if (!parent) return { x: 0, y: 0 }
    const box = (await this.#worlds.call(parent.place, 'frameBox', parent.ref)) ?? { x: 0, y: 0 }
    const around = await this.#offset(parent.place)
    return { x: box.x + around.x, y: box.y + around.y }
  }
}

function cannot(text: string): HermesError {
  return new HermesError(text, { code: 'browser.cannot_act' })
}

function isAlike(left: string, right: string): boolean {
  const [one, two] = [left.toLowerCase(), right.toLowerCase()]
  return one !== '' && two !== '' && (one.includes(two) || two.includes(one))
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise((resolve) => setTimeout(resolve, ms))
}
