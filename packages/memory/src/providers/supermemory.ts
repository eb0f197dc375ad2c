import { isJsonObject, type JsonObject } from '@hermes/contracts'
import type { CallOptions, KeptTurn, MemoryProvider, Recalled } from '@hermes/contracts/memory'
import type { ServiceOptions } from './service.js'
import { type AskService, badReply, bearer, objects, openService } from './service.js'

const TITLE = 'Supermemory'

/** Supermemory, hosted or one's own. @see https://supermemory.ai/docs/api-reference (checked against supermemory 4.25.4) */
export function createSupermemory(options: ServiceOptions): MemoryProvider {
  return new Supermemory(options)
}

class Supermemory implements MemoryProvider {
  readonly name = 'supermemory'
  readonly #ask: AskService
  /** Memories of other programs and people are out of its reach. */
  readonly #tag: string

  constructor({ fetch, baseUrl, apiKey, userId, workspace }: ServiceOptions) {
    this.#ask = openService({ title: TITLE, fetch, baseUrl, headers: bearer(apiKey) })
    this.#tag = `${workspace}_${userId}`.replace(/[^\w-]/g, '_').slice(0, 100)
  }

  async recall(
    query: string,
    { limit, signal }: CallOptions & { readonly limit: number },
  ): Promise<readonly Recalled[]> {
    const body = { q: query, containerTag: this.#tag, limit, searchMode: 'hybrid' }
    const reply = await this.#ask('POST', '/v4/search', { signal, body })
    const found = objects(isJsonObject(reply) ? reply['results'] : null)
    if (!found) throw badReply(TITLE)
    return found.flatMap(toRecalled).slice(0, limit)
  }

  async keep({ sessionId, user, assistant }: KeptTurn, { signal }: CallOptions): Promise<void> {
    const messages = [
      { role: 'user', content: user },
      { role: 'assistant', content: assistant },
    ]
    const body = { conversationId: sessionId, messages, containerTags: [this.#tag] }
    await this.#ask('POST', '/v4/conversations', { signal, body })
  }

  async store(text: string, { signal }: CallOptions): Promise<void> {
    await this.#ask('POST', '/v3/documents', { signal, body: { content: text, containerTag: this.#tag } })
  }

  async forget(id: string, { signal }: CallOptions): Promise<boolean> {
    const reply = await this.#ask('DELETE', '/v4/memories', { signal, body: { id, containerTag: this.#tag } })
    return reply !== null
  }

  async check({ signal }: CallOptions): Promise<void> {
    await this.#ask('POST', '/v4/profile', { signal, body: { containerTag: this.#tag } })
  }

  async close(): Promise<void> {}
}

/** A memory, or a piece of a document; only memories can be forgotten one by one. */
function toRecalled({ id, memory, chunk }: JsonObject): Recalled[] {
  if (typeof memory === 'string') return [{ id: typeof id === 'string' ? id : null, text: memory }]
  return typeof chunk === 'string' ? [{ id: null, text: chunk }] : []
}
