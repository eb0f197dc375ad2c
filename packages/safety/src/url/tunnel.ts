import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { LookupFunction, Socket } from 'node:net'
import { ipv6Groups } from './ip-address.js'
import { loginOf, proxyError } from './proxies.js'

/** Where a tunnel leads. */
export interface TunnelTarget {
  /** A name or an address, that of IPv6 in brackets or not. */
  readonly host: string
  readonly port: number
  /** For `socks5:` proxies, which are given addresses. Default: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** Ends the connection to the proxy while the tunnel is made. */
  readonly signal?: AbortSignal | null | undefined
}

/**
 * A connection through a proxy, by CONNECT or by SOCKS5 (RFC 1928, login by RFC 1929). A proxy that refuses rejects with one line of code
 * `ERR_PROXY_TUNNEL`, without the login; a connection that breaks with the error of the system, an abort with its reason.
 */
export async function openTunnel(proxy: URL, target: TunnelTarget): Promise<Socket> {
  target.signal?.throwIfAborted()
  try {
    return await (proxy.protocol.startsWith('socks') ? throughSocks(proxy, target) : throughHttp(proxy, target))
  } catch (error) {
    target.signal?.throwIfAborted()
    throw error
  }
}

async function throughHttp(proxy: URL, { host, port, signal }: TunnelTarget): Promise<Socket> {
  const { request } = process.getBuiltinModule(proxy.protocol === 'https:' ? 'node:https' : 'node:http')
  const path = `${host.includes(':') ? `[${unbracketed(host)}]` : host}:${port}`
  const login = loginOf(proxy).join(':')
  const headers = {
    ...(login !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    host: path,
  }
  const where = { protocol: proxy.protocol, host: unbracketed(proxy.hostname), port: proxy.port || undefined }
  const sent = request({ ...where, method: 'CONNECT', path, headers, agent: false, ...(signal && { signal }) })
  const [{ statusCode, statusMessage }, socket] = (await once(sent.end(), 'connect')) as [IncomingMessage, Socket]
  if (statusCode === 200) return socket
  socket.destroy()
  throw proxyError(proxy, `does not reach ${host}: it answered ${statusCode} ${statusMessage}`.trim())
}

const REPLIES: Readonly<Record<number, string>> = Object.freeze({
  2: 'its rules forbid it',
  3: 'the network cannot be reached',
  4: 'the host cannot be reached',
  5: 'the connection was refused',
  6: 'it took too long',
})

async function throughSocks(proxy: URL, { host, port, lookup, signal }: TunnelTarget): Promise<Socket> {
  const { connect } = process.getBuiltinModule('node:net')
  const target = await targetBytes(proxy, unbracketed(host), lookup)
  signal?.throwIfAborted()
  const socket = connect({ host: unbracketed(proxy.hostname), port: Number(proxy.port) || 1080 })
  const abort = () => socket.destroy(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  try {
    await greet(socket, proxy)
    socket.write(Buffer.concat([Buffer.from([5, 1, 0]), target, Buffer.from([port >> 8, port & 255])]))
    const [version, reply = 0, , type] = await take(socket, 4)
    if (version !== 5) throw proxyError(proxy, 'speaks no SOCKS5')
    if (reply !== 0) throw proxyError(proxy, `does not reach ${host}: ${REPLIES[reply] ?? `reply ${reply}`}`)
    // Where the proxy connects from, which nobody needs.
    await take(socket, 2 + (type === 1 ? 4 : type === 4 ? 16 : (await take(socket, 1))[0]!))
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

async function greet(socket: Socket, proxy: URL): Promise<void> {
  const hasLogin = proxy.username !== ''
  socket.write(Buffer.from(hasLogin ? [5, 2, 0, 2] : [5, 1, 0]))
  const [version, method] = await take(socket, 2)
  if (version !== 5) throw proxyError(proxy, 'speaks no SOCKS5')
  if (method === 0) return
  if (method !== 2 || !hasLogin) throw proxyError(proxy, 'wants a login as in socks5://NAME:PASSWORD@HOST:PORT')
  const login = loginOf(proxy).map((text) => Buffer.from(text))
  if (login.some(({ length }) => length > 255)) throw proxyError(proxy, 'takes no login of more than 255 bytes')
  socket.write(Buffer.concat([Buffer.from([1]), ...login.flatMap((text) => [Buffer.from([text.length]), text])]))
  const [, status] = await take(socket, 2)
  if (status !== 0) throw proxyError(proxy, 'does not accept the login')
}

/** A host as a SOCKS proxy takes it: an address, or a name that it resolves. */
async function targetBytes(proxy: URL, name: string, lookup?: LookupFunction): Promise<Buffer> {
  const { isIP } = process.getBuiltinModule('node:net')
  const host = isIP(name) === 0 && proxy.protocol === 'socks5:' ? await resolveHost(name, lookup) : name
  if (isIP(host) === 4) return Buffer.from([1, ...host.split('.').map(Number)])
  if (isIP(host) === 6) return Buffer.from([4, ...ipv6Groups(host)!.flatMap((group) => [group >> 8, group & 255])])
  const bytes = Buffer.from(host)
  if (bytes.length > 255) throw proxyError(proxy, 'takes no name of more than 255 bytes')
  return Buffer.from([3, bytes.length, ...bytes])
}

function resolveHost(name: string, input?: LookupFunction): Promise<string> {
  const lookup = input ?? process.getBuiltinModule('node:dns').lookup
  return new Promise((resolve, reject) => {
    lookup(name, { all: false }, (error, address) => (error ? reject(error) : resolve(String(address))))
  })
}

/** The next bytes, which may come in any pieces. */
function take(socket: Socket, size: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const leave = () => socket.off('readable', look).off('error', fail).off('close', fail)
    const look = () => {
      const bytes: Buffer | null = socket.read(size)
      if (bytes?.length !== size) return
      leave()
      resolve(bytes)
    }
    const fail = (error: unknown) => {
      leave()
      reject(error instanceof Error ? error : Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }))
    }
    socket.on('readable', look).on('error', fail).on('close', fail)
    look()
  })
}

const unbracketed = (host: string) => host.replace(/^\[|\]$/g, '')
