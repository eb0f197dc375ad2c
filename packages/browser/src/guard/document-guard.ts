import type { Logger } from '@hermes/contracts'
import type { CdpHub } from '../wire/cdp-hub.js'

/** What something wants to open or to load: the model, a script, a form, a redirect, a frame. */
export interface PageRequest {
  /** The browser's name for the page, or for the frame with a process of its own, that it is of. */
  readonly targetId: string
  readonly url: string
  readonly method: string
  readonly body: string | null
  /** What it says beside them, cookies included; of documents that nobody wrote into nothing. */
  readonly headers: string
  readonly isDocument: boolean
  readonly isFrame: boolean
  /** A server answered an earlier request with it. */
  readonly isRedirect: boolean
}

/** Whether a request may go. Must not reject. */
export type MayGo = (request: PageRequest) => Promise<boolean>

/** Whose documents are asked about, and how many pages there may be. */
export interface Watched {
  readonly mayGo: MayGo
  /** Those beyond are closed before anything of them loads. */
  readonly mostPages: () => number
  /** Hears of each that was closed. */
  readonly tooMany: () => void
  /** Hears of each window that a page wanted with no click behind it: the browser opens none of those. */
  readonly windowBlocked: (url: string) => void
}

interface Paused {
  readonly requestId: string
  readonly frameId: string
  readonly resourceType: string
  readonly redirectedRequestId?: string
  readonly request: {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly postData?: string
    readonly postDataEntries?: readonly { readonly bytes?: string }[]
    readonly urlFragment?: string
  }
}

interface Cookie {
  readonly name: string
  readonly value: string
  readonly domain: string
}

interface Attached {
  readonly sessionId: string
  readonly targetInfo: { readonly targetId: string; readonly type: string; readonly browserContextId?: string }
}

