import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'

/** A TLS server before one that speaks plain HTTP on this machine, which ends connections with fatal alerts. */
export interface AlertServer {
  /** `https://127.0.0.1:PORT`. */
  readonly origin: string
  /** How many connections ended with an alert. */
  readonly alerts: number
  /** Answers the next `times` handshakes with an alert. */
  refuse(times: number): void
  /** Ends each connection on which this text comes in an answer; `null` none. */
  alertAfter(text: string | null): void
  /** Ends all open connections. */
  alertNow(): void
  /** Drops open connections and stops. */
  close(): Promise<void>
}

const pem = (name: string) => readFileSync(join(import.meta.dirname, `loopback.${name}.pem`), 'utf8')

/** Makes every TLS client of this process trust {@link AlertServer}s, until the function it gives is called. */
export function trustLoopback(): () => void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, pem('cert')])
  return () => setDefaultCACertificates(before)
}

/** Starts one on a free port of 127.0.0.1, before the server on `port`. */
export async function startAlertServer(port: number): Promise<AlertServer> {
  const server = new LoopbackAlertServer(port)
  await server.listen()
  return server
}

/** "Handshake failure", fatal, in the clear: no key is agreed on yet. */
const REFUSAL = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28])
/** A record no key of the connection made, which OpenSSL answers with the fatal alert "bad record MAC". */
const FORGED = Buffer.from([0x17, 0x03, 0x03, 0x00, 0x20, ...new Array<number>(32).fill(7)])

class LoopbackAlertServer implements AlertServer {
  origin = ''
  alerts = 0
  readonly #port: number
  readonly #sockets = new Set<Socket>()
  /** What comes from a client, still encrypted, by the port from which it is passed on. */
  readonly #pipes = new Map<number, Socket>()
  #refusals = 0
  #text: string | null = null
  readonly #outer: Server
  readonly #inner: Server

  constructor(port: number) {
    this.#port = port
    this.#outer = createServer((client) => this.#accept(client))
    this.#inner = createTlsServer({ key: pem('key'), cert: pem('cert') }, (secure) => this.#serve(secure))
    this.#inner.on('tlsClientError', () => undefined)
  }

  async listen(): Promise<void> {
    for (const server of [this.#outer, this.#inner]) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    }
    this.origin = `https://127.0.0.1:${(this.#outer.address() as AddressInfo).port}`
  }

  refuse(times: number): void {
    this.#refusals = times
  }

  alertAfter(text: string | null): void {
    this.#text = text
  }

  alertNow(): void {
    for (const pipe of this.#pipes.values()) this.#alert(pipe)
  }

  async close(): Promise<void> {
    const closed = [this.#outer, this.#inner].map((server) => once(server, 'close'))
    for (const server of [this.#outer, this.#inner]) server.close()
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(closed)
  }

  #accept(client: Socket): void {
    this.#watch(client)
    if (this.#refusals > 0) {
      this.#refusals--
      this.alerts++
      client.once('data', () => client.end(REFUSAL))
      return
    }
    const pipe = this.#watch(connect((this.#inner.address() as AddressInfo).port, '127.0.0.1'))
    pipe.once('connect', () => {
      const port = pipe.localPort!
      this.#pipes.set(port, pipe)
      pipe.once('close', () => this.#pipes.delete(port))
      client.pipe(pipe).pipe(client)
    })
  }

  #serve(secure: TLSSocket): void {
    this.#watch(secure)
    const pipe = this.#pipes.get(secure.remotePort!)!
    const plain = this.#watch(connect(this.#port, '127.0.0.1'))
    secure.pipe(plain)
    secure.once('close', () => plain.destroy())
    plain.once('end', () => secure.end())
    plain.on('data', (chunk) => {
      const isLast = this.#text !== null && chunk.includes(this.#text)
      // Only what has gone out is sure to come before the alert.
      secure.write(chunk, () => isLast && this.#alert(pipe))
    })
  }

  #alert(pipe: Socket): void {
    this.alerts++
    pipe.write(FORGED)
  }

  #watch<Kind extends Socket>(socket: Kind): Kind {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => this.#sockets.delete(socket))
    return socket
  }
}
