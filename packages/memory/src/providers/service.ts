import type { JsonObject } from '@hermes/contracts'
import { errorLine, HermesError, isAbort, isJsonObject } from '@hermes/contracts'

/** What a service is and how it is spoken to. */
interface ServiceAddress {
  /** For messages, for example `Honcho`. */
  readonly title: string
  readonly fetch: typeof globalThis.fetch
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Asks a service that speaks JSON; `path` is below the base URL, with its leading slash. An empty reply is `true`; `null` says that what
 * was to be deleted is not there. Rejects with a HermesError `memory.provider_unauthorized`, `_refused`, `_unavailable` or `_bad_reply`;
 * abort passes through.
 */
export type AskService = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  request: { readonly body?: JsonObject; readonly signal: AbortSignal },
) => Promise<unknown>

/** What comes beyond it is neither waited for nor kept. */
const MAX_REPLY_BYTES = 4_000_000
const DETAIL_CHARS = 160

/** The way to a service. */
export function openService(service: ServiceAddress): AskService {
  return (...request) => ask(service, request)
}

/** The header of a key that most services take. */
export function bearer(apiKey: string | null): Readonly<Record<string, string>> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
}

async function ask(
  { title, fetch, baseUrl, headers }: ServiceAddress,
  [method, path, { body, signal }]: Parameters<AskService>,
): Promise<unknown> {
  let status: number
  let text: string
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}${path}`, {
      method,
      headers: { accept: 'application/json', ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal,
    })
    status = response.status
    text = await beginning(response)
  } catch (error) {
    if (isAbort(error) || signal.aborted || HermesError.isInstance(error)) throw error
    throw failure('unavailable', `${title} cannot be reached: ${errorLine(error)}.`, { cause: error })
  }
  if (method === 'DELETE' && status === 404) return null
  if (status < 200 || status >= 300) throw refusal(title, status, text)
  if (text.trim() === '') return true
  try {
    return JSON.parse(text)
  } catch (error) {
    throw failure('bad_reply', `${title} answered with something that is no JSON.`, { cause: error })
  }
}

/** All of a reply of a sensible size, the beginning of any other. */
async function beginning({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  // Leaving the loop cancels the rest.
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    bytes += chunk.length
    if (bytes > MAX_REPLY_BYTES) break
  }
  return text + decoder.decode()
}

/** @throws HermesError `memory.provider_bad_reply` */
export function badReply(title: string): HermesError {
  return failure('bad_reply', `${title} answered in a form that is not its own; is its address right?`)
}

/** The objects of a list; whatever else is in it is left out. `null` when there is no list. */
export function objects(value: unknown): readonly JsonObject[] | null {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : null
}

function refusal(title: string, status: number, body: string): HermesError {
  const detail = text(body)
  if (status === 401 || status === 403)
    return failure(
      'unauthorized',
      `${title} does not take the key (${status})${detail}. Check it with hermes memory status.`,
    )
  const kind = status === 429 || status >= 500 ? 'unavailable' : 'refused'
  return failure(kind, `${title} answered ${status}${detail}.`, { details: { status } })
}

/** What the service says went wrong, on one line. */
function text(body: string): string {
  let text = body
  try {
    text = reasonIn(JSON.parse(body))
  } catch {
    text = /^\s*</.test(body) ? '' : body
  }
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, DETAIL_CHARS)
  return line === '' ? '' : `: ${line}`
}

/** Services put it in a text, in an object or in a list of such. */
function reasonIn(reply: unknown): string {
  if (typeof reply === 'string') return reply
  if (Array.isArray(reply)) return reasonIn(reply[0])
  if (!isJsonObject(reply)) return ''
  return reasonIn(reply['detail'] ?? reply['message'] ?? reply['msg'] ?? reply['error'])
}

type FailureKind = 'unauthorized' | 'refused' | 'unavailable' | 'bad_reply'

function failure(
  kind: FailureKind,
  message: string,
  more: { readonly cause?: unknown; readonly details?: Readonly<Record<string, number>> } = {},
): HermesError {
  return new HermesError(message, { code: `memory.provider_${kind}`, retryable: kind === 'unavailable', ...more })
}

/** What a provider over HTTP is made of. */
export interface ServiceOptions {
  /** Reaches `baseUrl` and nothing else. */
  readonly fetch: typeof globalThis.fetch
  readonly baseUrl: string
  /** `null` where the service runs without one. */
  readonly apiKey: string | null
  /** Whose memories these are. */
  readonly userId: string
  /** Keeps programs apart that use the same account. */
  readonly workspace: string
}
