import { HermesError } from '@hermes/contracts'
import type { PageRequest } from '../guard/document-guard.js'
import type { Destination } from '../guard/proxy.js'
import type { Tab } from '../session/tab.js'
import { addPieces, carries, type Pieces } from './carried-text.js'
import { carriesWhatWasRead, type Heard } from './read-elsewhere.js'

/** Addresses that are remembered of a session; beyond them pages ask anew. */
const MOST_KNOWN = 20_000
const ANSWER_MS = 1_000

interface Informed {
  readonly documentId: number
  /** Whether another document of this tab was let come since. */
  isFollowed: boolean
}

/** What speech needs of its session. */
interface SpeechPorts {
  /** Whether text from outside was read: until then nobody but the person tells the agent what to write. */
  readonly isTainted: () => boolean
  /** Asks whether text of the agent may go to an origin, once for each. */
  readonly maySpeak: (origin: string) => Promise<boolean>
  /** Holds all requests of the session's pages from now on. */
  readonly hold: () => Promise<void>
  /** Those of the session that stand. */
  readonly tabs: () => readonly Tab[]
}

/**
 * What the pages of one session may say once the agent has given them text. A request that carries the text asks. So does, for as long as the
 * document stands that got it, every other one: a page can hide a text in any of them, also in which one it makes of those it had named before.
 */
export class Speech {
  readonly #ports: SpeechPorts
  readonly #pieces: Pieces = new Map()
  readonly #known = new Set<string>()
  readonly #hosts = new Set<string>()
  /** Tabs whose document got text, or may have it from one that did. */
  readonly #informed = new Map<Tab, Informed>()
  #heard: Heard = { entries: [], isByProgram: false, isDelegated: false }
  /** Whether every request is held: a page was given text after text from outside was read. */
  isHolding = false
  readonly #pressed = new WeakMap<Tab, string>()

  constructor(ports: SpeechPorts) {
    this.#ports = ports
  }

