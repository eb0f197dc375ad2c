import { HermesError } from '@hermes/contracts'
import type { ServerSettings } from '../settings/server-settings.js'
import { cleanLine } from '../tools/clean-text.js'

/** What a server says when nobody is logged in, or with too few rights, as the person hears it; `null` for any other failure. */
export async function loginNeeded({ name, oauth }: ServerSettings, error: unknown): Promise<HermesError | null> {
  const { InsufficientScopeError, UnauthorizedError } = await import('@modelcontextprotocol/client')
  for (let at = error; at instanceof Error; at = at.cause ?? (at as { data?: { cause?: unknown } }).data?.cause) {
    if (at instanceof InsufficientScopeError) {
      const rights = at.requiredScope === undefined ? '' : ` (${cleanLine(at.requiredScope, 200)})`
      if (oauth.grant === 'client_credentials') return refused(name, rights, error)
      return needed(name, `wants a login with more rights${rights}. Log in again with:`, error)
    }
    if (at instanceof UnauthorizedError) return needed(name, 'wants a login. Log in with:', error)
  }
  return null
}

export function needed(server: string, what: string, cause: unknown): HermesError {
  const message = `The MCP server ${server} ${what} hermes mcp login ${server}`
  return new HermesError(message, { code: 'mcp.login_needed', details: { server }, cause })
}

/** A program that logs in by itself cannot be told to. */
function refused(server: string, rights: string, cause: unknown): HermesError {
  const message = `The MCP server ${server} wants more rights${rights} than this client was given: oauth.scope of its entry says what is asked for.`
  return new HermesError(message, { code: 'mcp.login_failed', details: { server }, cause })
}
