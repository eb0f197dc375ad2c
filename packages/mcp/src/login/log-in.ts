import { randomUUID } from 'node:crypto'
import { type Clock, HermesError } from '@hermes/contracts'
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { innermostLine } from '../connection/innermost-line.js'
import type { ServerSettings } from '../settings/server-settings.js'
import { cleanLine } from '../tools/clean-text.js'
import type { Login } from './login-files.js'
import { endOf, isSameIssuer } from './server-auth.js'

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

/** Listens on this machine for the browser to come back. */
export type OpenLoopback = (options: {
  /** 0 takes a free one. */
  readonly port: number
  readonly isOurs: (query: URLSearchParams) => boolean
}) => Promise<{ readonly redirectUri: string; wait(signal?: AbortSignal): Promise<URLSearchParams>; close(): void }>

/** Begins a login by a code that is entered on any device. Rejects as RFC 8628 has it. */
export type StartDevice = (
  client: {
    readonly clientId: string
    readonly clientSecret: string | undefined
    readonly scope: string | undefined
    readonly deviceAuthorizationEndpoint: string
    readonly tokenEndpoint: string
  },
  options: {
    readonly fetchTo: (address: string) => typeof fetch
    readonly resource: string | undefined
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly userCode: string
  readonly verificationUri: string
  wait(): Promise<{
    readonly accessToken: string
    readonly refreshToken: string | null
    readonly expiresAtMs: number | null
  }>
}>

interface LoginOptions {
  readonly openLoopback: OpenLoopback
  readonly startDevice: StartDevice
  /** By a code that is entered on any device. Default: in a browser. */
  readonly isByCode?: boolean
  /** Asks for the address that a browser of another machine came to. Default: the browser is on this one. */
  readonly ask?: ((question: string, signal: AbortSignal) => Promise<string | null>) | undefined
  readonly fetch: typeof fetch
  /** Rights that a request with the last login lacked. */
  readonly wanted?: string | undefined
  /** Shows the address to be opened in a browser, and the code to be entered there; whether there could be one. */
  readonly show: (address: string, code: string | null, hasCodes: boolean) => void
  readonly signal: AbortSignal
  readonly clock: Clock
}

/**
 * Logs a person in at a server: finds its authorization server, is registered there where no client id is configured, and waits for the
 * browser to come back, for the address it came to, or for a code to be entered on any device. Abort passes.
 * @see RFC 9728, RFC 8414, RFC 7591, RFC 7636, RFC 8252, RFC 8628, RFC 9207
 * @throws HermesError `mcp.login_failed` in one line
 */
export async function logIn(settings: ServerSettings, options: LoginOptions): Promise<Login> {
  const { address, name, oauth } = settings
  if (address.type !== 'http') throw failed(name, 'it is a program, which takes what it needs from env.')
  if (oauth.grant === 'client_credentials')
    throw failed(name, 'it needs none, since oauth.grant is client_credentials.')
  const { fetch, show, signal, clock, isByCode = false } = options
  const state = randomUUID()
  const isOurs = (query: URLSearchParams) => query.get('state') === state
  const loopback = await options.openLoopback({ port: oauth.redirectPort ?? 0, isOurs })
  try {
    const { auth, computeScopeUnion } = await import('@modelcontextprotocol/client')
    const attempt = new LoginAttempt(settings, { redirectUrl: loopback.redirectUri, state, isByCode })
    const common = {
      serverUrl: address.url,
      fetchFn: ((url: string, init?: RequestInit) => fetch(url, { ...init, signal })) as never,
    }
    const found = await challengeOf(address, fetch, signal)
    const scope = computeScopeUnion(oauth.scope ?? found.scope, options.wanted)
    await auth(attempt, { ...common, ...found, ...(scope === undefined ? {} : { scope }) })
    if (attempt.address === null) throw new Error('its authorization server sends nobody to a browser')
    if (isByCode) return await byCode(attempt, scope, options)
    show(attempt.address.href, null, attempt.endpoints.codes !== undefined)
    const query = await backFrom(loopback, { ...options, isOurs })
    const refusal = query.get('error')
    if (refusal !== null) throw new Error(`it was declined (${query.get('error_description') ?? refusal})`)
    const iss = query.get('iss')
    await auth(attempt, { ...common, authorizationCode: query.get('code') ?? '', ...(iss === null ? {} : { iss }) })
    return attempt.login(clock.now())
  } catch (error) {
    signal.throwIfAborted()
    throw HermesError.isInstance(error) ? error : failed(name, `${innermostLine(error)}.`, error)
  } finally {
    loopback.close()
  }
}

const PASTE = 'Or paste the address that the browser ends at, also where it shows an error'

/** What the browser comes back with, to this machine or by hand. */
async function backFrom(
  { wait }: Awaited<ReturnType<OpenLoopback>>,
  { ask, signal, isOurs }: Pick<LoginOptions, 'ask' | 'signal'> & Pick<Parameters<OpenLoopback>[0], 'isOurs'>,
): Promise<URLSearchParams> {
  if (!ask) return wait(signal)
  const over = new AbortController()
  const both = AbortSignal.any([signal, over.signal])
  const pasted = async (): Promise<URLSearchParams> => {
    for (
      let question = PASTE;
      ;
      question = 'That is no address of this login. Paste the one that the browser ends at'
    ) {
      const line = await ask(question, both)
      // Who gives none waits for the browser.
      if (line === null) return new Promise<never>(() => undefined)
      const query = URL.parse(line.trim())?.searchParams
      if (query && isOurs(query)) return query
    }
  }
  try {
    return await Promise.race([wait(both), pasted()])
  } finally {
    over.abort()
  }
}

async function byCode(attempt: LoginAttempt, scope: string | undefined, options: LoginOptions): Promise<Login> {
  const { startDevice, fetch, signal, show, clock } = options
  const { codes, tokens } = attempt.endpoints
  const client = attempt.clientInformation()
  if (codes === undefined || tokens === undefined || client === undefined)
    throw new Error('its authorization server has no logins by code; log in in a browser')
  const device = await startDevice(
    {
      clientId: client.client_id,
      clientSecret: client.client_secret,
      scope,
      deviceAuthorizationEndpoint: codes,
      tokenEndpoint: tokens,
    },
    { fetchTo: () => fetch, resource: attempt.resource, signal },
  )
  show(device.verificationUri, device.userCode, true)
  const { accessToken, refreshToken, expiresAtMs } = await device.wait()
  const renewal = refreshToken === null ? {} : { refresh_token: refreshToken }
  attempt.saveTokens({ access_token: accessToken, token_type: 'Bearer', ...renewal })
  return { ...attempt.login(clock.now()), expiresAtMs }
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

interface Back {
  readonly redirectUrl: string
  readonly state: string
  readonly isByCode: boolean
}

/** Keeps in memory what the two halves of a login share. */
class LoginAttempt implements OAuthClientProvider {
  readonly #settings: ServerSettings
  readonly #back: Back
  #client: StoredOAuthClientInformation | undefined
  #tokens: StoredOAuthTokens | undefined
  #verifier = ''
  #discovery: OAuthDiscoveryState | undefined
  #resource: string | null = null
  address: URL | null = null
  readonly clientMetadataUrl?: string

  constructor(settings: ServerSettings, back: Back) {
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
      grant_types: [...(this.#back.isByCode ? [DEVICE_CODE] : []), 'authorization_code', 'refresh_token'],
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

  get resource(): string | undefined {
    return this.#resource ?? undefined
  }

  /** Of its authorization server: for logins by code, where there are any, and for tokens. */
  get endpoints(): { readonly codes: string | undefined; readonly tokens: string | undefined } {
    const about = this.#discovery?.authorizationServerMetadata
    const codes: unknown = about && 'device_authorization_endpoint' in about && about.device_authorization_endpoint
    return { codes: typeof codes === 'string' ? codes : undefined, tokens: about?.token_endpoint }
  }

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
