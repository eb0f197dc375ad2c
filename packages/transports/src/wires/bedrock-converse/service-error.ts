/** What is known of an error of the service, from a response or from within a stream. */
interface ServiceErrorFacts {
  /** The name of the exception; empty when the service gave none. */
  readonly type: string
  readonly message: string
  /** Absent within a stream, whose status was one of success. */
  readonly status?: number | undefined
  readonly headers?: Headers | undefined
  readonly cause?: unknown
}

/**
 * The status that stands for an exception: for those within a stream, which have none, and for those whose own status means something
 * else everywhere but here.
 */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  ValidationException: 400,
  AccessDeniedException: 403,
  ResourceNotFoundException: 404,
  ThrottlingException: 429,
  ServiceQuotaExceededException: 429,
  ModelNotReadyException: 503,
  ServiceUnavailableException: 503,
  ModelTimeoutException: 504,
  InternalServerException: 500,
  ModelErrorException: 500,
  ModelStreamErrorException: 500,
  ExpiredTokenException: 401,
  ExpiredToken: 401,
  InvalidSignatureException: 401,
  MissingAuthenticationTokenException: 401,
  UnrecognizedClientException: 401,
}

/** An error in the shape that all wires share: `status`, `headers` and the body's `type` and `message`. */
function serviceError({ type, message, status, headers, cause }: ServiceErrorFacts): Error {
  return Object.assign(new Error(message, { cause }), {
    status: STATUS_OF_TYPE[type] ?? status,
    headers: withRequestId(headers),
    error: { type, message },
  })
}

function withRequestId(headers: Headers | undefined): Headers | undefined {
  const id = headers?.get('x-amzn-requestid')
  if (!headers || !id) return headers
  const named = new Headers(headers)
  named.set('request-id', id)
  return named
}

/** The error for a response that is none of success. Takes `secrets` out of its words. */
export async function refusal(response: Response, secrets: readonly string[]): Promise<Error> {
  const { status, headers } = response
  const text = await response.text()
  const whole = parse(text)
  // Proxies answer in the shape of other wires.
  const body = isObject(whole['error']) ? whole['error'] : whole
  const named = headers.get('x-amzn-errortype') ?? body['__type'] ?? body['type'] ?? body['code']
  const detail = body['message'] ?? body['Message'] ?? (text.trim() === '' ? `Status ${status}.` : text)
  const message = secrets.reduce((words, secret) => words.replaceAll(secret, '[key]'), String(detail))
  return serviceError({ type: typeName(named), message, status, headers })
}

/** The error for what the SDK throws while it reads a stream: an exception of the service keeps its name, anything else passes. */
export function streamError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const isService = '$fault' in error || /Exception$/.test(error.name)
  return isService ? serviceError({ type: typeName(error.name), message: error.message, cause: error }) : error
}

/** `ThrottlingException` of `com.amazon.coral#throttlingException:http://…`. */
function typeName(named: unknown): string {
  const [name = ''] = String(named ?? '').split(':')
  const short = name.slice(name.lastIndexOf('#') + 1)
  return short.charAt(0).toUpperCase() + short.slice(1)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
