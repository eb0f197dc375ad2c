// Sessions of the store over HTTP: listed, read, searched, titled and forked; each person's own, the owner all.
import { randomBytes } from 'node:crypto'
import { HermesError, isJsonObject } from '@hermes/contracts'
import { liveEntries, messageText } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import type { SessionHost } from '@hermes/host'
import type { Runtime } from '@hermes/runtime'
import { ApiError } from './api-error.js'

const MAX_LIMIT = 100
const MAX_TEXT_CHARS = 20_000
const MAX_TITLE_CHARS = 200

/** Who asks, and with which query; `null` is the owner. */
interface Asking {
  readonly person: string | null
  readonly query: Readonly<Record<string, string>>
}

/** Answers the requests about stored sessions. */
export class StoredSessionRoutes {
  readonly #runtime: Pick<Runtime, 'storage'>
  readonly #host: Pick<SessionHost, 'release'>

  constructor(runtime: Pick<Runtime, 'storage'>, host: Pick<SessionHost, 'release'>) {
    this.#runtime = runtime
    this.#host = host
  }

  /** `limit` (1 to 100, default 20), `offset`, `source`. @throws ApiError 400 */
  async list({ person, query }: Asking): Promise<object> {
    const limit = numberIn(query, 'limit', { min: 1, max: MAX_LIMIT, otherwise: 20 })
    const offset = numberIn(query, 'offset', { min: 0, max: 1_000_000, otherwise: 0 })
    const { source } = query
    const { sessions } = await this.#runtime.storage()
    const found = await sessions.list({
      ...filterOf(person),
      ...(source === undefined ? {} : { source }),
      limit: limit + 1,
      offset,
    })
    return { object: 'list', data: found.slice(0, limit).map(shown), has_more: found.length > limit }
  }

  /** Messages that have the words of `q`, newest first. @throws ApiError 400 */
  async search({ person, query }: Asking): Promise<object> {
    const { q = '', session_id: sessionId } = query
    if (q.trim() === '')
      throw new ApiError("'q' is missing: the words to look for.", { code: 'missing_required_parameter', param: 'q' })
    const limit = numberIn(query, 'limit', { min: 1, max: MAX_LIMIT, otherwise: 10 })
    const { search } = await this.#runtime.storage()
    const hits = await search.find(q, {
      ...filterOf(person),
      ...(sessionId === undefined ? {} : { sessionId }),
      limit,
    })
    const data = hits.map(({ sessionId: session, seq, role, atMs, snippet, title, source }) => {
      return { object: 'session.hit', session_id: session, seq, role, at_ms: atMs, snippet, title, source }
    })
    return { object: 'list', data }
  }

