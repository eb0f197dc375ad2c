import { errorLine, HermesError } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import type { WebCall } from '@hermes/contracts/web'
import { checkUrl } from '@hermes/safety'
import { connectChecked } from '@hermes/safety/checked-connection'
import type { BrowserOptions } from '../browser-options.js'
import type { MayGo, PageRequest } from '../guard/document-guard.js'
import type { Connect } from '../guard/proxy.js'
import { Speech } from '../speech/speech.js'
import type { Tab } from './tab.js'
import type { ZoneKind } from './zone.js'

/** What a gate tells the session. */
interface GateEvents {
  /** Something was refused; a line for the model. */
  note(text: string): void
  /** A page of this machine leads out: that is opened among the public ones. */
  leadsOut(url: string): void
  /** A person is being asked; the time does not count. */
  asking<T>(work: () => Promise<T>): Promise<T>
  /** Every request of the pages is to be held. */
  hold(): Promise<void>
  /** The pages of the session. */
  tabs(): readonly Tab[]
}

/** A call that pages are opened for; reading alone says nothing about what was read before. */
type GateCall = Pick<WebCall, 'permit'> & { readonly isTainted?: boolean }

type Reach = Pick<BrowserOptions, 'proxies' | 'network' | 'resolve'>

const READS = new Set(['GET', 'HEAD'])

/** Where the pages of one session may go: the policy, asked once for each near origin, and for what is sent to each. */
export class Gate {
  readonly #options: Reach
  readonly #events: GateEvents
  readonly #near = new Set<string>()
  readonly #sends = new Set<string>()
  readonly #hosts = new Map<string, Promise<boolean>>()
  /** Whether text of the agent may go to an origin, as it was answered. */
  readonly #speaking = new Map<string, Promise<boolean>>()
  readonly speech: Speech
  #context: GateCall | null = null
  #isCalling = false
  /** How many documents were not opened since the call began. */
  refusals = 0
  /** What ended a question other than with an answer: the call ends with it too. */
  failure: unknown = null

  constructor(options: Reach, events: GateEvents) {
    this.#options = options
    this.#events = events
    this.speech = new Speech({
      isTainted: () => this.#context?.isTainted === true,
      maySpeak: (origin) => this.#maySpeak(origin),
      hold: () => events.hold(),
      tabs: () => events.tabs(),
    })
  }

  /** A call has begun: it is asked through from now on. */
  enter(context: GateCall): void {
    this.#context = context
    this.#isCalling = true
    this.refusals = 0
    this.failure = null
  }

  leave(): void {
    this.#isCalling = false
  }

