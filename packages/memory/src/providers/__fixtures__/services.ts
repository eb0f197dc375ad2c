import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a service does with one request: `[status, body]`, a text body as it is. */
export type Reply = readonly [status: number, body?: unknown]
type Body = Record<string, unknown>
interface Call {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Body
}
type Service = (call: Call) => Reply

/** A service on loopback that behaves like one of the real ones. */
export interface FakeService {
  readonly baseUrl: string
  readonly calls: readonly (Call & { readonly headers: IncomingMessage['headers'] })[]
  /** Answers the next calls in place of the service; `null` makes it never answer. */
  fail(...replies: readonly (Reply | null)[]): void
  close(): Promise<void>
}

export const KEY = 'key-1'

/** Starts one. Calls without `authorization` (or `x-api-key`) of the form `auth` get what the real service says. */
export async function startService(service: Service, auth: string): Promise<FakeService> {
  const calls: (Call & { headers: IncomingMessage['headers'] })[] = []
  const failures: (Reply | null)[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url ?? '', 'http://x')
    const text = Buffer.concat(chunks).toString()
    const body = text === '' ? {} : (JSON.parse(text) as Body)
    const call = { method: request.method ?? '', path: url.pathname, query: url.searchParams, body }
    calls.push({ ...call, headers: request.headers })
    const isKnown = [request.headers.authorization, request.headers['x-api-key']].includes(auth)
    const answered: Reply = isKnown ? service(call) : [401, { detail: 'Invalid API key' }]
    const next = failures.length > 0 ? failures.shift() : answered
    if (!next) return
    const [status, reply] = next
    const isText = typeof reply === 'string'
    response.writeHead(status, reply === undefined ? {} : { 'content-type': isText ? 'text/html' : 'application/json' })
    response.end(reply === undefined ? undefined : isText ? reply : JSON.stringify(reply))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    fail: (...replies) => void failures.push(...replies),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Texts and how well they fit a query: by the words they share. */
class Shelf {
  readonly #texts = new Map<string, { text: string; owner: string }>()
  #next = 1

  add(owner: string, text: string): string {
    const id = `m${this.#next++}`
    this.#texts.set(id, { text, owner })
    return id
  }

  remove(id: string): boolean {
    return this.#texts.delete(id)
  }

  search(owner: string, query: string, limit: number): { id: string; text: string; score: number }[] {
    const words = new Set(query.toLowerCase().match(/\w+/g))
    return [...this.#texts]
      .filter(([, entry]) => entry.owner === owner)
      .map(([id, { text }]) => ({ id, text, score: (text.toLowerCase().match(/\w+/g) ?? []).filter((word) => words.has(word)).length }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, limit)
  }
}

const texts = (messages: unknown) => (messages as { content: string }[]).map(({ content }) => content)

/** The platform of Mem0. */
export function mem0Platform(): Service {
  const shelf = new Shelf()
  return ({ method, path, body }) => {
    if (path === '/v1/ping/') return [200, { status: 'ok' }]
    if (method === 'POST' && path === '/v3/memories/add/') {
      if (typeof body['user_id'] !== 'string') return [400, { detail: 'user_id is required' }]
      const results = texts(body['messages']).map((text) => ({ id: shelf.add(String(body['user_id']), text), event: 'ADD' }))
      return [200, { results }]
    }
    if (method === 'POST' && path === '/v3/memories/search/') {
      const filters = body['filters'] as Body | undefined
      if (!filters) return [400, { detail: 'filters are required' }]
      const found = shelf.search(String(filters['user_id']), String(body['query']), Number(body['top_k'] ?? 10))
      return [200, { results: found.map(({ id, text, score }) => ({ id, memory: text, score })) }]
    }
    const [, id] = /^\/v1\/memories\/([^/]+)\/$/.exec(path) ?? []
    if (method === 'DELETE' && id) return shelf.remove(id) ? [200, { message: 'deleted' }] : [404, { detail: 'not found' }]
    return [404, { detail: `no route ${method} ${path}` }]
  }
}

/** A server of Mem0 of one's own: one before 1.0, which knows of filters for metadata alone, or one of those that want owners in them. */
export function mem0Server(age: 'old' | 'new' = 'new'): Service {
  const shelf = new Shelf()
  return ({ method, path, body }) => {
    if (path === '/memories' && method === 'GET')
      return age === 'old' ? [200, { results: [] }] : [502, { detail: 'Top-level entity parameters are not supported in get_all().' }]
    if (path === '/memories' && method === 'POST') {
      for (const text of texts(body['messages'])) shelf.add(String(body['user_id']), text)
      return [200, { results: [] }]
    }
    if (path === '/search' && method === 'POST') {
      const owner = age === 'old' ? body['user_id'] : (body['filters'] as Body | undefined)?.['user_id']
      if (typeof owner !== 'string') return [500, { detail: "At least one of 'user_id', 'agent_id', or 'run_id' must be provided." }]
      const found = shelf.search(owner, String(body['query']), 100)
      return [200, { results: found.map(({ id, text }) => ({ id, memory: text })) }]
    }
    const [, id] = /^\/memories\/([^/]+)$/.exec(path) ?? []
    if (method === 'DELETE' && id) return shelf.remove(id) ? [200, { message: 'ok' }] : [404, { detail: 'not found' }]
    return [404, { detail: 'Not Found' }]
  }
}

/** Supermemory. */
export function supermemory(): Service {
  const shelf = new Shelf()
  return ({ method, path, body }) => {
    const tag = String(body['containerTag'] ?? (body['containerTags'] as string[] | undefined)?.[0])
    if (path === '/v4/profile') return [200, { profile: { static: [], dynamic: [] } }]
    if (path === '/v3/documents') return [200, { id: shelf.add(tag, String(body['content'])), status: 'queued' }]
    if (path === '/v4/conversations') {
      if (typeof body['conversationId'] !== 'string') return [400, { error: 'conversationId is required' }]
      for (const text of texts(body['messages'])) shelf.add(tag, text)
      return [200, { id: body['conversationId'], status: 'queued' }]
    }
    if (path === '/v4/search') {
      const found = shelf.search(tag, String(body['q']), Number(body['limit'] ?? 10))
      const results = found.map(({ id, text, score }) => ({ id, memory: text, similarity: score, metadata: null }))
      return [200, { results, timing: 1, total: results.length }]
    }
    if (path === '/v4/memories' && method === 'DELETE')
      return shelf.remove(String(body['id'])) ? [200, { id: body['id'], forgotten: true }] : [404, { error: 'Memory not found' }]
    return [404, { error: 'Not found' }]
  }
}

/** Honcho, with what it draws conclusions from kept verbatim. */
export function honcho(): Service {
  const shelf = new Shelf()
  const [workspaces, peers, sessions] = [new Set<string>(), new Set<string>(), new Set<string>()]
  return ({ method, path, body, query }) => {
    if (method === 'POST' && path === '/v3/workspaces') {
      workspaces.add(String(body['id']))
      return [200, { id: body['id'], metadata: {}, configuration: {}, created_at: new Date(0).toISOString() }]
    }
    const [, workspace = '', rest = ''] = /^\/v3\/workspaces\/([^/]+)\/(.+)$/.exec(path) ?? []
    if (!workspaces.has(workspace)) return [404, { detail: 'Workspace not found' }]
    const made = { id: body['id'], workspace_id: workspace, metadata: {}, configuration: {}, is_active: true, created_at: new Date(0).toISOString() }
    if (rest === 'peers') return peers.add(String(body['id'])), [200, made]
    if (rest === 'sessions') return sessions.add(String(body['id'])), [200, made]
    const [, session] = /^sessions\/([^/]+)\/messages$/.exec(rest) ?? []
    if (session !== undefined) {
      if (!sessions.has(session)) return [404, { detail: 'Session not found' }]
      const messages = body['messages'] as { peer_id: string; content: string }[]
      if (messages.some(({ peer_id }) => !peers.has(peer_id))) return [422, { detail: 'Unknown peer' }]
      for (const { peer_id, content } of messages) shelf.add(peer_id, content)
      return [201, messages.map((message, index) => ({ id: `x${index}`, ...message }))]
    }
    if (rest === 'conclusions' && method === 'POST') {
      const conclusions = body['conclusions'] as { content: string; observed_id: string }[]
      return [201, conclusions.map((one) => ({ ...one, id: shelf.add(one.observed_id, one.content), level: 'explicit' }))]
    }
    if (rest === 'conclusions/query') {
      const observed = String((body['filters'] as Body)['observed_id'])
      const found = shelf.search(observed, String(body['query']), Number(body['top_k']))
      return [200, found.map(({ id, text }) => ({ id, content: text, observer_id: 'hermes', observed_id: observed, session_id: null }))]
    }
    const [, conclusion] = /^conclusions\/([^/]+)$/.exec(rest) ?? []
    if (conclusion !== undefined && method === 'DELETE')
      return shelf.remove(conclusion) ? [204] : [404, { detail: 'Conclusion not found' }]
    if (/^peers\/[^/]+\/context$/.test(rest))
      return [200, { peer_id: 'hermes', target_id: query.get('target'), representation: null, peer_card: null }]
    return [404, { detail: `no route ${method} ${path}` }]
  }
}

/** An endpoint for embeddings: as many dimensions as there are words in its small world, each the count of one. */
export function embeddings(): Service {
  return ({ path, body }) => {
    if (path !== '/v1/embeddings') return [404, { error: { message: 'not found' } }]
    const input = body['input'] as string[]
    return [200, { object: 'list', model: body['model'], data: input.map((text, index) => ({ index, embedding: vectorOf(text) })) }]
  }
}

function vectorOf(text: string): number[] {
  const vector = Array<number>(64).fill(0)
  for (const word of text.toLowerCase().match(/\w{3,}/g) ?? []) {
    let hash = 7
    for (const letter of word) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0
    vector[hash % 64]!++
  }
  return vector
}
