import { isJsonObject, type JsonObject } from '@hermes/contracts'
import type { CallOptions, KeptTurn, MemoryProvider, Recalled } from '@hermes/contracts/memory'
import type { ServiceOptions } from './service.js'
import { type AskService, badReply, objects, openService } from './service.js'

const TITLE = 'Mem0'
const PLATFORM = 'https://api.mem0.ai'

/**
 * Mem0: its platform, or a server of one's own, which has other paths and takes the key in another header.
 * @see https://docs.mem0.ai/api-reference (checked against mem0ai 3.3.1), and the REST server of mem0's repository
 */
export function createMem0(options: ServiceOptions): MemoryProvider {
  return new Mem0(options, options.baseUrl.startsWith(PLATFORM) ? platform : ownServer)
}

interface Paths {
  readonly add: string
  readonly search: string
  readonly one: (id: string) => string
  /** What costs nothing and needs the key; `null` where only a search tells whether searching works. */
  readonly ping: string | null
  readonly auth: (key: string) => Readonly<Record<string, string>>
  /** Whose memories a search looks through. */
  readonly scope: (userId: string) => JsonObject
}

const platform: Paths = {
  add: '/v3/memories/add/',
  search: '/v3/memories/search/',
  one: (id) => `/v1/memories/${encodeURIComponent(id)}/`,
  ping: '/v1/ping/',
  auth: (key) => ({ authorization: `Token ${key}` }),
  scope: (userId) => ({ filters: { user_id: userId } }),
}
const ownServer: Paths = {
  add: '/memories',
  search: '/search',
  one: (id) => `/memories/${encodeURIComponent(id)}`,
  ping: null,
  auth: (key) => ({ 'x-api-key': key }),
  // Servers before 1.0 read the first alone, those of today the second.
  scope: (userId) => ({ user_id: userId, filters: { user_id: userId } }),
}

class Mem0 implements MemoryProvider {
  readonly name = 'mem0'
  readonly #paths: Paths
  readonly #ask: AskService
  readonly #options: ServiceOptions

  constructor(options: ServiceOptions, paths: Paths) {
    const { fetch, baseUrl, apiKey } = options
    this.#options = options
    this.#paths = paths
    this.#ask = openService({ title: TITLE, fetch, baseUrl, headers: apiKey === null ? {} : paths.auth(apiKey) })
  }

  async recall(
    query: string,
    { limit, signal }: CallOptions & { readonly limit: number },
  ): Promise<readonly Recalled[]> {
    const scope = this.#paths.scope(this.#options.userId)
    const reply = await this.#ask('POST', this.#paths.search, {
      signal,
      body: { query, ...scope, top_k: limit, limit },
    })
    const found = objects(isJsonObject(reply) ? reply['results'] : reply)
    if (!found) throw badReply(TITLE)
    return found
      .flatMap(({ id, memory }) =>
        typeof memory === 'string' ? [{ id: typeof id === 'string' ? id : null, text: memory }] : [],
      )
      .slice(0, limit)
  }

  async keep({ sessionId, user, assistant }: KeptTurn, { signal }: CallOptions): Promise<void> {
    const messages = [
      { role: 'user', content: user },
      { role: 'assistant', content: assistant },
    ]
    await this.#add({ messages, run_id: sessionId }, signal)
  }

  async store(text: string, { signal }: CallOptions): Promise<void> {
    await this.#add({ messages: [{ role: 'user', content: text }], infer: false }, signal)
  }

  async forget(id: string, { signal }: CallOptions): Promise<boolean> {
    return (await this.#ask('DELETE', this.#paths.one(id), { signal })) !== null
  }

  async check({ signal }: CallOptions): Promise<void> {
    const { ping } = this.#paths
    if (ping === null) await this.recall('check', { limit: 1, signal })
    else await this.#ask('GET', ping, { signal })
  }

  async close(): Promise<void> {}

  async #add(body: JsonObject, signal: AbortSignal): Promise<void> {
    const { userId, workspace } = this.#options
    await this.#ask('POST', this.#paths.add, {
      signal,
      body: { ...body, user_id: userId, metadata: { app: workspace } },
    })
  }
}
