import { errorLine, HermesError, isJsonObject, type JsonObject, type JsonValue } from '@hermes/contracts'
import type { CloudPort } from './cloud-port.js'
import type { CloudRequest, RemoteService } from './cloud-vendors.js'

const TIMEOUT_MS = 60_000
const MAX_CHARS = 1_000_000
const LONGEST_REASON = 200

/**
 * Asks who rents out browsers, against a permit. Rejects with one line that names them and says what to do: `browser.cloud_refused` (key),
 * `browser.cloud_unpaid` (credit), `browser.cloud_limited`, `browser.cloud_unreached`, `browser.cloud_silent` (no answer within `withinMs`, a minute by
 * default), `browser.cloud_failed`, or what the policy says. `signal` takes the request back. A list comes as `items`.
 */
export async function askCloud(
  vendor: RemoteService,
  { path, method, body }: CloudRequest,
  { variables, fetchTo, permit }: CloudPort,
  { withinMs = TIMEOUT_MS, signal }: { readonly withinMs?: number; readonly signal?: AbortSignal } = {},
): Promise<JsonObject> {
  const baseUrl = cloudAddress(vendor, variables)
  const url = `${baseUrl}${path}`
  const action = { type: 'fetch', url, method, chosen: 'looks' } as const
  const leave = await permit(action)
  leave.consume(action)
  const key = (variables[vendor.keyVariable] ?? '').trim()
  const timeout = AbortSignal.timeout(withinMs)
  try {
    const response = await fetchTo(baseUrl)(url, {
      method,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...vendor.headers(key) },
      body: body ? JSON.stringify(body) : null,
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
    })
    return read(vendor, response, (await response.text()).slice(0, MAX_CHARS))
  } catch (error) {
    if (HermesError.isInstance(error) && error.code.startsWith('browser.')) throw error
    if (timeout.aborted)
      throw failed(`${vendor.label} did not answer within ${withinMs / 1_000} s.`, 'cloud_silent', error)
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw failed(
      `${vendor.label} could not be asked: ${errorLine(reason).replace(/\.$/, '')}.`,
      'cloud_unreached',
      error,
    )
  }
}

/** Where it is asked. */
function cloudAddress({ baseUrl, urlVariable }: RemoteService, variables: CloudPort['variables']): string {
  return ((variables[urlVariable] ?? '').trim() || baseUrl).replace(/\/+$/, '')
}

function read({ label, keyVariable }: RemoteService, response: Response, text: string): JsonObject {
  const { status, headers } = response
  const answer = parsed(text)
  const because = answer === null ? '' : reasonIn(answer)
  if (status === 401 || status === 403)
    throw failed(`${label} refused the key (${status})${because}; look at ${keyVariable} in .env.`, 'cloud_refused')
  if (status === 402)
    throw failed(
      `${label} has no credit left for this account (402)${because}. browser.backend: local works without it.`,
      'cloud_unpaid',
    )
  if (status === 429) {
    const after = headers.get('retry-after') ?? ''
    const date = /^\d+$/.test(after) ? Number.NaN : Date.parse(after)
    const wait = /^\d+$/.test(after) ? `; it wants ${after} s of rest` : ''
    const until = Number.isNaN(date) ? '' : `; it may be asked again at ${new Date(date).toISOString()}`
    throw failed(
      `${label} has too many sessions or was asked too often (429)${because}${wait}${until}.`,
      'cloud_limited',
    )
  }
  if (status < 200 || status > 299) throw failed(`${label} answered ${status}${because}.`, 'cloud_failed')
  if (text.trim() === '') return {}
  if (answer === null || answer['success'] === false)
    throw failed(`${label} ${answer === null ? 'answered with no JSON' : `failed${because}`}.`, 'cloud_failed')
  return answer
}

function parsed(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as JsonValue
    if (Array.isArray(value)) return { items: value }
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

function reasonIn(answer: JsonObject): string {
  const found = [answer['error'], answer['message'], answer['detail']].find((value) => typeof value === 'string')
  const line = String(found ?? '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_REASON)
    .replace(/\.$/, '')
  return line === '' ? '' : `: ${line}`
}

const failed = (text: string, code: string, cause?: unknown) =>
  new HermesError(text, { code: `browser.${code}`, ...(cause === undefined ? {} : { cause }) })
