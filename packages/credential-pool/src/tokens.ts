import type { JsonObject } from '@hermes/contracts'
import { CLEARED, type PoolEntry } from './entry.js'

/** What an authorization server gave. */
export interface TokenSet {
  readonly accessToken: string
  /** `null` when there is none, or the one before stays good. */
  readonly refreshToken: string | null
  /** `null` when the server does not say. */
  readonly expiresAtMs: number | null
}

/**
 * How Hermes logs in at a provider: a client id that the user registered or the provider gives to third parties, and where to go.
 * Endpoints that are not named are looked up at the issuer.
 */
export interface OAuthSettings {
  readonly clientId: string
  /** For clients that have one; most tools have none. */
  readonly clientSecret?: string | undefined
  readonly issuer?: string | undefined
  /** Separated by spaces. */
  readonly scope?: string | undefined
  readonly deviceAuthorizationEndpoint?: string | undefined
  readonly authorizationEndpoint?: string | undefined
  readonly tokenEndpoint?: string | undefined
  /** Where the browser comes back to on this machine. Default: any free port. */
  readonly redirectPort?: number | undefined
}

/** Trades a refresh token for new tokens. Rejects with a HermesError; `oauth.refused` carries the server's word in `details.error`. */
export type RenewTokens = (refreshToken: string, settings: OAuthSettings) => Promise<TokenSet>

/** Answers after which a login is over for good. */
const TERMINAL: readonly unknown[] = [
  'invalid_grant',
  'invalid_token',
  'unauthorized_client',
  'token_invalidated',
  'token_revoked',
  'refresh_token_reused',
]

/** The server's word when it refused for good; `null` for everything that may pass. */
export function terminalRefusal(error: unknown): string | null {
  const { code, details } = (error ?? {}) as { code?: unknown; details?: { error?: unknown } }
  return code === 'oauth.refused' && TERMINAL.includes(details?.error) ? String(details?.error) : null
}

/** With which client an entry was made: what is stored with it, and the rest from the configuration. `null` when nobody knows. */
export function settingsOf(entry: PoolEntry, configured: OAuthSettings | null): OAuthSettings | null {
  const text = (key: string) => (typeof entry.stored?.[key] === 'string' ? (entry.stored[key] as string) : undefined)
  const clientId = text('client_id')
  const tokenEndpoint = text('token_endpoint')
  if (clientId === undefined || tokenEndpoint === undefined) return configured
  // A refresh token belongs to the client that got it, even when another one is configured by now.
  const clientSecret = configured?.clientId === clientId ? configured.clientSecret : undefined
  return { clientId, tokenEndpoint, clientSecret, issuer: text('issuer') }
}

/** The fields to store for new tokens. */
export function tokenFields(tokens: TokenSet, nowMs: number, before: JsonObject = {}): JsonObject {
  const { accessToken, refreshToken, expiresAtMs } = tokens
  const seconds = expiresAtMs === null ? null : expiresAtMs / 1_000
  const expiresAt = before['expires_at']
  return {
    access_token: accessToken,
    ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
    expires_at_ms: expiresAtMs,
    // Whoever wrote a second spelling of the time finds it up to date.
    ...(typeof expiresAt === 'number' ? { expires_at: seconds } : {}),
    ...(typeof expiresAt === 'string'
      ? { expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString() }
      : {}),
    last_refresh: new Date(nowMs).toISOString(),
    ...CLEARED,
    last_status_at: null,
  }
}
