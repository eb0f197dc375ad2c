import { isJsonObject, type JsonValue } from '@hermes/contracts'

/** What can be known about a failed call without reading prose. */
export interface ErrorFacts {
  readonly status: number | null
  /** `code` and `type` of the error body, in lower case. */
  readonly codes: readonly string[]
  /** The vendor's words as they came. */
  readonly message: string
  readonly headers: Headers | null
  /** Codes of the network layer and names of thrown errors, outermost first. */
  readonly causes: readonly string[]
}

const MAX_CAUSES = 6

/** Gathers facts from an error of an SDK, of `fetch`, or of anything else. Never throws. */
export function errorFacts(error: unknown): ErrorFacts {
  const fields = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
  const body = bodyOf(fields['error'])
  const bodyStatus = Number(body['code'])
  const status =
    typeof fields['status'] === 'number' ? fields['status'] : bodyStatus >= 400 && bodyStatus < 600 ? bodyStatus : null
  const codes = [body['code'], body['type'], fields['code'], fields['type']]
    .filter((code): code is string => typeof code === 'string')
    .map((code) => code.toLowerCase())
  return {
    status,
    codes,
    message: messageOf(error, body),
    headers: headersOf(fields['headers']),
    causes: causesOf(error),
  }
}

function bodyOf(value: unknown): Record<string, JsonValue | undefined> {
  if (!isJsonObject(value)) return {}
  return isJsonObject(value['error']) ? value['error'] : value
}

function messageOf(error: unknown, body: Record<string, JsonValue | undefined>): string {
  const metadata = isJsonObject(body['metadata']) ? body['metadata']['raw'] : undefined
  const own = typeof body['message'] === 'string' ? body['message'] : undefined
  const parts = [own, typeof metadata === 'string' ? metadata : undefined].filter((part) => part !== undefined)
  if (parts.length > 0) return parts.join(' ')
  return error instanceof Error ? error.message : String(error)
}

function headersOf(value: unknown): Headers | null {
  if (value instanceof Headers) return value
  if (typeof value !== 'object' || value === null) return null
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