const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
const DOCUMENTS = { patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Request' }] }
const EVERYTHING = { patterns: [{ urlPattern: '*', requestStage: 'Request' }] }

/**
 * Holds every document of every context until it was asked about, and on demand all else that a context asks for. It is attached to each target
 * before that runs.
 */
export class DocumentGuard {
  readonly #hub: CdpHub
  readonly #logger: Logger
  readonly #isShared: boolean
  readonly #contexts = new Map<string, Watched>()
  /** Contexts of which every request is held. */
  readonly #held = new Set<string>()
  readonly #targets = new Map<string, Attached['targetInfo']>()
  /** Pages that are being closed. */
  readonly #leaving = new Set<string>()

  /** `isShared`: the browser has pages of others too, which are left alone. */
  constructor(hub: CdpHub, logger: Logger, { isShared = false } = {}) {
    this.#hub = hub
    this.#logger = logger
    this.#isShared = isShared
  }

  async begin(): Promise<void> {
    this.#hub.on('Target.attachedToTarget', (params, from) => {
      if (from !== undefined) this.#attach(params as unknown as Attached)
    })
    this.#hub.on('Target.detachedFromTarget', ({ sessionId }) => {
      this.#leaving.delete(this.#targets.get(sessionId as string)?.targetId ?? '')
      this.#targets.delete(sessionId as string)
    })
    this.#hub.on('Page.windowOpen', ({ url, userGesture }, from) => {
      const contextId = this.#targets.get(from ?? '')?.browserContextId ?? ''
      if (userGesture === false) this.#contexts.get(contextId)?.windowBlocked(String(url))
    })
    this.#hub.on('Fetch.requestPaused', (params, from) => {
      if (from !== undefined) void this.#decide(params as unknown as Paused, from)
    })
    const { sessionId } = await this.#hub.call('Target.attachToBrowserTarget')
    this.#hub.own(sessionId as string)
    await this.#hub.call('Target.setAutoAttach', AUTO_ATTACH, sessionId as string)
  }

  /** Documents of a context are asked about from now on; those of contexts that nobody named are refused. */
  async watch(contextId: string, watched: Watched): Promise<void> {
    this.#contexts.set(contextId, watched)
    if (!this.#isShared) return
    const targets = [...this.#targets].filter(([, target]) => target.browserContextId === contextId)
    await Promise.all(targets.map(([sessionId]) => this.#call('Fetch.enable', DOCUMENTS, sessionId)))
  }

  /** Every request of a context is asked about from now on, not its documents alone. */
  async hold(contextId: string): Promise<void> {
    if (this.#held.has(contextId)) return
    this.#held.add(contextId)
    const targets = [...this.#targets].filter(([, target]) => target.browserContextId === contextId)
    await Promise.all(targets.map(([sessionId]) => this.#call('Fetch.enable', EVERYTHING, sessionId)))
  }

  forget(contextId: string): void {
    this.#contexts.delete(contextId)
    this.#held.delete(contextId)
  }

  /** Our session of a page or of a frame that has a process of its own; `null` for other frames. A frame's id is that of its target. */
  sessionOf(targetId: string): string | null {
    for (const [sessionId, target] of this.#targets) if (target.targetId === targetId) return sessionId
    return null
  }

  /** How many pages a context has, those included that the driver has not told of yet. */
  pagesOf(contextId: string): number {
    return [...this.#targets.values()].filter((one) => one.type === 'page' && one.browserContextId === contextId).length
  }

  #attach({ sessionId, targetInfo }: Attached): void {
    this.#hub.own(sessionId)
    this.#targets.set(sessionId, targetInfo)
    const watched = this.#contexts.get(targetInfo.browserContextId ?? '')
    const isTooMany = watched !== undefined && this.#isOneTooMany(targetInfo, watched)
    // Before it goes on: the driver must not hear of it.
    if (isTooMany) this.#hub.hide(targetInfo.targetId)
    const hasDocuments = targetInfo.type === 'page' || targetInfo.type === 'iframe'
    const contextId = targetInfo.browserContextId ?? ''
    const isHeld = this.#held.has(contextId)
    const isOurs = !this.#isShared || this.#contexts.has(contextId)
    if (isHeld || (hasDocuments && isOurs)) void this.#call('Fetch.enable', isHeld ? EVERYTHING : DOCUMENTS, sessionId)
    // Windows are told of by it. Another browser may open those that nobody clicked for.
    if (hasDocuments && !this.#isShared) void this.#call('Page.enable', {}, sessionId)
    void this.#call('Target.setAutoAttach', AUTO_ATTACH, sessionId)
    // In the order they are sent: nothing runs before the guard stands.
    void this.#call('Runtime.runIfWaitingForDebugger', {}, sessionId)
    if (!isTooMany) return
    // Not before: as long as it waits, so does the page that opened it.
    void this.#call('Target.closeTarget', { targetId: targetInfo.targetId })
    watched.tooMany()
  }

  /** Each page costs the driver and the browser a long while, and a script opens them by the hundred. Such a one loads nothing. */
  #isOneTooMany({ type, targetId, browserContextId }: Attached['targetInfo'], { mostPages }: Watched): boolean {
    if (type !== 'page' || this.pagesOf(browserContextId!) <= mostPages()) return false
    this.#leaving.add(targetId)
    return true
  }

  /** What a target does not know is no failure: workers have no frames, and some have no requests. */
  async #call(method: string, params: object, sessionId?: string): Promise<void> {
    await this.#hub
      .call(method, params, sessionId)
      .catch((error: Error) => this.#logger.debug(`${method}: ${error.message}`))
  }

  async #decide(paused: Paused, sessionId: string): Promise<void> {
    const { requestId, request, frameId, resourceType } = paused
    const target = this.#targets.get(sessionId)
    const targetId = target?.targetId ?? ''
    const watched = this.#contexts.get(target?.browserContextId ?? '')
    const isFrame = target?.type === 'iframe' || (target !== undefined && frameId !== target.targetId)
    const isDocument = resourceType === 'Document'
    const { url, method } = request
    const isRedirect = paused.redirectedRequestId !== undefined
    const headers = await this.#headersOf(request, target?.browserContextId ?? '')
    const about = { targetId, url, method, body: bodyOf(request), headers, isDocument, isFrame, isRedirect }
    const goes = !this.#leaving.has(targetId) && ((await watched?.mayGo(about)) ?? false)
    // No content: the page that is there stays as it is.
    const [answer, params] = goes
      ? ['Fetch.continueRequest', { requestId }]
      : isDocument
        ? ['Fetch.fulfillRequest', { requestId, responseCode: 204 }]
        : ['Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }]
    await this.#hub.call(answer as string, params as object, sessionId).catch(() => undefined)
  }

  /** What a held request says in its headers. Cookies are added after it was held, so the browser is asked for them. */
  async #headersOf({ url, headers }: Paused['request'], contextId: string): Promise<string> {
    if (!this.#held.has(contextId)) return ''
    const { cookies = [] } = await this.#hub
      .call('Storage.getCookies', { browserContextId: contextId })
      .catch((): { readonly cookies?: unknown } => ({}))
    const { hostname } = URL.parse(url) ?? { hostname: '' }
    const own = (cookies as readonly Cookie[]).filter(({ domain }) =>
      `.${hostname}`.endsWith(domain.startsWith('.') ? domain : `.${domain}`),
    )
    return [...Object.values(headers), ...own.flatMap(({ name, value }) => [name, value])].join('\n')
  }
}

function bodyOf({ postData, postDataEntries }: Paused['request']): string | null {
  if (postData !== undefined || !postDataEntries) return postData ?? null
  return postDataEntries.map(({ bytes = '' }) => Buffer.from(bytes, 'base64').toString('utf8')).join('')
}
