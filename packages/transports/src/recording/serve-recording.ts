import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isJsonObject } from '@hermes/contracts'
import type { WireApi } from '@hermes/contracts/model'
import { isBinaryEvents, writeBinaryEvent } from './binary-events.js'
import { compareBodies } from './compare-bodies.js'
import { mapChunk, readBody } from './json-strings.js'
import { type Placeholder, restore } from './placeholders.js'
import { type Exchange, parseRecording } from './recording-format.js'

/** Which recording to serve, and what its placeholders are here and now. */
interface ServeRecordingOptions {
  readonly file: string
  readonly placeholders?: readonly Placeholder[]
}

/** A recording that answers over HTTP on loopback in place of the model it was made with. */
interface ServedRecording {
  /** The address of the recorded provider with host and port replaced. */
  readonly baseUrl: string
  /** The model that was asked, as the first request names it; `null` when it names none. */
  readonly model: string | null
  /** The wire the recording was made on. */
  readonly api: WireApi
  /** The first real difference, as one line; `null` while there is none. */
  problem(): string | null
  /** Whether every exchange was asked for. */
  done(): boolean
  close(): Promise<void>
}

const CONVERSE = /\/model\/([^/]+)\/converse(?:-stream)?$/

/** What each wire adds to its base URL. */
const ENDPOINTS: readonly (readonly [RegExp, WireApi])[] = [
  [/\/chat\/completions$/, 'chat-completions'],
  [/\/v1\/messages$/, 'anthropic-messages'],
  [/\/responses$/, 'responses'],
  [CONVERSE, 'bedrock-converse'],
]

/**
 * Serves a recording. Requests are compared in order; the first that differs is answered with status 409 and a line that says where
 * and what, and so is each one after it.
 * @throws HermesError `transport.bad_recording` for a file that is none.
 */
export async function serveRecording(options: ServeRecordingOptions): Promise<ServedRecording> {
  const { file, placeholders = [] } = options
  // Loading these takes longer than the rest of the package, and whoever talks to a model does not need them.
  const [{ default: EventEmitter }, { readFile }, { createServer }] = await Promise.all([
    import('node:events'),
    import('node:fs/promises'),
    import('node:http'),
  ])
  const replay = new Replay(parseRecording(await readFile(file, 'utf8'), file), placeholders)
  const server = createServer((incoming, response) => {
    replay.answer(incoming, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await EventEmitter.once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${replay.basePath}`,
    model: replay.model,
    api: replay.api,
    problem: () => replay.problem,
    done: () => replay.isDone,
    close: async () => {
      const closed = EventEmitter.once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

class Replay {
  problem: string | null = null
  readonly #exchanges: readonly Exchange[]
  readonly #placeholders: readonly Placeholder[]
  #next = 0

  constructor(exchanges: readonly Exchange[], placeholders: readonly Placeholder[]) {
    this.#exchanges = exchanges
    this.#placeholders = placeholders
  }

  get api(): WireApi {
    return this.#endpoint?.[1] ?? 'chat-completions'
  }

  get basePath(): string {
    const [suffix] = this.#endpoint ?? []
    return (suffix && this.#exchanges[0]?.request.path.replace(suffix, '')) ?? '/v1'
  }

  get #endpoint() {
    const path = this.#exchanges[0]?.request.path ?? ''
    return ENDPOINTS.find(([suffix]) => suffix.test(path))
  }

  get model(): string | null {
    const { body, path } = this.#exchanges[0]?.request ?? { body: null, path: '' }
    const inPath = CONVERSE.exec(path)?.[1]
    if (inPath !== undefined) return decodeURIComponent(inPath)
    const model = isJsonObject(body) ? body['model'] : null
    return typeof model === 'string' ? model : null
  }

  get isDone(): boolean {
    return this.#next >= this.#exchanges.length
  }

  async answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString('utf8')
    const exchange = this.#exchanges[this.#next]
    this.problem ??= this.#check(exchange, `${incoming.method} ${incoming.url?.split('?')[0]}`, text)
    if (this.problem || !exchange) {
      response.writeHead(409, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { type: 'replay_mismatch', message: this.problem } }))
      return
    }
    this.#next++
    const { status, headers, chunks } = exchange.response
    response.writeHead(status, headers)
    const isBinary = isBinaryEvents(headers['content-type'])
    for (const chunk of chunks) {
      const restored = mapChunk(chunk, (inner) => restore(inner, this.#placeholders))
      response.write(isBinary ? writeBinaryEvent(restored) : restored)
    }
    response.end()
  }

  #check(exchange: Exchange | undefined, route: string, text: string): string | null {
    const name = `replay: request ${this.#next + 1}`
    if (!exchange) return `${name} is one more than the ${this.#exchanges.length} of the recording`
    const recorded = `${exchange.request.method} ${exchange.request.path}`
    if (recorded !== route) return `${name} differs: expected ${recorded}, got ${route}`
    const problem = compareBodies(exchange.request.body, readBody(text), this.#placeholders)
    return problem === null ? null : `${name} differs at ${problem}`
  }
}
