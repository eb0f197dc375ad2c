// Clients of the protocol before 2026-07-28 over HTTP. Each has a session, so that a call can ask it something, and a stream that broke off goes on.
import { randomUUID } from 'node:crypto'
import type { EventStore, McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'

/** Of more, those unused for longest end. A client that comes back begins anew, as the protocol has it. */
const MOST_SESSIONS = 100
const MOST_EVENTS = 500
const MOST_CHARS = 4_000_000
/** How long a client is to wait before it asks for the rest of a stream. */
const RETRY_MS = 1_000

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: McpServer
}

/** The sessions of older clients in this process. */
export class OlderClients {
  readonly #create: () => Promise<McpServer>
  /** The one unused for longest first. */
  readonly #sessions = new Map<string, Session>()

  constructor(create: () => Promise<McpServer>) {
    this.#create = create
  }

  /** Answers a request of a session, or that begins one; `null` for any other. */
  async answer(request: Request): Promise<Response | null> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return (await isOpening(request)) ? this.#open(request) : null
    const session = this.#sessions.get(id)
    if (!session) return failure(404, 'This session is over. Begin another one.')
    this.#use(id)
    return session.transport.handleRequest(request)
  }

  async close(): Promise<void> {
    const all = [...this.#sessions.values()]
    this.#sessions.clear()
    await Promise.all(all.map(({ server }) => server.close()))
  }

  async #open(request: Request): Promise<Response> {
    const { WebStandardStreamableHTTPServerTransport: Transport } = await import('@modelcontextprotocol/server')
    const server = await this.#create()
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, { transport, server }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
      eventStore: new RecentEvents(() => this.#use(transport.sessionId ?? '')),
      retryInterval: RETRY_MS,
    })
    await server.connect(transport)
    const response = await transport.handleRequest(request)
    if (transport.sessionId === undefined) await server.close()
    else await this.#makeRoom()
    return response
  }

  #use(id: string): void {
    const session = this.#sessions.get(id)
    if (session && this.#sessions.delete(id)) this.#sessions.set(id, session)
  }

  async #makeRoom(): Promise<void> {
    for (const [id, { server }] of this.#sessions) {
      if (this.#sessions.size <= MOST_SESSIONS) return
      this.#sessions.delete(id)
      await server.close()
    }
  }
}

type StoredMessage = Parameters<EventStore['storeEvent']>[1]

/** The newest events of a session's streams, for a client whose connection broke off. */
class RecentEvents implements EventStore {
  readonly #events: {
    readonly id: string
    readonly stream: string
    readonly message: StoredMessage
    readonly chars: number
  }[] = []
  readonly #stored: () => void
  #count = 0
  #chars = 0

  constructor(stored: () => void) {
    this.#stored = stored
  }

  async storeEvent(stream: string, message: StoredMessage): Promise<string> {
    this.#stored()
    const event = { id: `${++this.#count}`, stream, message, chars: JSON.stringify(message).length }
    this.#events.push(event)
    this.#chars += event.chars
    while (this.#events.length > MOST_EVENTS || (this.#chars > MOST_CHARS && this.#events.length > 1))
      this.#chars -= this.#events.shift()!.chars
    return event.id
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events.find((event) => event.id === id)?.stream
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { readonly send: (id: string, message: StoredMessage) => Promise<void> },
  ): Promise<string> {
    const from = this.#events.findIndex(({ id }) => id === lastEventId)
    const stream = this.#events[from]?.stream ?? ''
    for (const event of this.#events.slice(from + 1)) {
      // A priming event has nothing to say again.
      if (event.stream === stream && 'jsonrpc' in event.message) await send(event.id, event.message)
    }
    return stream
  }
}

async function isOpening(request: Request): Promise<boolean> {
  if (request.method !== 'POST' || request.headers.has('mcp-method')) return false
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => null)
  return [body].flat().some((message) => (message as { method?: unknown } | null)?.method === 'initialize')
}

const failure = (status: number, message: string) =>
  Response.json({ jsonrpc: '2.0', error: { code: -32001, message }, id: null }, { status })