  /** Which pages an address belongs to. @throws HermesError `browser.bad_address` for what is never opened. */
  zoneOf(url: string): ZoneKind {
    const check = checkUrl(url, this.#options.network)
    if (check.ok) return 'public'
    if (check.rule === 'loopback' || check.rule === 'private-network') return 'near'
    throw new HermesError(`${url.slice(0, 200)} is not opened: ${check.reason}.`, { code: 'browser.bad_address' })
  }

  /** What opening an address is to the policy. Servers of this machine and its networks sign their certificates themselves. */
  fetchOf(url: string, method: string): Extract<Action, { type: 'fetch' }> {
    const isNear = url.startsWith('https:') && this.zoneOf(url) === 'near'
    return { type: 'fetch', url: url.split('#')[0]!, method, ...(isNear ? { anyCertificate: true } : {}) }
  }

  /** Whether a near origin was allowed in this session. */
  isAllowed(url: string): boolean {
    return this.#near.has(new URL(url).origin)
  }

  /** `isHere`: what is no document is checked where it connects. */
  mayGo(zone: ZoneKind, { isHere }: { readonly isHere: boolean }): MayGo {
    return async (request) => {
      try {
        const isOpened = request.isDocument
          ? await this.#mayOpen(zone, request)
          : isHere || (await this.#mayLoad(request.url))
        const goes = isOpened && (await this.speech.mayGo(request))
        if (!goes && request.isDocument) this.refusals++
        return goes
      } catch (error) {
        this.#events.note(`${originOf(request.url)} was not opened: ${errorLine(error)}`)
        return false
      }
    }
  }

  /** What pages of a browser elsewhere load: it connects by itself, so that the address is all there is to go by. */
  async #mayLoad(url: string): Promise<boolean> {
    if (/^(?:data|blob|about):/.test(url)) return true
    return this.zoneOf(url) === 'public' && this.#mayConnect(new URL(url))
  }

  /** Connections of a zone: resolved, checked and made here. */
  connect(zone: ZoneKind): Connect {
    return async (destination, signal) => {
      const { hostname, port } = destination
      const url = new URL(`${port === 80 ? 'http' : 'https'}://${hostname}:${port}/`)
      const near = [`http://${hostname}:${port}`, `https://${hostname}:${port}`].map((one) => new URL(one).origin)
      if (this.zoneOf(url.href) === 'public' && !(await this.#mayConnect(url)))
        throw new HermesError(`${url.host} is denied.`, { code: 'policy.denied' })
      if (!(await this.speech.mayConnect(destination)))
        throw new HermesError(`${url.host} gets no text of the agent.`, { code: 'policy.denied' })
      return connectChecked(
        { hostname, port },
        {
          ...this.#options,
          signal,
          mayReachNear: () => zone === 'near' && near.some((origin) => this.#near.has(origin)),
        },
      )
    }
  }

  async #mayOpen(zone: ZoneKind, { url, method, isFrame }: PageRequest): Promise<boolean> {
    if (/^(?:data|blob|about):/.test(url)) return isFrame
    const target = this.zoneOf(url)
    const { origin } = new URL(url)
    if (zone === 'public' && target === 'near') {
      this.#events.note(
        `The page tried to lead to ${origin}, where pages of the public web may not go. If you want to go there, use browser_navigate.`,
      )
      return false
    }
    if (zone === 'near' && target === 'public') {
      if (isFrame || !READS.has(method))
        this.#events.note(
          `${origin} was not opened inside a page of this machine or its network: it could reach what that can.`,
        )
      else this.#events.leadsOut(url)
      return false
    }
    return target === 'near' ? this.#mayOpenNear(url, method) : this.#permit(url, method)
  }

  async #mayOpenNear(url: string, method: string): Promise<boolean> {
    const { origin } = new URL(url)
    if (this.#near.has(origin)) return true
    const allowed = await this.#permit(url, method)
    if (allowed) this.#near.add(origin)
    return allowed
  }

  /** The person agreed to what goes to an origin. */
  agreed(origin: string): void {
    if (this.#isAsking) this.#sends.add(origin)
  }

  /** Whether a yes is the word of a person: before text from outside was read, sending goes without a question, and says nothing for later. */
  get #isAsking(): boolean {
    return this.#context?.isTainted === true
  }

  /** Whether text that the agent gave to a page may go to an origin. A yes to sending there is one to this, and the other way round. */
  #maySpeak(origin: string): Promise<boolean> {
    if (this.#sends.has(origin)) return Promise.resolve(true)
    const known = this.#speaking.get(origin)
    if (known) return known
    const [isCalling, isAsking] = [this.#isCalling, this.#isAsking]
    const answer = this.#isPermitted({ type: 'send', target: `browser-text:${origin}`, chosen: 'acts' }, origin)
    this.#speaking.set(origin, answer)
    void answer.then((isAllowed) => {
      if (isAllowed && isAsking) this.#sends.add(origin)
      // Nobody was asked, or nobody has answered yet.
      if (isAllowed ? !isAsking : !isCalling || this.failure !== null) this.#speaking.delete(origin)
    })
    return answer
  }

  async #permit(url: string, method: string): Promise<boolean> {
    const { origin, host } = new URL(url)
    const isSending = !READS.has(method)
    if (isSending && this.#sends.has(origin)) return true
    if (isSending && (await this.#speaking.get(origin)) === false) {
      this.#events.note(`Nothing was sent to ${origin}: the person said no to text going there.`)
      return false
    }
    const isAsking = this.#isAsking
    const isAllowed = await this.#isPermitted(this.fetchOf(url, method), origin)
    if (isAllowed && isSending && isAsking) this.#sends.add(origin)
    // A no to what is sent is a no to the same text on another way.
    if (!isAllowed && isSending && this.failure === null && this.#isCalling)
      this.#speaking.set(origin, Promise.resolve(false))
    if (isAllowed) this.#hosts.set(host, Promise.resolve(true))
    return isAllowed
  }

  /** Asks for one action, where a call is under way a person too. What is refused is noted for the model. */
  async #isPermitted(action: Extract<Action, { type: 'fetch' | 'send' }>, origin: string): Promise<boolean> {
    const context = this.#context
    if (!context) return false
    try {
      const permit = await this.#events.asking(() => context.permit(action, { mayAsk: this.#isCalling }))
      permit.consume(action)
      return true
    } catch (error) {
      const isDenied = HermesError.isInstance(error) && error.code === 'policy.denied'
      if (!isDenied) this.failure = error
      const what = action.type === 'send' ? `Text that you wrote was not sent to ${origin}` : `${origin} was not opened`
      this.#events.note(`${what}: ${isDenied ? errorLine(error) : 'it waits for an answer.'}`)
      return false
    }
  }

  /** Rules of the person hold for what a page loads as well; nobody is asked about that. */
  #mayConnect({ host, href }: URL): Promise<boolean> {
    const known = this.#hosts.get(host)
    if (known) return known
    const context = this.#context
    const action = { type: 'fetch', url: href, method: 'GET' } as const
    const answer = (async () => {
      if (!context) return false
      try {
        const permit = await context.permit(action, { mayAsk: false })
        permit.consume(action)
        return true
      } catch {
        return false
      }
    })()
    this.#hosts.set(host, answer)
    // What is denied now may be allowed later.
    void answer.then((isAllowed) => {
      if (!isAllowed) this.#hosts.delete(host)
    })
    return answer
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url.slice(0, 100)
}
