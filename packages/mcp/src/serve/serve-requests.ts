import { createHomeServer, type HomeServerOptions, WaitingRuns } from './home-server.js'

/** Answers requests of HTTP; who may send them is checked before. */
export class RequestServer {
  readonly #options: Omit<HomeServerOptions, 'waiting'>
  readonly #waiting = new WaitingRuns()
  #handler: Promise<{ fetch(request: Request): Promise<Response>; close(): Promise<void> }> | null = null

  constructor(options: Omit<HomeServerOptions, 'waiting'>) {
    this.#options = options
  }

  async answer(request: Request): Promise<Response> {
    this.#handler ??= import('@modelcontextprotocol/server').then(({ createMcpHandler }) =>
      createMcpHandler(() => createHomeServer({ ...this.#options, waiting: this.#waiting })),
    )
    return (await this.#handler).fetch(request)
  }

  async close(): Promise<void> {
    await (await this.#handler)?.close()
  }
}
