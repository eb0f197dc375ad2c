import { randomUUID } from 'node:crypto'
import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { askCloud } from '../cloud/ask-cloud.js'
import type { CloudLeases, Hold } from '../cloud/cloud-leases.js'
import type { CloudPort } from '../cloud/cloud-port.js'
import { CAMOFOX, camofoxId } from '../cloud/cloud-vendors.js'
import type { PageNode } from '../page/page-node.js'
import { lineOf, type Snapshot } from '../page/snapshot-text.js'
import type { Gate } from '../session/gate.js'

/** Parts of one snapshot; a page of more says so. */
const MOST_PARTS = 12
const BLANK = 'about:blank'
const GROUP = 'hermes'

/** Whose cookies and tabs are used in Camofox, where it is nobody's who is made for one session. */
export interface CamofoxUser {
  readonly name: string
  /** The group of tabs; `null` for that of Hermes. */
  readonly group: string | null
  /** Whether a tab that this user has open is taken over before one is made. */
  readonly takesTabs: boolean
}

interface CamofoxParts {
  readonly leases: CloudLeases
  readonly gate: Gate
  /** `null`: one is made for this session, and ends with it. */
  readonly user: CamofoxUser | null
  /** Tabs of that user which sessions of this process have, opened or taken over: each is for one of them. */
  readonly taken: Set<string>
}

/**
 * The page of one session in Camofox. The user there is made for it, with cookies of its own, and ends with it, unless the person named one: that
 * one stays, as do tabs that were taken over; only the tab that was opened here is closed.
 */
export class CamofoxPages {
  readonly #port: CloudPort
  readonly #leases: CloudLeases
  readonly #gate: Gate
  readonly #shared: CamofoxUser | null
  readonly #taken: Set<string>
  readonly #user: string
  #lease: Hold | null = null
  #tab: string | null = null
  #latest: Snapshot | null = null
  /** Where the policy let it be. */
  #origin: string | null = null
  /** What it showed when it was closed for being idle. */
  #left: string | null = null

  constructor(port: CloudPort, { leases, gate, user, taken }: CamofoxParts) {
    this.#port = port
    this.#leases = leases
    this.#gate = gate
    this.#shared = user
    this.#taken = taken
    this.#user = user?.name ?? `hermes-${randomUUID()}`
  }

  get isOpen(): boolean {
    return this.#tab !== null
  }

  /** What was last shown of it. */
  get latest(): Snapshot | null {
    return this.#latest
  }

