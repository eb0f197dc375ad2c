import type { McpServer } from '@modelcontextprotocol/server'
import { createHomeServer, type HomeServerOptions, WaitingRuns } from './home-server.js'
import { OlderClients } from './older-clients.js'

/** Answers requests of HTTP; who may send them is checked before. */
export class RequestServer {
  readonly #create: () => Promise<McpServer>
  readonly #older: OlderClients
  #handler: Promise<{ fetch(request: Request): Promise<Response>; close(): Promise<void> }> | null = null

  /** Default of `create`: what a home offers. It makes one server for a request, or for a session of an older client. */
  constructor(
    options: Omit<HomeServerOptions, 'waiting'>,
    create: (home: () => Promise<McpServer>) => Promise<McpServer> = (home) => home(),
  ) {
    const waiting = new WaitingRuns()
    this.#create = () => create(() => createHomeServer({ ...options, waiting }))
    this.#older = new OlderClients(this.#create)
  }

  async answer(request: Request): Promise<Response> {
    const older = await this.#older.answer(request)
    if (older !== null) return older
    this.#handler ??= import('@modelcontextprotocol/server').then(({ createMcpHandler }) =>
      createMcpHandler(this.#create),
    )
    return (await this.#handler).fetch(request)
  }

  async close(): Promise<void> {
    await Promise.all([this.#older.close(), this.#handler?.then((handler) => handler.close())])
  }
}
