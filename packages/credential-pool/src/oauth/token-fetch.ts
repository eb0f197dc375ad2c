import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { createOriginFetch } from '@hermes/safety'

/** A fetch that reaches the origin of the address and nothing else. */
export type FetchTo = (address: string) => typeof fetch

/**
 * The way to one endpoint of an authorization server. Answers that depart from RFC 6749 in known ways are put right: errors with status
 * 200, errors as objects, and challenges beside a plain error. ID tokens are left out, nobody reads them.
 */
export function createTokenFetch(endpoint: string, fetchTo: FetchTo = pinned): typeof fetch {
  const send = fetchTo(endpoint)
  return async (input, init) => {
    const body = init?.body instanceof URLSearchParams ? init.body.toString() : init?.body
    return toStandard(await send(input, { ...init, ...(body === undefined ? {} : { body }) }))
  }
}

function pinned(baseUrl: string): typeof fetch {
  return createOriginFetch({ baseUrl })
}

async function toStandard(response: Response): Promise<Response> {
  const text = await response.text()
  const headers = new Headers(response.headers)
  const plain = (body: string | null, status: number) => new Response(body, { status, headers })
  const json = parseObject(text)
  if (!json) return plain(text === '' ? null : text, response.status)
  headers.delete('content-length')
  headers.set('content-type', 'application/json')
  const { id_token: _unread, ...rest } = json
  const error = errorOf(rest)
  if (!error || response.status >= 500) return plain(JSON.stringify(rest), response.status)
  headers.delete('www-authenticate')
  return plain(JSON.stringify({ ...rest, ...error }), response.status === 200 ? 400 : response.status)
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

function errorOf({ error, access_token }: JsonObject): JsonObject | null {
  if (typeof error === 'string' && error !== '' && access_token === undefined) return { error }
  if (!isJsonObject(error)) return null
  const { code, type, message } = error
  const word = [code, type].find((value) => typeof value === 'string')
  if (word === undefined) return null
  return { error: word, ...(typeof message === 'string' ? { error_description: message } : {}) }
}
