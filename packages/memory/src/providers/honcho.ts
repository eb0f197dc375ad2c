import { isJsonObject, type JsonObject } from '@hermes/contracts'
import type { CallOptions, KeptTurn, MemoryProvider, Recalled } from '@hermes/contracts/memory'
import type { ServiceOptions } from './service.js'
import { type AskService, badReply, bearer, objects, openService } from './service.js'

const TITLE = 'Honcho'
const AGENT = 'hermes'
/** The service refuses longer messages. */
const MAX_MESSAGE_CHARS = 25_000

/**
 * Honcho, which draws conclusions about people from what they say: the person and the agent are peers of a workspace, each session one
 * of theirs. Workspace, peers and session are made when they are first needed.
 * @see https://docs.honcho.dev/v3/api-reference (checked against @honcho-ai/sdk 2.5.0)
 */
export function createHoncho(options: ServiceOptions): MemoryProvider {
  return new Honcho(options)
}

class Honcho implements MemoryProvider {
  readonly name = 'honcho'
  readonly #ask: AskService
  readonly #root: string
  readonly #workspace: string
  readonly #person: string
  readonly #sessions = new Set<string>()
  #isReady = false

  constructor({ fetch, baseUrl, apiKey, userId, workspace }: ServiceOptions) {
    this.#ask = openService({ title: TITLE, fetch, baseUrl, headers: bearer(apiKey) })
    this.#workspace = toId(workspace)
    this.#person = toId(userId)
    this.#root = `/v3/workspaces/${this.#workspace}`
  }

  async recall(
    query: string,
    { limit, signal }: CallOptions & { readonly limit: number },
  ): Promise<readonly Recalled[]> {
    await this.#ready(signal)
    const filters = { observer_id: AGENT, observed_id: this.#person }
    const body = { query, top_k: limit, filters }
    const search = new URLSearchParams({ target: this.#person, search_query: query, search_top_k: String(limit) })
    const [conclusions, context] = await Promise.all([
      this.#ask('POST', `${this.#root}/conclusions/query`, { signal, body }),
      this.#ask('GET', `${this.#root}/peers/${AGENT}/context?${search}`, { signal }),
    ])
    const found = objects(conclusions)
    if (!found || !isJsonObject(context)) throw badReply(TITLE)
    const drawn = found.flatMap(({ id, content }) =>
      typeof content === 'string' ? [{ id: typeof id === 'string' ? id : null, text: content }] : [],
    )
    return [...drawn, ...cardOf(context)].slice(0, limit)
  }

  async keep({ sessionId, user, assistant, atMs }: KeptTurn, { signal }: CallOptions): Promise<void> {
    await this.#ready(signal)
    const session = toId(sessionId)
    if (!this.#sessions.has(session)) {
      const peers: JsonObject = {
        [this.#person]: { observe_me: true },
        [AGENT]: { observe_me: false, observe_others: true },
      }
      await this.#ask('POST', `${this.#root}/sessions`, { signal, body: { id: session, peers } })
      this.#sessions.add(session)
    }
    const createdAt = new Date(atMs).toISOString()
    const message = (peer: string, text: string) => ({
      peer_id: peer,
      content: text.slice(0, MAX_MESSAGE_CHARS).toWellFormed(),
      created_at: createdAt,
    })
    const messages = [message(this.#person, user), message(AGENT, assistant)]
    await this.#ask('POST', `${this.#root}/sessions/${session}/messages`, { signal, body: { messages } })
  }

  async store(text: string, { signal }: CallOptions): Promise<void> {
    await this.#ready(signal)
    const conclusion = { content: text, observer_id: AGENT, observed_id: this.#person, session_id: null }
    await this.#ask('POST', `${this.#root}/conclusions`, { signal, body: { conclusions: [conclusion] } })
  }

  async forget(id: string, { signal }: CallOptions): Promise<boolean> {
    return (await this.#ask('DELETE', `${this.#root}/conclusions/${encodeURIComponent(id)}`, { signal })) !== null
  }

  async check({ signal }: CallOptions): Promise<void> {
    this.#isReady = false
    await this.#ready(signal)
  }

  async close(): Promise<void> {}

  async #ready(signal: AbortSignal): Promise<void> {
    if (this.#isReady) return
    await this.#ask('POST', '/v3/workspaces', { signal, body: { id: this.#workspace } })
    for (const id of [this.#person, AGENT]) await this.#ask('POST', `${this.#root}/peers`, { signal, body: { id } })
    this.#isReady = true
  }
}

/** What it says about the person in general. */
function cardOf({ peer_card: card }: JsonObject): Recalled[] {
  return Array.isArray(card) ? card.flatMap((line) => (typeof line === 'string' ? [{ id: null, text: line }] : [])) : []
}

function toId(text: string): string {
  return text.replace(/[^\w-]/g, '-').slice(0, 100) || 'user'
}
