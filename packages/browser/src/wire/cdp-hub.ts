import { HermesError } from '@hermes/contracts'
import type { ConnectOverCDPTransport } from 'playwright-core'
import type { CdpConnection, CdpMessage } from './connection.js'

/** Ids of our own calls: the driver counts from 1. */
const FIRST_OWN_ID = 1_000_000_000

type Params = Readonly<Record<string, unknown>>
type Listener = (params: Params, sessionId: string | undefined) => void

interface Waiting {
  readonly resolve: (result: Params) => void
  readonly reject: (error: Error) => void
}

/**
 * One connection for two: the driver, and the guard, which has sessions of its own that the driver never hears of. So the guard sees each
 * target before its first request, whoever opened it.
 */
export class CdpHub {
  readonly #connection: CdpConnection
  readonly #waiting = new Map<number, Waiting>()
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #own = new Set<string>()
  /** Targets that the driver is not told of. */
  readonly #hidden = new Set<string>()
  readonly #closed: Promise<string>
  #nextId = FIRST_OWN_ID
  #isClosed = false
  /** What the driver speaks through. */
  readonly driver: ConnectOverCDPTransport

  constructor(connection: CdpConnection) {
    this.#connection = connection
    this.driver = {
      send: (message) => connection.send(message),
      close: () => void connection.close(),
    }
    connection.onMessage = (message) => this.#take(message)
    this.#closed = new Promise((resolve) => {
      connection.onClose = (reason) => {
        this.#isClosed = true
        for (const { reject } of this.#waiting.values()) reject(lost(reason))
        this.#waiting.clear()
        setImmediate(() => this.driver.onclose?.(reason))
        resolve(reason)
      }
    })
  }

  /** Resolves with the reason once the connection has ended. */
  get closed(): Promise<string> {
    return this.#closed
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** @throws HermesError `browser.lost` when the browser has gone, `browser.protocol` for what it refuses. */
  call(method: string, params: object = {}, sessionId?: string): Promise<Params> {
    if (this.#isClosed) return Promise.reject(lost('it has ended'))
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#connection.send({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })
    })
  }

  /** Hears of an event of our own sessions, and of those of the browser itself. Returns how to stop. */
  on(method: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(method) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(method, listeners)
    return () => listeners.delete(listener)
  }

  /** A session is ours from now on: the driver hears nothing of it. */
  own(sessionId: string): void {
    this.#own.add(sessionId)
  }

  /** The driver hears nothing of a target, as long as it was not told of it before. */
  hide(targetId: string): void {
    this.#hidden.add(targetId)
  }

  /** Resolves once the connection has ended. */
  close(): Promise<void> {
    return this.#connection.close()
  }

  #take(message: CdpMessage): void {
    const { id, method, params = {}, sessionId } = message
    if (id !== undefined && id >= FIRST_OWN_ID) {
      this.#settle(id, message)
      return
    }
    const isOurs = sessionId !== undefined && this.#own.has(sessionId)
    if (method !== undefined && (isOurs || sessionId === undefined))
      for (const listener of this.#listeners.get(method) ?? []) listener(params, sessionId)
    if (isOurs || isBrowserSession(message)) return
    // Each in a task of its own: the driver listens for the next event only once its promises have run, and a chunk may hold both.
    setImmediate(() => {
      const session = this.#hiddenSession(message)
      if (session === null) this.driver.onmessage?.(message)
      // It waits for each of those that are attached to it.
      else this.call('Runtime.runIfWaitingForDebugger', {}, session).catch(() => undefined)
    })
  }

  /** The session that the driver was to have with a hidden target; `null` for all other messages. */
  #hiddenSession({ method, params }: CdpMessage): string | null {
    if (method !== 'Target.attachedToTarget' || this.#hidden.size === 0) return null
    const { sessionId, targetInfo } = params as {
      readonly sessionId: string
      readonly targetInfo: { readonly targetId: string }
    }
    return this.#hidden.delete(targetInfo.targetId) ? sessionId : null
  }

  #settle(id: number, { result = {}, error }: CdpMessage): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) waiting?.reject(new HermesError(error.message ?? 'The browser refused.', { code: 'browser.protocol' }))
    else waiting?.resolve(result)
  }
}

/** The guard's own session of the browser, which the driver has not asked for. */
function isBrowserSession({ method, params, sessionId }: CdpMessage): boolean {
  if (sessionId !== undefined || method !== 'Target.attachedToTarget') return false
  return (params?.['targetInfo'] as { readonly type?: string } | undefined)?.type === 'browser'
}

function lost(reason: string): HermesError {
  return new HermesError(`The browser has gone: ${reason}. The next call opens it again.`, { code: 'browser.lost' })
}
