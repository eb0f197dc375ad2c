import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { findBrowser } from '../launch/find-browser.js'

/** A request as it came. */
interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Readonly<Record<string, unknown>>
}

/** How the next session is refused. */
type Refusal = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly text?: string }

/** Every cloud on one server, as each documents itself. They hand out the same Chromium. */
export interface Clouds extends AsyncDisposable {
  readonly baseUrl: string
  readonly seen: Seen[]
  /** Of Chromium itself, for whoever connects by address. */
  readonly address: string
  /** Sessions that nobody has released, by their ids. */
  readonly open: Set<string>
  refusal: Refusal | null
  /** How many requests that end a session find their connection ended. */
  losesReleases: number
  /** The address that new sessions name in place of Chromium's; `null` for that one. */
  handsOut: string | null
  /** Whether Browserbase keeps no session alive for this account. */
  isFree: boolean
  /** Ends every connection to Chromium, as networks do. A session that was not to stay alive is over with it. */
  drop(): void
  /** Ends every session: connections to it end, and none can be made. */
  expire(): void
}

/** Starts Chromium with an open port, and the clouds. Its profile is in `folder`. */
export async function startClouds(folder: string): Promise<Clouds> {
  const { child, port } = await startChromium(folder)
  const relay = await startRelay(port)
  const { address } = relay
  const seen: Seen[] = []
  const open = new Set<string>()
  const stays = new Set<string>()
  const kept = new Map<string, unknown>()
  let next = 1
  const answerTo = async ({ method, path, body }: Seen): Promise<readonly [status: number, answer: object]> => {
    const version = (await (await fetch(`http://127.0.0.1:${port}/json/version`)).json()) as { webSocketDebuggerUrl: string }
    const socket = clouds.handsOut ?? version.webSocketDebuggerUrl.replace(/\/\/[^/]+/, `//${new URL(address).host}`)
    const created = (answer: (id: string) => object, staysAlive = true) => {
      const id = `session-${next++}`
      open.add(id)
      kept.set(id, body['userMetadata'] ?? body['metadata'] ?? {})
      if (staysAlive) stays.add(id)
      relay.isClosed = false
      return [200, answer(id)] as const
    }
    const [, , id = ''] = /^(.*\/)([^/]+)$/.exec(path) ?? []
    const released = (answer: object) => (open.delete(id) ? ([200, answer] as const) : ([404, { error: 'no such session' }] as const))
    if (method === 'GET' && path === '/v1/sessions?status=RUNNING') return [200, [...open].map((name) => ({ id: name, status: 'RUNNING', userMetadata: kept.get(name) }))]
    if (method === 'GET' && path.startsWith('/browsers?')) return [200, { items: [...open].map((name) => ({ id: name, status: 'active', metadata: kept.get(name) })) }]
    if (method === 'POST' && path === '/v1/sessions') {
      const staysAlive = body['keepAlive'] === true
      if (staysAlive && clouds.isFree) return [402, { error: 'keepAlive needs a paid plan' }]
      return created((name) => ({ id: name, status: 'RUNNING', connectUrl: socket, keepAlive: staysAlive }), staysAlive)
    }
    if (method === 'POST' && path.startsWith('/v1/sessions/')) return released({ id, status: 'COMPLETED' })
    if (method === 'POST' && path === '/browsers') return created((name) => ({ id: name, status: 'active', cdpUrl: clouds.handsOut ?? address, liveUrl: null }))
    if (method === 'PATCH' && path.startsWith('/browsers/')) return released({ id, status: 'stopped', browserCost: '0.0003' })
    if (method === 'POST' && path === '/v2/browser') return created((name) => ({ success: true, id: name, cdpUrl: socket }))
    if (method === 'DELETE' && path.startsWith('/v2/browser/')) return released({ success: true, creditsBilled: 2 })
    return [404, { error: 'nothing is here' }]
  }
  const clouds: Omit<Clouds, 'baseUrl'> = {
    ...{ seen, open, address, refusal: null, handsOut: null, isFree: false, losesReleases: 0 },
    drop() {
      for (const id of open) if (!stays.has(id)) open.delete(id)
      relay.cut()
    },
    expire() {
      open.clear()
      relay.isClosed = true
      relay.cut()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      relay.close()
      process.kill(-child.pid!, 'SIGKILL')
      await once(child, 'exit')
    },
  }
  const server = createServer((request, response) => void reply(request, response))
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString()
    const body = text === '' ? {} : (JSON.parse(text) as Seen['body'])
    const one = { method: request.method!, path: request.url!, headers: request.headers, body }
    seen.push(one)
    if (/session-/.test(one.path) && clouds.losesReleases-- > 0) return request.socket.destroy()
    const { refusal } = clouds
    if (refusal && one.method === 'POST') {
      response.writeHead(refusal.status, { 'content-type': 'application/json', ...refusal.headers })
      return response.end(refusal.text ?? '{"error":"not this time"}')
    }
    const [status, answer] = await answerTo(one)
    return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(clouds, { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

/** What a home has in its environment to use one of them. */
export const variablesOf = ({ baseUrl }: Pick<Clouds, 'baseUrl'>) => ({
  ...{ BROWSERBASE_API_KEY: 'bb-key', BROWSERBASE_PROJECT_ID: 'project', BROWSERBASE_BASE_URL: baseUrl },
  ...{ BROWSER_USE_API_KEY: 'bu-key', BROWSER_USE_BASE_URL: baseUrl },
  ...{ FIRECRAWL_API_KEY: 'fc-key', FIRECRAWL_API_URL: baseUrl, FIRECRAWL_BROWSER_TTL: '120' },
})

async function startChromium(folder: string): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const program = await findBrowser({ env: process.env, executable: null })
  const args = ['--headless=new', '--no-sandbox', '--remote-debugging-port=0', '--no-first-run', '--disable-gpu']
  // As names of the sites are known there.
  const rules = '--host-resolver-rules=MAP *.test 127.0.0.2'
  const child = spawn(program, [...args, rules, `--user-data-dir=${join(folder, 'cloud')}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  child.stderr!.setEncoding('utf8')
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let output = ''
  child.stderr!.on('data', (piece: string) => {
    output = (output + piece).slice(-4_000)
    const found = /DevTools listening on ws:\/\/[^/]+:(\d+)\//.exec(output)
    if (found) resolve(Number(found[1]))
  })
  child.once('exit', () => reject(new Error(`Chromium did not start: ${output}`)))
  return { child, port: await promise }
}

/** What stands between a cloud and who uses it: its connections end when the session does. */
async function startRelay(port: number) {
  const sockets = new Set<Socket>()
  const state = { isClosed: false }
  const relay = createTcpServer((socket) => {
    if (state.isClosed) return void socket.destroy()
    const inner = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [socket, inner],
      [inner, socket],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => undefined)
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const { port: ownPort } = relay.address() as AddressInfo
  return Object.assign(state, { address: `http://127.0.0.1:${ownPort}`, cut, close: () => (cut(), relay.close()) })
}
