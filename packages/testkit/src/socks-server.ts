import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A SOCKS5 proxy on this machine, for tests. */
interface SocksServer {
  /** `127.0.0.1:PORT`. */
  readonly address: string
  /** What was asked for, as `name HOST:PORT` or `address HOST:PORT`. */
  readonly seen: readonly string[]
  close(): void
}

/** Options of {@link startSocksServer}. */
export interface SocksServerOptions {
  /** `NAME:PASSWORD` that it wants. Default: it takes no login. */
  readonly login?: string
  /** What it answers instead of connecting: a code of RFC 1928, or nothing at all. Default: it connects. */
  readonly reply?: number | 'silence'
  /** The port of this machine to which all names and ports lead. Default: the one that is asked for. */
  readonly onwardPort?: number
}

/** Starts a proxy (RFC 1928, RFC 1929) that finds every name on this machine and answers byte by byte. */
export async function startSocksServer({
  login,
  reply = 0,
  onwardPort,
}: SocksServerOptions = {}): Promise<SocksServer> {
  const seen: string[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    serve(socket).catch(() => socket.destroy())
  })
  const serve = async (socket: Socket) => {
    const [, count = 0] = await take(socket, 2)
    const methods = [...(await take(socket, count))]
    const method = login === undefined ? 0 : 2
    if (!methods.includes(method)) return say(socket, [5, 0xff])
    await say(socket, [5, method])
    if (login !== undefined) {
      const name = await take(socket, (await take(socket, 2))[1]!)
      const password = await take(socket, (await take(socket, 1))[0]!)
      const isRight = `${name}:${password}` === login
      await say(socket, [1, isRight ? 0 : 1])
      if (!isRight) return void socket.end()
    }
    const [, , , type] = await take(socket, 4)
    const bytes = await take(socket, type === 1 ? 4 : type === 4 ? 16 : (await take(socket, 1))[0]!)
    const port = (await take(socket, 2)).readUInt16BE()
    const host = type === 3 ? String(bytes) : type === 1 ? bytes.join('.') : `[${bytes.toString('hex')}]`
    seen.push(`${type === 3 ? 'name' : 'address'} ${host}:${port}`)
    if (reply === 'silence') return
    if (reply !== 0) return say(socket, [5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
    const onward = connect(onwardPort ?? port, '127.0.0.1')
    open.add(onward)
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    await once(onward, 'connect')
    // A name as its own address: few servers answer so, and all may.
    await say(socket, [5, 0, 0, 3, 2, 0x6d, 0x65, port >> 8, port & 255])
    socket.on('close', () => onward.destroy())
    onward.pipe(socket).pipe(onward)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

async function say(socket: Socket, bytes: readonly number[]): Promise<void> {
  for (const byte of bytes)
    await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => setImmediate(resolve)))
}

async function take(socket: Socket, size: number): Promise<Buffer> {
  for (;;) {
    const bytes: Buffer | null = size === 0 ? Buffer.alloc(0) : socket.read(size)
    if (bytes?.length === size) return bytes
    await once(socket, 'readable')
  }
}