  /**
   * The agent is about to give a page text. What the page could have asked for without it stays free.
   * @throws HermesError `policy.denied` when a connection stands open by which it could leave, and may not.
   */
  async give(tab: Tab, text: string): Promise<void> {
    addPieces(text, this.#pieces)
    if (!this.#ports.isTainted()) return
    this.isHolding = true
    const [documentId, addresses] = await Promise.all([tab.documentId(), tab.addresses()])
    for (const address of addresses) this.#learn(address)
    this.#informed.set(tab, { documentId, isFollowed: false })
    await this.#ports.hold()
    for (const origin of tab.openSockets())
      if (!(await this.#ports.maySpeak(origin)))
        throw new HermesError(`Nothing was written: an open connection of the page to ${origin} could carry it away.`, {
          code: 'policy.denied',
        })
  }

  /**
   * The agent is about to give a text to a page whose requests nobody can hold: that asks first.
   * @throws HermesError `policy.denied`.
   */
  async giveUnheld(origin: string, text: string): Promise<void> {
    addPieces(text, this.#pieces)
    if (this.#ports.isTainted() && !(await this.#ports.maySpeak(origin)))
      throw new HermesError(`Nothing was written: it could leave to ${origin} and from there to anybody.`, {
        code: 'policy.denied',
      })
  }

  /** A key that writes a letter: with those before it, it is text. */
  async press(tab: Tab, key: string): Promise<void> {
    const text = `${this.#pressed.get(tab) ?? ''}${key}`.slice(-200)
    this.#pressed.set(tab, text)
    await this.give(tab, text)
  }

  /** A call begins. What was written before text from outside was read counts from then on. */
  async begin(): Promise<void> {
    if (this.#informed.size > 0) await this.#anyInformed()
    if (this.#pieces.size === 0 || this.isHolding || !this.#ports.isTainted()) return
    this.isHolding = true
    await this.#ports.hold()
  }

  /** A request that a page made before the agent wrote anything. */
  learn(url: string, method: string): void {
    if (!this.isHolding) this.#note(url, method)
  }

  /** What the session read so far, for addresses that the agent writes. */
  heard(heard: Heard): void {
    this.#heard = heard
  }

  /** Whether an address that the agent wrote may be opened: it asks where it carries what was read elsewhere. */
  async mayName(address: string): Promise<boolean> {
    const isSuspect =
      this.#ports.isTainted() && (carries(address, this.#pieces) || carriesWhatWasRead(address, this.#heard))
    if (isSuspect && !(await this.#ports.maySpeak(new URL(address).origin))) return false
    this.#learn(address)
    return true
  }

  /** A document that got text goes before the agent opens another one in its place, or it could speak meanwhile. */
  async leave(tab: Tab): Promise<void> {
    if (!this.#informed.has(tab)) return
    await tab.page.goto('about:blank')
    await this.#passOn(tab)
  }

  #note(url: string, method: string): void {
    if (method === 'GET') this.#learn(url)
    if (URL.canParse(url)) this.#hosts.add(placeOf(new URL(url)))
  }

  /** Whether a request may go. Never rejects. */
  async mayGo(request: PageRequest): Promise<boolean> {
    const goes = await this.#mayGo(request)
    if (goes && request.isDocument && !request.isFrame)
      for (const [{ targetId }, informed] of this.#informed) informed.isFollowed ||= targetId === request.targetId
    return goes
  }

  async #mayGo({ url, method, body, headers, isDocument, isRedirect }: PageRequest): Promise<boolean> {
    const isFree = this.#pieces.size === 0 && this.#informed.size === 0
    if (isFree || !/^https?:/.test(url) || !this.#ports.isTainted()) return this.#goes(url, method)
    const isKnown = method === 'GET' && this.#known.has(withoutHash(url))
    // A redirect is of the server's making, and it knows what it was sent. A page cannot be asked which it is while another one is on its way.
    const mayHide = async () => !isRedirect && (isDocument ? this.#informed.size > 0 : await this.#anyInformed())
    const sent = `${isKnown ? '' : url}\n${body ?? ''}\n${headers}`
    const isSuspect = carries(sent, this.#pieces) || (await mayHide())
    return !isSuspect || (await this.#ports.maySpeak(new URL(url).origin)) ? this.#goes(url, method) : false
  }

  /** Whether a connection may be made that no request was seen for: of a WebSocket, a preconnect, a worker. Never rejects. */
  async mayConnect({ hostname, port, isTunnel }: Destination): Promise<boolean> {
    // Pages without encryption are asked for request by request; what goes to them through a tunnel is a WebSocket.
    const isKnown = this.#hosts.has(`${isTunnel ? 'https' : 'http'}://${hostname}:${port}`)
    if (isKnown || !this.#ports.isTainted() || !(await this.#anyInformed())) return true
    return this.#ports.maySpeak(new URL(`${port === 443 ? 'https' : 'http'}://${hostname}:${port}`).origin)
  }

  /** Whether a document stands that got text. */
  async #anyInformed(): Promise<boolean> {
    for (const [tab, informed] of this.#informed) {
      const { documentId } = informed
      if (tab.page.isClosed()) {
        await this.#passOn(tab)
        continue
      }
      const now = await documentOf(tab, documentId)
      // It may have got text meanwhile.
      if (now === documentId || this.#informed.get(tab) !== informed) continue
      // One that nobody asked for is made by the one before it, of whatever that knew: a `blob:`, or what a script gives.
      if (informed.isFollowed) this.#informed.delete(tab)
      else this.#informed.set(tab, { documentId: now, isFollowed: false })
    }
    return this.#informed.size > 0
  }

  /** A document that goes may have said what it knew to the page that opened it, to one that it opened, or to others of its site. */
  async #passOn(from: Tab): Promise<void> {
    const others = this.#ports.tabs().filter(({ zone, page }) => zone === from.zone && !page.isClosed())
    for (const tab of others)
      if (tab !== from && !this.#informed.has(tab))
        this.#informed.set(tab, { documentId: await documentOf(tab, 0), isFollowed: false })
    this.#informed.delete(from)
  }

  #goes(url: string, method: string): true {
    this.#note(url, method)
    return true
  }

  #learn(url: string): void {
    if (this.#known.size < MOST_KNOWN) this.#known.add(withoutHash(url))
  }
}

/** A page that is busy or waits for this very answer cannot say: it counts as the one that it was. */
async function documentOf(tab: Tab, documentId: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const timer = setTimeout(() => resolve(documentId), ANSWER_MS)
  tab.documentId().then(resolve, () => resolve(documentId))
  return promise.finally(() => clearTimeout(timer))
}

const withoutHash = (url: string) => url.split('#')[0]!

function placeOf({ protocol, hostname, port }: URL): string {
  return `${protocol}//${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}
