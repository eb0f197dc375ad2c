// The routes of runs.
import { ApiError } from '../api-error.js'
import { type BackgroundRuns, shown } from './background-runs.js'

const MAX_LISTED = 100
const DEFAULT_LISTED = 20

/** A request about runs. */
export interface RunCall {
  readonly person: string | null
  readonly body: string
  readonly idempotencyKey: string | undefined
  readonly lastEventId: string | undefined
  readonly query: Readonly<Record<string, string>>
}

type Routed = Pick<BackgroundRuns, 'begin' | 'get' | 'list' | 'events' | 'approve' | 'steer' | 'stop'>

/** Answers the requests about runs. */
export class RunRoutes {
  readonly #runs: Routed

  constructor(runs: Routed) {
    this.#runs = runs
  }

  /** @throws ApiError as {@link BackgroundRuns.begin} */
  async begin({ person, body, idempotencyKey: key }: RunCall): Promise<Response> {
    const { run, isReplay } = await this.#runs.begin({ body, person, key })
    const headers: Record<string, string> = isReplay ? { 'idempotency-replayed': 'true' } : {}
    return Response.json(shown(run), { status: 202, headers })
  }

  /** Newest first: `limit` (1 to 100, default 20), those of `session_id`, with `status`. @throws ApiError 400 for another limit */
  async list({ person, query }: RunCall): Promise<Response> {
    const { limit = String(DEFAULT_LISTED), session_id: session, status } = query
    const most = /^\d{1,3}$/.test(limit) ? Number(limit) : 0
    if (most < 1 || most > MAX_LISTED)
      throw new ApiError(`'limit' has to be a number from 1 to ${MAX_LISTED}.`, {
        code: 'invalid_value',
        param: 'limit',
      })
    const all = (await this.#runs.list(person)).filter(
      (run) => (session === undefined || run.sessionId === session) && (status === undefined || run.status === status),
    )
    return Response.json({ object: 'list', data: all.slice(0, most).map(shown), has_more: all.length > most })
  }

  /** @throws ApiError 404 */
  async get(id: string, { person }: RunCall): Promise<Response> {
    return Response.json(shown(await this.#runs.get(id, person)))
  }

  /** @throws ApiError 404 */
  async events(id: string, { person, lastEventId }: RunCall): Promise<Response> {
    const body = await this.#runs.events(id, person, lastEventId)
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
    })
  }

  /** Answers what it waits for. @throws ApiError as {@link BackgroundRuns.approve} */
  async approve(id: string, { person, body }: RunCall): Promise<Response> {
    return Response.json(shown(await this.#runs.approve(id, person, body)))
  }

  /** `steer` with a text, or `stop`. @throws ApiError 404, 409 where the run is not in such a state, 400 */
  async act(id: string, action: string, { person, body }: RunCall): Promise<Response> {
    switch (action) {
      case 'steer':
        return Response.json(shown(await this.#runs.steer(id, person, textIn(body))))
      case 'stop':
        return Response.json(shown(await this.#runs.stop(id, person)))
      default:
        throw new ApiError(`There is no action "${action}". Actions: steer, stop.`, {
          code: 'unknown_action',
        })
    }
  }
}

function textIn(body: string): string {
  let input: unknown = null
  try {
    input = JSON.parse(body)
  } catch {
    // Refused below.
  }
  const { text, input: words } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  const found = [text, words].find((each) => typeof each === 'string' && each.trim() !== '')
  if (typeof found === 'string') return found
  throw new ApiError('Give the text as JSON: {"text": "…"}.', { code: 'invalid_text', param: 'text' })
}
