import { randomUUID } from 'node:crypto'
import { type Clock, errorLine, HermesError } from '@hermes/contracts'
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { ServerSettings } from '../settings/server-settings.js'
import { cleanLine } from '../tools/clean-text.js'
import type { Login } from './login-files.js'
import { endOf, isSameIssuer } from './server-auth.js'

/** Listens on this machine for the browser to come back. */
export type OpenLoopback = (options: {
  /** 0 takes a free one. */
  readonly port: number
  readonly isOurs: (query: URLSearchParams) => boolean
}) => Promise<{ readonly redirectUri: string; wait(signal?: AbortSignal): Promise<URLSearchParams>; close(): void }>

interface LoginOptions {
  readonly openLoopback: OpenLoopback
  readonly fetch: typeof fetch
  /** Rights that a request with the last login lacked. */
  readonly wanted?: string | undefined
  /** Shows the address to be opened in a browser. */
  readonly show: (address: string) => void
  readonly signal: AbortSignal
  readonly clock: Clock
}

/**
 * Logs a person in at a server, in a browser of this machine: finds its authorization server, is registered there where no client id is
 * configured, and waits for the code. Abort passes.
 * @see RFC 9728, RFC 8414, RFC 7591, RFC 7636, RFC 8252, RFC 9207
 * @throws HermesError `mcp.login_failed` in one line
 */
export async function logIn(settings: ServerSettings, options: LoginOptions): Promise<Login> {
  const { address, name, oauth } = settings
  if (address.type !== 'http') throw failed(name, 'it is a program, which takes what it needs from env.')
  if (oauth.grant === 'client_credentials')
    throw failed(name, 'it needs none, since oauth.grant is client_credentials.')
  const { fetch, show, signal, clock } = options
  const state = randomUUID()
  const isOurs = (query: URLSearchParams) => query.get('state') === state
  const loopback = await options.openLoopback({ port: oauth.redirectPort ?? 0, isOurs })
  try {
    const { auth, computeScopeUnion } = await import('@modelcontextprotocol/client')
    const attempt = new LoginAttempt(settings, { redirectUrl: loopback.redirectUri, state })
    const common = {
      serverUrl: address.url,
      fetchFn: ((url: string, init?: RequestInit) => fetch(url, { ...init, signal })) as never,
    }
    const found = await challengeOf(address, fetch, signal)
    const scope = computeScopeUnion(oauth.scope ?? found.scope, options.wanted)
    await auth(attempt, { ...common, ...found, ...(scope === undefined ? {} : { scope }) })
    if (attempt.address === null) throw new Error('its authorization server sends nobody to a browser')
    show(attempt.address.href)
    const query = await loopback.wait(signal)
    const refusal = query.get('error')
    if (refusal !== null) throw new Error(`it was declined (${query.get('error_description') ?? refusal})`)
    const iss = query.get('iss')
    await auth(attempt, { ...common, authorizationCode: query.get('code') ?? '', ...(iss === null ? {} : { iss }) })
    return attempt.login(clock.now())
  } catch (error) {
    signal.throwIfAborted()
    throw HermesError.isInstance(error) ? error : failed(name, `${errorLine(error)}.`, error)
  } finally {
    loopback.close()
  }
}

/** What the server itself says about where to log in. Asked as its transport does: many answer nothing but POST. */
async function challengeOf(
  { url }: { readonly url: string },
  send: typeof fetch,
  signal: AbortSignal,
): Promise<{ readonly resourceMetadataUrl?: URL; readonly scope?: string }> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client')
  const response = await send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    signal,
  })
  await response.body?.cancel()
  if (response.status !== 401) return {}
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
  return { ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}), ...(scope === undefined ? {} : { scope }) }
}

/** Keeps in memory what the two halves of a login share. */
class LoginAttempt implements OAuthClientProvider {
  readonly #settings: ServerSettings
  readonly #back: { readonly redirectUrl: string; readonly state: string }
  #client: StoredOAuthClientInformation | undefined
  #tokens: StoredOAuthTokens | undefined
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined
  #resource: string | null = null
  address: URL | null = null
  readonly clientMetadataUrl?: string

  constructor(settings: ServerSettings, back: { readonly redirectUrl: string; readonly state: string }) {
    this.#settings = settings
    this.#back = back
    const { clientId, clientSecret, clientMetadataUrl, issuer } = settings.oauth
    if (clientId !== undefined)
      this.#client = {
        client_id: clientId,
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
        ...(issuer === undefined ? {} : { issuer }),
      }
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl
  }

  get redirectUrl(): string {
    return this.#back.redirectUrl
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Hermes',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: this.#settings.oauth.clientSecret === undefined ? 'none' : 'client_secret_post',
    }
  }

  state = () => this.#back.state
  /** Asked once its authorization server is known, and before anything goes there or the person does. */
  clientInformation = (context?: OAuthClientInformationContext) => {
    const { issuer } = this.#settings.oauth
    if (issuer !== undefined && context !== undefined && !isSameIssuer(issuer, context.issuer))
      throw new Error(`it names the authorization server ${context.issuer}, and oauth.issuer is ${issuer}`)
    return this.#client
  }
  saveClientInformation = (client: StoredOAuthClientInformation) => void (this.#client = client)
  tokens = () => this.#tokens
  saveTokens = (tokens: StoredOAuthTokens) => void (this.#tokens = tokens)
  redirectToAuthorization = (url: URL) => void (this.address = url)
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier)
  codeVerifier = () => this.#verifier
  saveDiscoveryState = (found: OAuthDiscoveryState) => void (this.#discovery = found)
  discoveryState = () => this.#discovery
  saveResourceUrl = (resource: string) => void (this.#resource = resource)

  login(nowMs: number): Login {
    if (!this.#tokens || !this.#client || !this.#discovery) throw new Error('its authorization server gave no token')
    return {
      authorizationServer: this.#discovery.authorizationServerUrl,
      client: this.#client,
      tokens: this.#tokens,
      resource: this.#resource,
      expiresAtMs: endOf(this.#tokens, nowMs),
    }
  }
}

function failed(name: string, why: string, cause?: unknown): HermesError {
  const line = cleanLine(`Cannot log in at the MCP server ${name}: ${why}`, 500).replace(/\.\.$/, '.')
  return new HermesError(line, { code: 'mcp.login_failed', details: { server: name }, cause })
}
