import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { Machine } from './machine.js'

/** A cloud on loopback, as far as tests meddle with it. */
export interface CloudServer {
  /** Without a slash at its end. */
  readonly url: string
  /** What was asked, as `METHOD /path`. */
  readonly requests: readonly string[]
  /** Answers the next `times` requests whose `METHOD /path` matches with this status and message instead. */
  fail(what: RegExp, answer: { readonly status: number; readonly message: string; readonly times?: number }): void
  /** Cuts every connection; with `stay` also all that come. */
  cut(how?: { readonly stay?: boolean }): void
  /** Answers nothing until {@link CloudServer.mend}; resolves when the first request waits. */
  hold(): Promise<void>
  /** Ends what `fail`, `cut` and `hold` began. */
  repair(): void
  /** Stops all machines, as an idle limit does. */
  stopMachines(): void
  /** Removes all machines behind the client's back. */
  removeMachines(): void
  /** Names of the sandboxes there are. */
  sandboxes(): readonly string[]
  close(): Promise<void>
}

/** One request of a client. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  json(): Record<string, unknown>
}

/** A sandbox by its name, and what the service says about it. */
export interface Kept<T> {
  readonly machine: Machine
  facts: T
}

/** A service that says no. */
export class Refused extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, message: string, code = 'refused') {
    super(message)
    this.status = status
    this.code = code
  }
}

interface ServiceOptions<T> {
  /** Filled by `answer`. */
  readonly sandboxes: Map<string, Kept<T>>
  /** Answers a request; throws {@link Refused}. */
  readonly answer: (request: Request, response: ServerResponse, newMachine: () => Machine) => Promise<void>
  /** How this service writes that it refuses. */
  readonly refusal: (refused: { readonly status: number; readonly message: string; readonly code: string }) => unknown
}

/** Serves a cloud over HTTP. Machines get folders of their own below one that goes with the server. */
export async function serveCloud<T>({ sandboxes, answer, refusal }: ServiceOptions<T>): Promise<CloudServer> {
  const root = mkdtempSync('/tmp/hermes-cloud-')
  const requests: string[] = []
  const faults: { what: RegExp; status: number; message: string; left: number }[] = []
  const sockets = new Set<Socket>()
  let isCut = false
  const gate = new Gate()
  let machines = 0
  const newMachine = () => new Machine(join(root, `machine-${machines++}`))

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const url = new URL(incoming.url ?? '/', 'http://localhost')
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const line = `${incoming.method} ${url.pathname}`
    requests.push(line)
    await gate.pass()
    const fault = faults.find(({ what, left }) => left > 0 && what.test(line))
    try {
      if (fault) {
        fault.left--
        throw new Refused(fault.status, fault.message)
      }
      const request: Request = {
        ...{
          method: incoming.method ?? 'GET',
          path: url.pathname,
          query: url.searchParams,
          headers: incoming.headers,
          body,
        },
        json: () => (body.length === 0 ? {} : JSON.parse(body.toString('utf8'))) as Record<string, unknown>,
      }
      await answer(request, response, newMachine)
    } catch (error) {
      const { status, message, code } = error instanceof Refused ? error : new Refused(500, String(error), 'internal')
      if (response.headersSent) response.destroy()
      else sendJson(response, refusal({ status, message, code }), status)
    }
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    if (isCut) socket.destroy()
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail: (what, { status, message, times = 1 }) => void faults.push({ what, status, message, left: times }),
    cut({ stay = false } = {}) {
      isCut = stay
      for (const socket of sockets) socket.destroy()
    },
    hold: () => gate.shut(),
    repair() {
      isCut = false
      gate.open()
      faults.length = 0
    },
    stopMachines() {
      for (const { machine } of sandboxes.values()) machine.stop()
    },
    removeMachines() {
      for (const { machine } of sandboxes.values()) machine.remove()
      sandboxes.clear()
    },
    sandboxes: () => [...sandboxes.keys()],
    async close() {
      gate.open()
      for (const { machine } of sandboxes.values()) machine.remove()
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** What requests pass, or wait at. */
export class Gate {
  #opened: PromiseWithResolvers<void> | null = null
  #reached = Promise.withResolvers<void>()

  /** Resolves when the first one waits. */
  shut(): Promise<void> {
    this.#opened = Promise.withResolvers()
    this.#reached = Promise.withResolvers()
    return this.#reached.promise
  }

  open(): void {
    this.#opened?.resolve()
    this.#opened = null
  }

  async pass(): Promise<void> {
    if (this.#opened === null) return
    this.#reached.resolve()
    await this.#opened.promise
  }
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}
