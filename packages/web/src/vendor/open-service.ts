import { errorLine, HermesError, isAbort, isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { WebCall } from '@hermes/contracts/web'
import type { Vendor } from './vendors.js'

/** A vendor as it is reached from here. */
export interface Connection {
  readonly vendor: Vendor
  /** With the path that requests begin with, without a slash at the end. */
  readonly baseUrl: string
  /** Empty for a server that wants none; `null`: it is asked without one although it knows keys. */
  readonly key: string | null
  /** Reaches the origin of `baseUrl` and nothing else. */
  readonly fetch: typeof globalThis.fetch
  /** For one request. Default 30,000. */
  readonly timeoutMs?: number
}

/** One request to a service. */
export interface ServiceRequest {
  readonly path: string
  /** Default `POST`. */
  readonly method?: 'GET' | 'POST'
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
  /** Beside those of the vendor. */
  readonly headers?: Readonly<Record<string, string>>
}

const TIMEOUT_MS = 30_000
const MAX_BYTES = 8_000_000

/**
 * Asks a service and gives the object it answers. Rejects with the abort, with what the policy says, or with a line that names the service:
 * `web.refused` (key, credit), `web.limited`, `web.no_answer`, `web.failed`.
 */
export async function askService(
  connection: Connection,
  { path, method = 'POST', query, body, headers }: ServiceRequest,
  { signal, permit }: WebCall,
): Promise<JsonObject> {
  const { vendor, baseUrl, key, fetch, timeoutMs = TIMEOUT_MS } = connection
  const url = new URL(`${baseUrl}${path}`)
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value)
  const action = { type: 'fetch', url: url.href, method, chosen: 'looks' } as const
  const leave = await permit(action)
  leave.consume(action)
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'hermes',
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(key === null ? vendor.anonymous : key === '' ? {} : vendor.headers(key)),
        ...headers,
      },
      body: body ? JSON.stringify(body) : null,
      signal: AbortSignal.any([signal, timeout]),
    })
    return readAnswer(connection, response, await limitedText(response))
  } catch (error) {
    signal.throwIfAborted()
    if (HermesError.isInstance(error) && error.code.startsWith('web.')) throw error
    const cause = isAbort(error) || timeout.aborted ? `no answer within ${timeoutMs / 1_000} s` : reasonOf(error)
    throw new HermesError(`${vendor.label} could not be asked: ${cause}.`, {
      code: 'web.no_answer',
      retryable: true,
      cause: error,
    })
  }
}

const reasonOf = (error: unknown) =>
  errorLine(error instanceof Error && error.cause instanceof Error ? error.cause : error).replace(/\.$/, '')

async function limitedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.byteLength
    if (bytes > MAX_BYTES)
      throw new HermesError(`the answer has more than ${MAX_BYTES / 1_000_000} MB`, { code: 'fetch.too_large' })
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function readAnswer({ vendor, key }: Connection, response: Response, text: string): JsonObject {
  const { label, keyVariable } = vendor
  const { status } = response
  const answer = parsed(text)
  const reason = answer === undefined ? '' : problemIn(answer)
  const because = reason === '' ? '' : `: ${reason}`
  if (status === 401 || status === 403) {
    const todo = key === null ? 'it may want a key now' : `look at ${keyVariable} in .env`
    throw new HermesError(`${label} refused the request (${status})${because}; ${todo}.`, { code: 'web.refused' })
  }
  // 432 and 433 are Tavily's words for a plan that is used up.
  if (status === 402 || status === 432 || status === 433)
    throw new HermesError(`${label} has no credit left for this account (${status})${because}.`, {
      code: 'web.refused',
    })
  if (status === 429)
    throw new HermesError(`${label} was asked too often (429)${waitOf(response)}.`, {
      code: 'web.limited',
      retryable: true,
    })
  if (status < 200 || status > 299)
    throw new HermesError(`${label} answered ${status}${because}.`, { code: 'web.failed', retryable: status >= 500 })
  if (!isJsonObject(answer)) {
    const type = response.headers.get('content-type') ?? 'nothing said'
    throw new HermesError(`${label} answered with no JSON (${type}); its address may be wrong.`, { code: 'web.failed' })
  }
  if (answer['success'] === false || (reason !== '' && Boolean(answer['error'])))
    throw new HermesError(`${label} failed${because || ' and does not say why'}.`, { code: 'web.failed' })
  return answer
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

const LONGEST_REASON = 200

/** What an answer says went wrong, on one line; empty when it does not. */
function problemIn(answer: JsonValue): string {
  if (typeof answer === 'string') return answer.replace(/\s+/g, ' ').trim().slice(0, LONGEST_REASON).replace(/\.$/, '')
  if (!isJsonObject(answer)) return ''
  for (const name of ['error', 'message', 'detail', 'reason']) {
    const value = answer[name]
    const found = value === undefined || value === null ? '' : problemIn(value)
    if (found !== '') return found
  }
  return ''
}

/** Seconds or a date, as the server wants it. */
function waitOf(response: Response): string {
  const value = response.headers.get('retry-after') ?? ''
  if (/^\d+$/.test(value)) return `; it wants ${value} s of rest`
  return Number.isNaN(Date.parse(value)) ? '' : `; it may be asked again at ${new Date(value).toISOString()}`
}
