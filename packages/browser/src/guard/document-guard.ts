import type { Logger } from '@hermes/contracts'
import type { CdpHub } from '../wire/cdp-hub.js'

/** A document that something wants to open: the model, a script, a form, a redirect, a frame. */
export interface DocumentRequest {
  readonly url: string
  readonly method: string
  readonly body: string | null
  readonly isFrame: boolean
}

/** Whether a document may be opened. Must not reject. */
export type MayOpen = (request: DocumentRequest) => Promise<boolean>

interface Paused {
  readonly requestId: string
  readonly frameId: string
  readonly request: {
    readonly url: string
    readonly method: string
    readonly postData?: string
    readonly urlFragment?: string
  }
}

interface Attached {
  readonly sessionId: string
  readonly targetInfo: { readonly targetId: string; readonly type: string; readonly browserContextId?: string }
}

const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
const DOCUMENTS = { patterns: [{ urlPattern: '*', resourceType: 'Document', requestStage: 'Request' }] }

/** Holds every document of every context until it was asked about. It is attached to each target before that runs. */
export class DocumentGuard {
  readonly #hub: CdpHub
  readonly #logger: Logger
  readonly #contexts = new Map<string, MayOpen>()
  readonly #targets = new Map<string, Attached['targetInfo']>()

  constructor(hub: CdpHub, logger: Logger) {
    this.#hub = hub
    this.#logger = logger
  }

  async begin(): Promise<void> {
    this.#hub.on('Target.attachedToTarget', (params, from) => {
      if (from !== undefined) this.#attach(params as unknown as Attached)
    })
    this.#hub.on('Target.detachedFromTarget', ({ sessionId }) => this.#targets.delete(sessionId as string))
    this.#hub.on('Fetch.requestPaused', (params, from) => {
      if (from !== undefined) void this.#decide(params as unknown as Paused, from)
    })
    const { sessionId } = await this.#hub.call('Target.attachToBrowserTarget')
    this.#hub.own(sessionId as string)
    await this.#hub.call('Target.setAutoAttach', AUTO_ATTACH, sessionId as string)
  }

  /** Documents of a context are asked about from now on; those of contexts that nobody named are refused. */
  watch(contextId: string, mayOpen: MayOpen): void {
    this.#contexts.set(contextId, mayOpen)
  }

  forget(contextId: string): void {
    this.#contexts.delete(contextId)
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
    const call = (method: string, params: object) =>
      this.#hub
        .call(method, params, sessionId)
        .catch((error: Error) => this.#logger.debug(`${method}: ${error.message}`))
    const hasDocuments = targetInfo.type === 'page' || targetInfo.type === 'iframe'
    if (hasDocuments) void call('Fetch.enable', DOCUMENTS)
    void call('Target.setAutoAttach', AUTO_ATTACH)
    // In the order they are sent: nothing runs before the guard stands.
    void call('Runtime.runIfWaitingForDebugger', {})
  }

  async #decide({ requestId, request, frameId }: Paused, sessionId: string): Promise<void> {
    const target = this.#targets.get(sessionId)
    const mayOpen = this.#contexts.get(target?.browserContextId ?? '')
    const isFrame = target?.type === 'iframe' || (target !== undefined && frameId !== target.targetId)
    const { url, method, postData = null } = request
    const isOpen = (await mayOpen?.({ url, method, body: postData, isFrame })) ?? false
    // No content: the page that is there stays as it is.
    const [answer, params] = isOpen
      ? ['Fetch.continueRequest', { requestId }]
      : ['Fetch.fulfillRequest', { requestId, responseCode: 204 }]
    await this.#hub.call(answer as string, params as object, sessionId).catch(() => undefined)
  }
}
