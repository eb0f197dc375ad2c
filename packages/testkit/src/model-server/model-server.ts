import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnswerContext, completionBody, streamChunks } from './answer.js'
import type { FaultTurn, ModelTurn } from './turn.js'
import { checkWirePairs, type WireBody } from './wire-body.js'

/** A request as it came over the wire. */
export interface CapturedRequest {
  /** Counted from 1. */
  readonly number: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: WireBody
  /** Resolves with `sent` when the whole answer went out, with `closed` when the connection ended before that. */
  readonly ended: Promise<'sent' | 'closed'>
}

/** Decides each answer when it is needed. */
export type TurnHandler = (request: CapturedRequest) => ModelTurn | Promise<ModelTurn>

/** A model server that says what a test told it to, over real HTTP on loopback. */
export interface ModelServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  /** Chat requests in the order they came. */
  readonly requests: readonly CapturedRequest[]
  /** What was wrong with requests: calls and results that do not pair up, requests beyond the script. Empty in a good run. */
  readonly violations: readonly string[]
  /** Adds turns to the script. */
  enqueue(...turns: readonly ModelTurn[]): void
  /** Answers what the script does not cover; `null` removes it. */
  setHandler(handler: TurnHandler | null): void
  /** Resolves when `count` chat requests have come in. */
  waitForRequests(count: number): Promise<void>
  /** Drops open connections and stops. */
  close(): Promise<void>
}

/** How a {@link ModelServer} behaves apart from its script. */
export interface ModelServerOptions {
  /** Keep bodies of all requests in `requests`. Default true; a bench says false. */
  readonly keepRequests?: boolean
}

/** Starts a server on a free port of 127.0.0.1 that speaks the OpenAI chat-completions protocol and answers from `script`. */
export async function startModelServer(
  script: readonly ModelTurn[] = [],
  options: ModelServerOptions = {},
): Promise<ModelServer> {
  const server = new ScriptedServer(script, options.keepRequests ?? true)
  await server.listen()
  return server
}

class ScriptedServer implements ModelServer {
  baseUrl = ''
  readonly requests: CapturedRequest[] = []
  readonly violations: string[] = []
  readonly #server = createServer((incoming, response) => {
    this.#handle(incoming, response).catch(() => response.destroy())
  })
  readonly #script: ModelTurn[]
  readonly #keepRequests: boolean
  #handler: TurnHandler | null = null
  #count = 0
  #waiting: { readonly count: number; readonly resolve: () => void }[] = []

  constructor(script: readonly ModelTurn[], keepRequests: boolean) {
    this.#script = [...script]
    this.#keepRequests = keepRequests
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    this.baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  enqueue(...turns: readonly ModelTurn[]): void {
    this.#script.push(...turns)
  }

  setHandler(handler: TurnHandler | null): void {
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
    const path = incoming.url?.split('?')[0]
    if (incoming.method === 'GET' && path === '/v1/models')
      return sendJson(response, 200, { object: 'list', data: [{ id: 'scripted', object: 'model' }] })
    if (incoming.method !== 'POST' || path !== '/v1/chat/completions')
      return sendJson(response, 404, errorBody(`No route ${incoming.method} ${path}.`))
    const text = await readText(incoming)
    const request = this.#capture(incoming, response, JSON.parse(text) as WireBody)
    const problems = checkWirePairs(request.body.messages)
    if (problems.length > 0) return this.#refuse(request, response, problems.join('; '))
    const turn = this.#script.shift() ?? (await this.#handler?.(request))
    if (!turn) return this.#refuse(request, response, 'the script has no turn left')
    await answer(response, turn, { body: request.body, requestBytes: text.length, number: request.number })
  }

  #capture(incoming: IncomingMessage, response: ServerResponse, body: WireBody): CapturedRequest {
    const number = ++this.#count
    const ended = new Promise<'sent' | 'closed'>((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'sent' : 'closed'))
    })
    const request: CapturedRequest = { number, headers: incoming.headers, body, ended }
    if (this.#keepRequests) this.requests.push(request)
    for (const waiter of this.#waiting) if (waiter.count <= number) waiter.resolve()
    this.#waiting = this.#waiting.filter((waiter) => waiter.count > number)
    return request
  }

  #refuse(request: CapturedRequest, response: ServerResponse, problem: string): void {
    const line = `request ${request.number}: ${problem}`
    this.violations.push(line)
    sendJson(response, 400, errorBody(`scripted model server, ${line}`))
  }
}

async function answer(response: ServerResponse, turn: ModelTurn, request: Omit<AnswerContext, 'turn'>): Promise<void> {
  if ('fault' in turn) return fail(response, turn, request)
  if (turn.latencyMs) await sleep(turn.latencyMs)
  if (!request.body.stream) return sendJson(response, 200, completionBody({ ...request, turn }))
  const chunks = streamChunks({ ...request, turn })
  startStream(response)
  if (!turn.latencyMs) {
    response.end(chunks.join(''))
    return
  }
  for (const chunk of chunks) {
    if (response.destroyed) return
    response.write(chunk)
    await sleep(turn.latencyMs)
  }
  response.end()
}

function fail(response: ServerResponse, turn: FaultTurn, request: Omit<AnswerContext, 'turn'>): void {
  switch (turn.fault) {
    case 'status': {
      const headers: Record<string, string> = { ...turn.headers }
      if (turn.retryAfterSeconds !== undefined) headers['retry-after'] = String(turn.retryAfterSeconds)
      const body = turn.body ?? errorBody(`The scripted server answers with status ${turn.status}.`)
      sendJson(response, turn.status, body, headers)
      break
    }
    case 'refuse':
      response.destroy()
      break
    case 'html':
      response.writeHead(turn.status ?? 200, { 'content-type': 'text/html' })
      response.end('<!doctype html><title>Gateway</title><h1>This is not a model server</h1>')
      break
    case 'no-stream':
      sendJson(response, 200, completionBody({ ...request, turn }))
      break
    case 'cut': {
      const cut = () => (turn.how === 'end' ? response.end() : response.destroy())
      partly(response, { ...request, turn }, turn.afterChunks ?? 2, cut)
      break
    }
    case 'stall':
      partly(response, { ...request, turn }, turn.afterChunks ?? 1, () => undefined)
      break
    case 'malformed': {
      const garble = () => response.end('data: {"choices":[{"delta":{"content":\n\ndata: [DONE]\n\n')
      partly(response, { ...request, turn }, turn.afterChunks ?? 1, garble)
      break
    }
    default:
      turn satisfies never
  }
}

function partly(response: ServerResponse, context: AnswerContext, count: number, next: () => void): void {
  startStream(response)
  response.flushHeaders()
  response.write(streamChunks(context).slice(0, count).join(''), next)
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(text)
}

function errorBody(message: string) {
  return { error: { message, type: 'scripted_error', code: null } }
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
