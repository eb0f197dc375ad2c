import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { errorLine } from '@hermes/contracts'

/** Where a connection is to lead. */
export interface Destination {
  readonly hostname: string
  readonly port: number
  /** Bytes go through it as they are: encrypted, or of a WebSocket. */
  readonly isTunnel: boolean
}

/** Connects to a host, or says why not. */
export type Connect = (destination: Destination, signal: AbortSignal) => Promise<Socket>

/** A proxy of one browser context. */
export interface LoopbackProxy {
  readonly port: number
  /** Ends it and every connection through it. Never rejects. */
  close(): Promise<void>
}

/** Of the connection between browser and proxy alone. */
const HOP = new Set(['connection', 'proxy-connection', 'proxy-authorization', 'keep-alive', 'te', 'trailer', 'upgrade'])

/** Every byte of a browser context goes through here: each connection is made by `connect`, which resolves and checks. On 127.0.0.1 alone. */
export async function startProxy(connect: Connect): Promise<LoopbackProxy> {
  const sockets = new Set<Socket>()
  const ending = new AbortController()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const open: Connect = async (destination, signal) => keep(await connect(destination, signal))
  const server = createServer({ maxHeaderSize: 256 * 1024, requestTimeout: 0, keepAliveTimeout: 30_000 }, (from, to) =>
    forward(from, to, (destination) => open(destination, ending.signal)),
  )
  server.on('connection', keep)
  server.on('connect', (message: IncomingMessage, socket: Socket, head: Buffer) => {
    const target = targetOf(message.url ?? '')
    if (!target) return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    open({ ...target, isTunnel: true }, ending.signal).then(
      (remote) => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        if (head.length > 0) remote.write(head)
        remote.pipe(socket)
        socket.pipe(remote)
        socket.once('close', () => remote.destroy())
        remote.once('close', () => socket.destroy())
      },
      () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'),
    )
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  server.unref()
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      ending.abort()
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** `host:port` of CONNECT, the host as a parsed URL has it. */
function targetOf(authority: string): { readonly hostname: string; readonly port: number } | null {
  const port = Number(/:(\d{1,5})$/.exec(authority)?.[1])
  if (!URL.canParse(`http://${authority}/`) || !(port > 0 && port < 65_536)) return null
  return { hostname: new URL(`http://${authority}/`).hostname, port }
}

function forward(from: IncomingMessage, to: ServerResponse, open: (destination: Destination) => Promise<Socket>): void {
  const url = from.url ?? ''
  if (!url.startsWith('http://') || !URL.canParse(url)) return void to.writeHead(400).end()
  const { hostname, port, pathname, search, host } = new URL(url)
  const headers = Object.fromEntries(Object.entries(from.headersDistinct).filter(([name]) => !HOP.has(name)))
  const onward = request({
    method: from.method,
    path: `${pathname}${search}`,
    headers: { ...headers, host },
    createConnection: (_options, done) => {
      open({ hostname, port: Number(port || 80), isTunnel: false }).then(
        (socket) => done(null, socket),
        (error: Error) => done(error, null as never),
      )
      return undefined
    },
  })
  onward.on('response', (answer) => {
    const raw = answer.rawHeaders
    const kept: string[] = []
    for (let at = 0; at < raw.length; at += 2) if (!HOP.has(raw[at]!.toLowerCase())) kept.push(raw[at]!, raw[at + 1]!)
    to.writeHead(answer.statusCode ?? 502, answer.statusMessage, kept)
    answer.pipe(to)
    answer.once('error', () => to.destroy())
  })
  onward.once('error', (error) => {
    if (to.headersSent) to.destroy()
    else to.writeHead(502, { 'content-type': 'text/plain' }).end(errorLine(error))
  })
  to.once('close', () => onward.destroy())
  from.pipe(onward)
}
