import { errorLine, HermesError } from '@hermes/contracts'

/** What an {@link ApiError} says beside its message. */
interface ApiErrorOptions {
  /** HTTP status. Default 400. */
  readonly status?: number
  /** Stable word for programs. */
  readonly code: string
  /** The field that is wrong, as a path into the request. */
  readonly param?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that cannot be answered, in the terms of the OpenAI API. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>

  constructor(message: string, options: ApiErrorOptions) {
    super(message)
    this.name = 'ApiError'
    this.status = options.status ?? 400
    this.code = options.code
    this.param = options.param ?? null
    this.headers = options.headers ?? {}
  }

  /** The `error` object clients know. */
  get body() {
    const type =
      this.status >= 500 ? 'server_error' : this.status === 429 ? 'rate_limit_error' : 'invalid_request_error'
    return { error: { message: this.message, type, param: this.param, code: this.code } }
  }
}

// A client that tries again by itself would repeat what the agent has tried already.
const FINAL = { 'x-should-retry': 'false' }

/** What went wrong underneath, as an answer. Trouble with the model is never the client's own key or request. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (!HermesError.isInstance(error)) {
    return new ApiError('Something went wrong inside the server. Details are in its log.', {
      status: 500,
      code: 'internal_error',
      headers: FINAL,
    })
  }
  return failedRun({ code: error.code, message: errorLine(error) })
}

/** Why a run failed, as an answer. */
export function failedRun({ code, message }: { readonly code: string; readonly message: string }): ApiError {
  if (code === 'store.session_busy') return new ApiError(message, { status: 409, code: 'session_busy', headers: FINAL })
  if (code === 'host.session_full')
    return new ApiError(message, { status: 429, code: 'session_busy', headers: { 'retry-after': '5' } })
  if (code === 'transport.context_overflow' || code === 'transport.long_context_tier')
    return new ApiError(message, { code: 'context_length_exceeded' })
  if (code === 'transport.rate_limit') return new ApiError(message, { status: 429, code, headers: FINAL })
  if (code === 'agent.bad_format') return new ApiError(message, { code: 'invalid_schema', param: 'response_format' })
  const isModel = /^(?:transport|models)\.|^agent\.(?:empty_reply|unfit_answer)$/.test(code)
  return new ApiError(message, { status: isModel ? 502 : 500, code, headers: FINAL })
}
