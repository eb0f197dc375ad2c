import { errorLine, HermesError, isAbort } from '@hermes/contracts'

/**
 * What went wrong at an authorization server, as an error a person can act on: `oauth.refused` with the server's word in
 * `details.error`, `oauth.unreachable`, `oauth.bad_answer`. An abort passes as it is.
 */
export function toOAuthError(error: unknown, endpoint: string): unknown {
  if (isAbort(error) || HermesError.isInstance(error)) return error
  const host = URL.canParse(endpoint) ? new URL(endpoint).host : endpoint
  const { name, error: word, error_description: description, status } = (error ?? {}) as Record<string, unknown>
  if (typeof word === 'string') {
    const text = typeof description === 'string' && description !== '' ? `${word}: ${oneLine(description)}` : word
    return new HermesError(`${host} refused: ${text}.`, {
      code: 'oauth.refused',
      details: { error: word, ...(typeof status === 'number' ? { status } : {}) },
      cause: error,
    })
  }
  if (name === 'TimeoutError' || (name === 'TypeError' && (error as Error).message === 'fetch failed')) {
    const cause = (error as { cause?: unknown }).cause
    const why = name === 'TimeoutError' ? 'it did not answer in time' : errorLine(cause ?? error)
    return new HermesError(`${host} cannot be reached: ${why}.`, {
      code: 'oauth.unreachable',
      retryable: true,
      cause: error,
    })
  }
  return new HermesError(`${host} gave an answer that is none of OAuth: ${errorLine(error)}.`, {
    code: 'oauth.bad_answer',
    retryable: true,
    cause: error,
  })
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/\.$/, '').trim().slice(0, 200)
}
