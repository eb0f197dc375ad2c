import type { HermesError } from '@hermes/contracts'
import { connectionError, platformError } from '@hermes/platform'

/** An answer that says no. @see https://core.telegram.org/bots/api#making-requests */
interface Refusal {
  readonly error_code: number
  readonly description: string
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number }
}

const NOT_MODIFIED = /message is not modified/i
const MARKUP = /can't parse entities|can't find end of/i

/** What failed, without the token: the messages of the client and of `fetch` may hold the address, which has it. */
export function toPlatformError(error: unknown): HermesError {
  const refusal = refusalOf(error)
  if (refusal === null) return connectionError('Telegram', innerError(error))
  const { error_code: code, description, parameters = {} } = refusal
  const message = `Telegram refused it: ${description} (${code}).`
  if (code === 401 || code === 404)
    return platformError(
      'unauthorized',
      'Telegram does not know this bot token. Make a new one with @BotFather (/token).',
    )
  if (code === 409) return platformError('conflict', `Another program uses this bot token: ${description} (409).`)
  if (code === 429)
    return platformError('rate_limited', message, { retryAfterMs: (parameters.retry_after ?? 1) * 1000 })
  // It may have been done before the server failed.
  if (code >= 500) return platformError('unknown_outcome', message)
  return platformError(MARKUP.test(description) ? 'markup_refused' : 'rejected', message)
}

/** A group that became a supergroup has another id since. */
export function movedTo(error: unknown): string | null {
  const id = refusalOf(error)?.parameters?.migrate_to_chat_id
  return id === undefined ? null : String(id)
}

/** An edit that changes nothing. */
export function isNotModified(error: unknown): boolean {
  return NOT_MODIFIED.test(refusalOf(error)?.description ?? '')
}

/** A server that is older than the method. */
export function isUnknownMethod(error: unknown): boolean {
  return refusalOf(error)?.error_code === 404
}

function refusalOf(error: unknown): Refusal | null {
  if (typeof error !== 'object' || error === null) return null
  const { error_code, description } = error as Partial<Refusal>
  return typeof error_code === 'number' && typeof description === 'string' ? (error as Refusal) : null
}

/** grammY wraps what `fetch` throws. */
function innerError(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'error' in error ? error.error : error
}
