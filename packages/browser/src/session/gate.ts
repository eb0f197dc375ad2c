import { errorLine, HermesError } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import { checkUrl } from '@hermes/safety'
import { connectChecked } from '@hermes/safety/checked-connection'
import type { BrowserOptions } from '../browser-options.js'
import type { DocumentRequest, MayOpen } from '../guard/document-guard.js'
import type { Connect } from '../guard/proxy.js'
import type { ZoneKind } from './zone.js'

/** What a gate tells the session. */
interface GateEvents {
  /** Something was refused; a line for the model. */
  note(text: string): void
  /** A page of this machine leads out: that is opened among the public ones. */
  leadsOut(url: string): void
  /** A person is being asked; the time does not count. */
  asking<T>(work: () => Promise<T>): Promise<T>
}

type Reach = Pick<BrowserOptions, 'proxies' | 'network' | 'resolve'>

const READS = new Set(['GET', 'HEAD'])

/** Where the pages of one session may go: the policy, asked once for each near origin, and for what is sent to each. */
export class Gate {
  readonly #options: Reach
  readonly #events: GateEvents
  readonly #near = new Set<string>()
  readonly #sends = new Set<string>()
  readonly #hosts = new Map<string, Promise<boolean>>()
  #context: ToolContext | null = null
  #isCalling = false
  /** What ended a question other than with an answer: the call ends with it too. */
  failure: unknown = null

  constructor(options: Reach, events: GateEvents) {
    this.#options = options
    this.#events = events
  }

  /** A call has begun: it is asked through from now on. */
  enter(context: ToolContext): void {
    this.#context = context
    this.#isCalling = true
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

  /** Whether a near origin was allowed in this session. */
  isAllowed(url: string): boolean {
    return this.#near.has(new URL(url).origin)
  }

  mayOpen(zone: ZoneKind): MayOpen {
    return async (request) => {
      try {
        return await this.#decide(zone, request)
      } catch (error) {
        this.#events.note(`${originOf(request.url)} was not opened: ${errorLine(error)}`)
        return false
      }
    }
  }

  /** Connections of a zone: resolved, checked and made here. */
  connect(zone: ZoneKind): Connect {
    return async (hostname, port, signal) => {
      const url = new URL(`${port === 80 ? 'http' : 'https'}://${hostname}:${port}/`)
      const near = [`http://${hostname}:${port}`, `https://${hostname}:${port}`].map((one) => new URL(one).origin)
      if (this.zoneOf(url.href) === 'public' && !(await this.#mayConnect(url)))
        throw new HermesError(`${url.host} is denied.`, { code: 'policy.denied' })
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

  async #decide(zone: ZoneKind, { url, method, isFrame }: DocumentRequest): Promise<boolean> {
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

  async #permit(url: string, method: string): Promise<boolean> {
    const { origin, host } = new URL(url)
    const isSending = !READS.has(method)
    if (isSending && this.#sends.has(origin)) return true
    const context = this.#context
    if (!context) return false
    const action = { type: 'fetch', url: url.split('#')[0]!, method } as const
    try {
      const permit = await this.#events.asking(() => context.permit(action, { mayAsk: this.#isCalling }))
      permit.consume(action)
      if (isSending) this.#sends.add(origin)
      this.#hosts.set(host, Promise.resolve(true))
      return true
    } catch (error) {
      const isDenied = HermesError.isInstance(error) && error.code === 'policy.denied'
      if (!isDenied) this.failure = error
      this.#events.note(`${origin} was not opened: ${isDenied ? errorLine(error) : 'it waits for an answer.'}`)
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
