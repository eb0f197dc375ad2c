import { HermesError } from '@hermes/contracts'
import type { CdpConnection, CdpMessage } from './connection.js'

/** The part of a WebSocket that is used. */
export interface Socket {
  send(text: string): void
  close(): void
  addEventListener(type: 'open' | 'error' | 'close', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
}

const OPENS_WITHIN_MS = 30_000
const CLOSES_WITHIN_MS = 2_000

/** A browser that listens on a WebSocket. */
export class SocketConnection implements CdpConnection {
  onMessage: (message: CdpMessage) => void = () => undefined
  onClose: (reason: string) => void = () => undefined
  readonly #socket: Socket
  readonly #gone: Promise<void>
  #isOver = false

  /** Resolves once it is open. @throws HermesError `browser.not_reached`. */
  static async open(socket: Socket, label: string): Promise<SocketConnection> {
    const connection = new SocketConnection(socket)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    socket.addEventListener('open', () => resolve(true))
    const timer = setTimeout(() => resolve(false), OPENS_WITHIN_MS)
    void connection.#gone.then(() => resolve(false))
    const isOpen = await promise
    clearTimeout(timer)
    if (isOpen) return connection
    socket.close()
    throw new HermesError(`${label} cannot be reached: nothing speaks the DevTools protocol there.`, {
      code: 'browser.not_reached',
    })
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gone = promise
    const over = () => {
      resolve()
      this.#end('its connection ended')
    }
    socket.addEventListener('close', over)
    socket.addEventListener('error', over)
    socket.addEventListener('message', ({ data }) => {
      if (!this.#isOver && typeof data === 'string') this.onMessage(JSON.parse(data) as CdpMessage)
    })
  }

  send(message: object): void {
    if (!this.#isOver) this.#socket.send(JSON.stringify(message))
  }

  async close(): Promise<void> {
    this.#end('it was closed')
    this.#socket.close()
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, CLOSES_WITHIN_MS)
    await Promise.race([this.#gone, promise])
    clearTimeout(timer)
  }

  #end(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onClose(reason)
  }
}