  /** Opens an address that was allowed. */
  async open(url: string): Promise<void> {
    this.#left = null
    this.#origin = new URL(url).origin
    if (this.#tab === null) {
      void this.#leases.releaseLeft()
      if (this.#shared === null) this.#lease ??= await this.#leases.hold('camofox', camofoxId(this.#user))
      this.#tab = this.#shared?.takesTabs === true ? await this.#takeTab(this.#shared) : null
      if (this.#tab === null) return this.#openTab(url)
    }
    await this.act('navigate', { url })
  }

  async #openTab(url: string): Promise<void> {
    const { tabId } = await this.#ask('POST', '/tabs', { sessionKey: this.#shared?.group ?? GROUP, url })
    if (typeof tabId !== 'string' || tabId === '')
      throw new HermesError('Camofox opened no tab: its answer names none.', { code: 'browser.cloud_failed' })
    if (this.#shared !== null && !(await this.#claim(tabId, { isBorrowed: false })))
      throw new HermesError('Another session took over the tab that was opened. Try again.', {
        code: 'browser.cloud_failed',
      })
    this.#tab = tabId
  }

  /** The newest tab of a user's group, or of the user where no group is named, taken over; `null` for none that is free. */
  async #takeTab({ group }: CamofoxUser): Promise<string | null> {
    const { tabs } = await this.#ask('GET', `/tabs?userId=${encodeURIComponent(this.#user)}`)
    const open = Array.isArray(tabs) ? tabs.filter(isJsonObject) : []
    const ids = open
      .filter(({ listItemId }) => group === null || listItemId === group)
      .map(({ tabId }) => tabId)
      .filter((id): id is string => typeof id === 'string' && id !== '')
    for (const id of ids.toReversed()) if (await this.#claim(id, { isBorrowed: true })) return id
    return null
  }

  /** Whether a tab of a user who stays is for this session alone from now on. Other processes of the home know it by its record. */
  async #claim(tab: string, { isBorrowed }: { readonly isBorrowed: boolean }): Promise<boolean> {
    if (this.#taken.has(tab)) return false
    this.#taken.add(tab)
    let lease: Hold | null = null
    try {
      lease = await this.#leases.hold('camofox', camofoxId(this.#user, tab), { isBorrowed })
      // Of two that write at once each sees the other, and neither has it.
      if (await lease.isOnly()) this.#lease = lease
    } finally {
      if (this.#lease !== lease || lease === null) {
        await lease?.forget()
        this.#taken.delete(tab)
      }
    }
    return this.#lease === lease
  }

  /** Does something on the page, as the API of Camofox names it. */
  async act(what: 'navigate' | 'click' | 'type' | 'press' | 'scroll' | 'back', input: JsonObject = {}): Promise<void> {
    await this.#ask('POST', `/tabs/${encodeURIComponent(this.#opened())}/${what}`, input)
  }

  /** Asks before a text goes to the page. @throws HermesError `policy.denied`. */
  async give(text: string): Promise<void> {
    await this.#gate.speech.giveUnheld(this.#origin ?? BLANK, text)
  }

  /** The page as it is now. One that is where it may not be is left, and nothing of it is told. @throws HermesError `policy.denied`. */
  async snapshot(): Promise<Snapshot> {
    const { url, text, isCut } = await this.#read()
    if (url !== BLANK && new URL(url).origin !== this.#origin) {
      if (!(await this.#mayBeAt(url))) {
        await this.close()
        throw new HermesError(`The page led to ${new URL(url).origin}, where it may not be; it was left.`, {
          code: 'policy.denied',
        })
      }
      this.#origin = new URL(url).origin
    }
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    const nodes = lines.map((name): PageNode => ({ role: 'text', name, inView: true }))
    this.#latest = {
      ...{ nodes, lines: nodes.map(lineOf), url, title: URL.parse(url)?.host ?? '', isCut, contentType: 'text/html' },
      ...{ scroll: { y: 0, height: 1, viewport: 1 }, shown: new Set() },
    }
    return this.#latest
  }

  /** Ends the user there as {@link close}, and keeps the address. Never rejects. */
  async sleep(): Promise<void> {
    const url = this.#tab === null ? null : (this.#latest?.url ?? null)
    const closing = this.close()
    this.#left = url === BLANK ? null : url
    await closing
  }

  /** Opens what was closed for being idle, as the same user; whether there was such a page. @throws HermesError `policy.denied`. */
  async wake(): Promise<boolean> {
    const url = this.#left
    if (url === null) return false
    this.#left = null
    if (!(await this.#mayBeAt(url)))
      throw new HermesError(`${new URL(url).origin} was not opened again.`, { code: 'policy.denied' })
    await this.open(url)
    return true
  }

  #mayBeAt(url: string): Promise<boolean> {
    const request = {
      targetId: '',
      url,
      method: 'GET',
      body: null,
      headers: '',
      isDocument: true,
      isFrame: false,
      isRedirect: false,
    }
    return this.#gate.mayGo('public', { isHere: false })(request)
  }

  /** Ends the user there, with pages and cookies, or what was opened of a user who stays. Never rejects. */
  async close(): Promise<void> {
    const [lease, tab] = [this.#lease, this.#tab]
    ;[this.#lease, this.#tab, this.#latest, this.#origin, this.#left] = [null, null, null, null, null]
    await lease?.release()
    if (tab !== null) this.#taken.delete(tab)
  }

  async #read(): Promise<{ readonly url: string; readonly text: string; readonly isCut: boolean }> {
    const path = `/tabs/${encodeURIComponent(this.#opened())}/snapshot?userId=${encodeURIComponent(this.#user)}`
    let text = ''
    let offset = 0
    for (let part = 0; ; part++) {
      const answer = await this.#ask('GET', `${path}&format=text&offset=${offset}`)
      const { url, snapshot, hasMore, nextOffset } = answer
      if (typeof url !== 'string' || typeof snapshot !== 'string' || !URL.canParse(url))
        throw new HermesError('Camofox gave no snapshot of the page. Try again.', { code: 'browser.cloud_failed' })
      text += snapshot
      const goesOn = hasMore === true && typeof nextOffset === 'number' && nextOffset > offset
      if (!goesOn || part + 1 >= MOST_PARTS) return { url, text, isCut: goesOn }
      offset = nextOffset
    }
  }

  #opened(): string {
    if (this.#tab !== null) return this.#tab
    throw new HermesError('No page is open. Open one with browser_navigate.', { code: 'browser.no_page' })
  }

  async #ask(method: 'GET' | 'POST', path: string, input: JsonObject = {}): Promise<JsonObject> {
    this.#lease?.used()
    const body = method === 'POST' ? { body: { userId: this.#user, ...input } } : {}
    try {
      return await askCloud(CAMOFOX, { path, method, ...body }, this.#port)
    } catch (error) {
      // It closes tabs that were idle for five minutes, forgets users that were for half an hour, and all of them when it starts anew.
      if (!(error instanceof Error) || !/answered (?:404|410)/.test(error.message) || this.#tab === null) throw error
      await this.sleep()
      throw new HermesError('Camofox has closed the page. The next call opens it again, with new references.', {
        code: 'browser.no_page',
        cause: error,
      })
    }
  }
}
