import type { BedrockRuntimeClientConfig } from '@aws-sdk/client-bedrock-runtime'
import { refusal } from './service-error.js'

/** How requests leave. */
interface FetchHandlerOptions {
  readonly fetch: typeof fetch
  /** Sent with each request, after and above the SDK's. */
  readonly headers: Readonly<Record<string, string>>
  /** Until the head of the response. */
  readonly timeoutMs: number
  /** Taken out of the words of errors. */
  readonly secrets: readonly string[]
}

type Handler = Extract<NonNullable<BedrockRuntimeClientConfig['requestHandler']>, { handle: unknown }>
type Handle = Handler['handle']

/** Thrown past the SDK: a response of success that is no event stream, which the SDK could not read. */
export class PlainResponse extends Error {
  readonly response: Response

  constructor(response: Response) {
    super('The response is not an event stream.')
    this.name = 'PlainResponse'
    this.response = response
  }
}

const EVENT_STREAM = 'application/vnd.amazon.eventstream'
/** Set by `fetch` itself, to the same values. */
const OF_FETCH = new Set(['host', 'content-length'])

/**
 * Makes the SDK's request handler over `fetch`, so that requests go where the operator's one goes. Hands event streams to the SDK; throws
 * other responses of success as {@link PlainResponse}, and those of failure as errors that `classifyError` understands.
 */
export function createFetchHandler(options: FetchHandlerOptions): Handler {
  const handle = async (request: Parameters<Handle>[0], call: Parameters<Handle>[1]) => {
    const { protocol, hostname, port, path, method, body } = request
    const url = `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`
    const own = Object.entries(request.headers).filter(([name]) => !OF_FETCH.has(name.toLowerCase()))
    const headers = { ...Object.fromEntries(own), 'user-agent': 'hermes', ...options.headers }
    const response = await withTimeout(options.timeoutMs, call?.abortSignal as AbortSignal | undefined, (signal) =>
      options.fetch(url, { method, headers, body: plain(body), signal }),
    )
    if (!response.ok) throw await refusal(response, options.secrets)
    if (!response.headers.get('content-type')?.startsWith(EVENT_STREAM)) throw new PlainResponse(response)
    const entries = Object.fromEntries(response.headers)
    return { response: { statusCode: response.status, headers: entries, body: response.body } }
  }
  return { metadata: { handlerProtocol: 'http/1.1' }, handle } as unknown as Handler
}

/** The SDK's bytes have methods of strings that warn on the console when somebody calls them. */
function plain(body: Uint8Array<ArrayBuffer> | string): Uint8Array<ArrayBuffer> | string {
  return typeof body === 'string' ? body : new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
}

async function withTimeout<Value>(
  timeoutMs: number,
  abort: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('No answer came in time.', 'TimeoutError')), timeoutMs)
  try {
    return await run(abort ? AbortSignal.any([abort, late.signal]) : late.signal)
  } finally {
    clearTimeout(timer)
  }
}