  /** @throws ApiError 404, also for a session of another person */
  async get(id: string, { person }: Pick<Asking, 'person'>): Promise<object> {
    return shown(await this.#session(id, person))
  }

  /** What was said, after the entry `after`, `limit` at most (default 100). @throws ApiError 404, 400 */
  async messages(id: string, { person, query }: Asking): Promise<object> {
    await this.#session(id, person)
    const after = numberIn(query, 'after', { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 })
    const limit = numberIn(query, 'limit', { min: 1, max: MAX_LIMIT, otherwise: MAX_LIMIT })
    const { log } = await this.#runtime.storage()
    const data = liveEntries(await log.entries(id)).flatMap((entry) => {
      if (entry.type !== 'message' || entry.seq <= after || entry.message.role === 'system') return []
      const content = messageText(entry.message)
      if (content === '') return []
      const { role } = entry.message
      return [
        {
          object: 'session.message',
          seq: entry.seq,
          role,
          at_ms: entry.atMs,
          content: content.slice(0, MAX_TEXT_CHARS),
        },
      ]
    })
    return { object: 'list', data: data.slice(0, limit), has_more: data.length > limit }
  }

  /** A title, or none (`null`). @throws ApiError 404, 400, 409 for a title that another session has */
  async change(id: string, { person }: Pick<Asking, 'person'>, body: string): Promise<object> {
    const { title } = objectIn(body)
    if (title !== null && (typeof title !== 'string' || title.trim() === '' || title.length > MAX_TITLE_CHARS))
      throw new ApiError(`'title' has to be a text of 1 to ${MAX_TITLE_CHARS} characters, or null.`, {
        code: 'invalid_value',
        param: 'title',
      })
    await this.#session(id, person)
    const { sessions } = await this.#runtime.storage()
    await named(() => sessions.update(id, { title: title === null ? null : title.trim() }))
    return shown(await this.#session(id, person))
  }

  /** A session with all that was said, or up to the entry `up_to`. @throws ApiError 404, 400, 409 for a title that another session has */
  async fork(id: string, { person }: Pick<Asking, 'person'>, body: string): Promise<object> {
    const { title, up_to: upTo } = body === '' ? {} : objectIn(body)
    if (upTo !== undefined && upTo !== null && (!Number.isSafeInteger(upTo) || (upTo as number) < 1))
      throw new ApiError("'up_to' has to be the seq of a message.", { code: 'invalid_value', param: 'up_to' })
    if (title !== undefined && title !== null && (typeof title !== 'string' || title.length > MAX_TITLE_CHARS))
      throw new ApiError(`'title' has to be a text of at most ${MAX_TITLE_CHARS} characters.`, {
        code: 'invalid_value',
        param: 'title',
      })
    await this.#session(id, person)
    const { sessions } = await this.#runtime.storage()
    const fork = await named(() =>
      sessions.fork({
        from: id,
        id: `${id.slice(0, 64)}-${randomBytes(4).toString('hex')}`,
        ...(typeof upTo === 'number' ? { upToSeq: upTo } : {}),
        ...(typeof title === 'string' && title.trim() !== '' ? { title: title.trim() } : {}),
      }),
    )
    return shown(fork)
  }

  /** Removes it and its log. @throws ApiError 404; 409 while something goes on in it, here or elsewhere */
  async remove(id: string, { person }: Pick<Asking, 'person'>): Promise<object> {
    await this.#session(id, person)
    const { sessions } = await this.#runtime.storage()
    if (!(await this.#host.release(id))) throw busy(id)
    try {
      await sessions.delete(id)
    } catch (error) {
      if (HermesError.isInstance(error) && error.code === 'store.session_busy') throw busy(id)
      throw error
    }
    return { id, object: 'session.deleted', deleted: true }
  }

  async #session(id: string, person: string | null): Promise<SessionInfo> {
    const session = await (await this.#runtime.storage()).sessions.get(id)
    if (session && (person === null || session.person === person)) return session
    throw new ApiError(`There is no session "${id}".`, { status: 404, code: 'session_not_found' })
  }
}

function busy(id: string): ApiError {
  const message = `Session ${id} is in use. Interrupt what runs there, or close it where it is open; then try again.`
  return new ApiError(message, { status: 409, code: 'session_busy', headers: { 'x-should-retry': 'false' } })
}

/** The owner sees all. */
const filterOf = (person: string | null) => (person === null ? {} : { person })

async function named<Result>(change: () => Promise<Result>): Promise<Result> {
  try {
    return await change()
  } catch (error) {
    if (!HermesError.isInstance(error) || error.code !== 'store.title_taken') throw error
    throw new ApiError(error.message, { status: 409, code: 'title_taken', param: 'title' })
  }
}

function numberIn(
  query: Readonly<Record<string, string>>,
  name: string,
  { min, max, otherwise }: { readonly min: number; readonly max: number; readonly otherwise: number },
): number {
  const text = query[name]
  if (text === undefined) return otherwise
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new ApiError(`'${name}' has to be a number from ${min} to ${max}.`, { code: 'invalid_value', param: name })
}

function objectIn(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    if (isJsonObject(value)) return value
  } catch {
    // Refused below.
  }
  throw new ApiError('The body has to be a JSON object.', { code: 'invalid_json' })
}

function shown(session: SessionInfo) {
  const { id, source, title, model, provider, parentSessionId, startedAtMs, lastActiveAtMs, endedAtMs, preview } =
    session
  return {
    id,
    object: 'session',
    ...{ source, title, model, provider },
    parent_session_id: parentSessionId,
    started_at_ms: startedAtMs,
    last_active_at_ms: lastActiveAtMs,
    ended_at_ms: endedAtMs,
    message_count: session.messageCount,
    preview,
  }
}
