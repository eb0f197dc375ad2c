import { isJsonObject, type JsonValue } from '@hermes/contracts'

/** What can be known about a failed call without reading prose. */
export interface ErrorFacts {
  readonly status: number | null
  /** `code` and `type` of the error body, in lower case. */
  readonly codes: readonly string[]
  /** The vendor's words as they came. */
  readonly message: string
  /** Whether a server said them, rather than the network layer. */
  readonly isAnswer: boolean
  readonly headers: Headers | null
  /** What the vendor's support asks for. */
  readonly requestId: string | null
  /** Codes of the network layer and names of thrown errors, outermost first. */
  readonly causes: readonly string[]
}

const MAX_CAUSES = 6

/** Error types and codes that stand for a status where there is none: inside a stream. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
  server_error: 500,
  server_is_overloaded: 503,
  slow_down: 503,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  model_not_found: 404,
  context_length_exceeded: 400,
  invalid_encrypted_content: 400,
  invalid_prompt: 400,
  bio_policy: 400,
  misalignment_policy_violation: 400,
  image_content_policy_violation: 400,
  image_too_large: 400,
  image_file_too_large: 400,
}

/** Whether a code of Node is about a certificate that does not convince. */
export function isUntrusted(code: string): boolean {
  return /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY)_|ERR_TLS_CERT_|INVALID_CA$)[A-Z_]*$/.test(code)
}

/** Whether a code of Node means that the other side answers in the clear. */
export function isNoTls(code: string): boolean {
  return code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
}

/** Gathers facts from an error of an SDK, of `fetch`, or of anything else. Never throws. */
export function errorFacts(error: unknown): ErrorFacts {
  const fields = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
  const body = bodyOf(fields['error'] ?? embedded(fields['message']))
  const details = isJsonObject(body['details']) ? body['details'] : {}
  const inner = isJsonObject(body['innererror']) ? body['innererror'] : {}
  const input = [body['code'], body['type'], body['status'], details['error_code'], inner['code']]
  const codes = [...input, fields['code'], fields['type']]
    .filter((code): code is string | number => typeof code === 'string' || typeof code === 'number')
    .map((code) => String(code).toLowerCase())
  const headers = headersOf(fields['headers'])
  return {
    status: statusOf(fields, body),
    codes,
    message: messageOf(error, body),
    isAnswer: Object.keys(body).length > 0,
    headers,
    requestId: headers?.get('request-id') ?? headers?.get('x-request-id') ?? null,
    causes: causesOf(error),
  }
}

function statusOf(fields: Record<string, unknown>, body: Record<string, JsonValue | undefined>): number | null {
  if (typeof fields['status'] === 'number') return fields['status']
  const code = Number(body['code'])
  if (code >= 400 && code < 600) return code
  return STATUS_OF_TYPE[String(body['type'])] ?? STATUS_OF_TYPE[String(body['code'])] ?? null
}

function bodyOf(value: unknown): Record<string, JsonValue | undefined> {
  // Google answers with a list of one.
  if (Array.isArray(value)) return bodyOf(value[0])
  if (!isJsonObject(value)) return {}
  // MiniMax has a place of its own for it.
  const { error, base_resp: base } = value
  if (isJsonObject(base)) return { code: base['status_code'], message: base['status_msg'] }
  return isJsonObject(error) ? error : value
}

/** Where an SDK finds no error in a body, it gives the body as text after the status. */
function embedded(message: unknown): unknown {
  const text = typeof message === 'string' ? message.replace(/^\d{3} /, '') : ''
  if (!/^[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function messageOf(error: unknown, body: Record<string, JsonValue | undefined>): string {
  const metadata = isJsonObject(body['metadata']) ? body['metadata']['raw'] : undefined
  const own = body['message'] ?? body['detail'] ?? body['error']
  const text = typeof own === 'string' || own === undefined || own === null ? own : JSON.stringify(own)
  const parts = [text, metadata].filter((part): part is string => typeof part === 'string' && part !== '')
  if (parts.length > 0) return parts.join(' ')
  return error instanceof Error ? error.message : String(error)
}

function headersOf(value: unknown): Headers | null {
  if (typeof value !== 'object' || value === null) return null
  if ('get' in value && typeof value.get === 'function') return value as Headers
  const headers = new Headers()
  for (const [name, text] of Object.entries(value)) if (typeof text === 'string') headers.set(name, text)
  return headers
}

function causesOf(error: unknown): string[] {
  const found: string[] = []
  let current: unknown = error
  for (let depth = 0; depth < MAX_CAUSES && typeof current === 'object' && current !== null; depth++) {
    const { code, name, message, cause } = current as Record<string, unknown>
    for (const item of [code, name, (current as object).constructor?.name, message])
      if (typeof item === 'string' && item !== '') found.push(item)
    current = cause
  }
  return found
}
