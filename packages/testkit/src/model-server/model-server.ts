import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropicMessages } from './anthropic-messages.js'
import { bedrockConverse, converseRoute } from './bedrock-converse.js'
import { chatCompletions } from './chat-completions.js'
import { responses } from './responses.js'
import { sendJson, serveStep } from './serve-step.js'
import type { ServedWire } from './served-wire.js'
import type { ModelStep } from './step.js'
import type { WireBody } from './wire-body.js'

/** A request as it came over the wire. */
export interface CapturedRequest {
  /** Counted from 1. */
  readonly number: number
  /** The protocol it came in. */
  readonly api: ServedWire['api']
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: WireBody
  /** The body as it came. */
  readonly text: string
  /** Resolves with `sent` when the whole answer went out, with `closed` when the connection ended before that. */
  readonly ended: Promise<'sent' | 'closed'>
}

/** Decides each answer when it is needed. */
export type StepHandler = (request: CapturedRequest) => ModelStep | Promise<ModelStep>

/** A model server that says what a test told it to, over real HTTP on loopback. */
export interface ModelServer {
  /** For chat completions and Responses; ends in `/v1`. */
  readonly baseUrl: string
  /** For Anthropic messages and Bedrock converse: `baseUrl` without `/v1`. */
  readonly anthropicBaseUrl: string
  /** Chat requests in the order they came. */
  readonly requests: readonly CapturedRequest[]
  /** What a real server would have refused in requests, and requests beyond the script. Empty in a good run. */
  readonly violations: readonly string[]
  /** Adds turns to the script. */
  enqueue(...steps: readonly ModelStep[]): void
  /** Answers what the script does not cover; `null` removes it. */
  setHandler(handler: StepHandler | null): void
  /** Resolves when `count` chat requests have come in. */
  waitForRequests(count: number): Promise<void>
  /** Drops open connections and stops. */
  close(): Promise<void>
}

/** How a {@link ModelServer} behaves apart from its script. */
interface ModelServerOptions {
  /** Keep bodies of all requests in `requests`. Default true; a bench says false. */
  readonly keepRequests?: boolean
}

/** Starts a server on a free port of 127.0.0.1 that speaks chat completions, Anthropic messages, Responses and Bedrock converse,
 * and answers from `script`. */
export async function startModelServer(
  script: readonly ModelStep[] = [],
  options: ModelServerOptions = {},
): Promise<ModelServer> {
  const server = new ScriptedServer(script, options.keepRequests ?? true)
  await server.listen()
  return server
}

const WIRES: Readonly<Record<string, ServedWire>> = {
  '/v1/chat/completions': chatCompletions,
  '/v1/messages': anthropicMessages,
  '/v1/responses': responses,
}

class ScriptedServer implements ModelServer {
  baseUrl = ''
  anthropicBaseUrl = ''
  readonly requests: CapturedRequest[] = []
  readonly violations: string[] = []
  readonly #server = createServer((incoming, response) => {
    this.#handle(incoming, response).catch(() => response.destroy())
  })
  readonly #script: ModelStep[]
  readonly #keepRequests: boolean
  #handler: StepHandler | null = null
  #count = 0
  #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  constructor(script: readonly ModelStep[], keepRequests: boolean) {
    this.#script = [...script]
    this.#keepRequests = keepRequests
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.anthropicBaseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    this.baseUrl = `${this.anthropicBaseUrl}/v1`
  }

  enqueue(...steps: readonly ModelStep[]): void {
    this.#script.push(...steps)
  }

  setHandler(handler: StepHandler | null): void {
    this.#handler = handler
  }

  waitForRequests(count: number): Promise<void> {
    if (this.#count >= count) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ count, resolve }))
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url?.split('?')[0] ?? ''
    const converse = converseRoute(path)
    if (incoming.method === 'GET' && path === '/v1/models')
      return sendJson(response, 200, { object: 'list', data: [{ id: 'scripted', object: 'model' }] })
    const wire = incoming.method === 'POST' ? (converse ? bedrockConverse : WIRES[path]) : undefined
    if (!wire) return sendJson(response, 404, chatCompletions.refusal(404, `No route ${incoming.method} ${path}.`))
    const text = await readText(incoming)
    const body = { ...JSON.parse(text), ...converse } as WireBody
    const request = this.#capture(incoming, response, { api: wire.api, body, text })
    const problems = wire.check(body, incoming.headers)
    if (problems.length > 0) return this.#refuse(wire, request, response, problems.join('; '))
    const step = this.#script.shift() ?? (await this.#handler?.(request))
    if (!step) return this.#refuse(wire, request, response, 'the script has no turn left')
    await serveStep(wire, response, step, { body, requestBytes: text.length, number: request.number })
  }

  #capture(
    incoming: IncomingMessage,
    response: ServerResponse,
    came: Pick<CapturedRequest, 'api' | 'body' | 'text'>,
  ): CapturedRequest {
    const number = ++this.#count
    const ended = new Promise<'sent' | 'closed'>((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'sent' : 'closed'))
    })
    const request: CapturedRequest = { ...came, number, headers: incoming.headers, ended }
    if (this.#keepRequests) this.requests.push(request)
    for (const waiter of this.#waiting) if (waiter.count <= number) waiter.resolve()
    this.#waiting = this.#waiting.filter((waiter) => waiter.count > number)
    return request
  }

  #refuse(wire: ServedWire, request: CapturedRequest, response: ServerResponse, problem: string): void {
    const line = `request ${request.number}: ${problem}`
    this.violations.push(line)
    sendJson(response, 400, wire.refusal(400, `scripted model server, ${line}`), wire.refusalHeaders?.(400))
  }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
