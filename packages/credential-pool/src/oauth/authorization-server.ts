import { HermesError } from '@hermes/contracts'
import * as oauth from 'oauth4webapi'
import type { OAuthSettings, TokenSet } from '../tokens.js'
import { toOAuthError } from './oauth-error.js'
import { createTokenFetch, type FetchTo } from './token-fetch.js'

/** How a flow reaches the world. */
export interface FlowOptions {
  /** Default: the guarded fetch, pinned to the origin of each endpoint. */
  readonly fetchTo?: FetchTo | undefined
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number
  /** Ends the request or the waiting with an `AbortError`. */
  readonly signal?: AbortSignal
}

/** A server with its client, as the library wants them. */
export interface AuthorizationServer {
  readonly server: oauth.AuthorizationServer
  readonly client: oauth.Client
  readonly authentication: oauth.ClientAuth
}

/** The endpoints that flows use, as metadata names them. */
type EndpointName = 'token_endpoint' | 'authorization_endpoint' | 'device_authorization_endpoint'

const TIMEOUT_MS = 30_000

/**
 * The server of `settings`. What they do not name is looked up at the issuer, at both of the usual places.
 * @throws HermesError `oauth.not_configured`, `oauth.refused`, `oauth.unreachable`, `oauth.bad_answer`
 */
export async function findServer(
  settings: OAuthSettings,
  needed: readonly EndpointName[],
  options: FlowOptions,
): Promise<AuthorizationServer> {
  const { clientId, clientSecret, issuer } = settings
  const input = {
    ...named('token_endpoint', settings.tokenEndpoint),
    ...named('authorization_endpoint', settings.authorizationEndpoint),
    ...named('device_authorization_endpoint', settings.deviceAuthorizationEndpoint),
  }
  const isComplete = needed.every((name) => input[name] !== undefined)
  const found = isComplete || issuer === undefined ? null : await discover(issuer, options)
  const server = { issuer: issuer ?? new URL(checkedUrl(Object.values(input)[0])).origin, ...found, ...input }
  for (const name of needed) {
    if (server[name] === undefined)
      throw new HermesError(
        `No ${name.replaceAll('_', ' ')} is known: set it, or an issuer that names it, in config.yaml.`,
        {
          code: 'oauth.not_configured',
          details: { endpoint: name },
        },
      )
    checkedUrl(server[name])
  }
  const authentication = clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(clientSecret)
  return { server, client: { client_id: clientId }, authentication }
}

function named(name: EndpointName, url: string | undefined): Partial<Record<EndpointName, string>> {
  return url === undefined ? {} : { [name]: url }
}

async function discover(issuer: string, options: FlowOptions): Promise<oauth.AuthorizationServer> {
  const url = new URL(checkedUrl(issuer))
  const lookUp = (algorithm: 'oidc' | 'oauth2') =>
    atEndpoint(issuer, options, async (request) =>
      oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { ...request, algorithm })),
    )
  return lookUp('oidc').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'oauth.bad_answer') return lookUp('oauth2')
    throw error
  })
}

/** What the library takes with each request. */
interface RequestOptions {
  readonly [oauth.customFetch]: typeof fetch
  readonly [oauth.allowInsecureRequests]: boolean
  readonly signal: AbortSignal
}

/** Runs one exchange with an endpoint; its failures become errors a person can act on. */
export async function atEndpoint<T>(
  endpoint: string,
  { fetchTo, signal }: FlowOptions,
  exchange: (request: RequestOptions) => Promise<T>,
): Promise<T> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  try {
    return await exchange({
      [oauth.customFetch]: createTokenFetch(endpoint, fetchTo),
      [oauth.allowInsecureRequests]: isLoopback(endpoint),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
  } catch (error) {
    signal?.throwIfAborted()
    throw toOAuthError(error, endpoint)
  }
}

/** Tokens and codes travel over https only, except to a server on this machine. */
function checkedUrl(url: string | undefined): string {
  if (url !== undefined && URL.canParse(url) && (new URL(url).protocol === 'https:' || isLoopback(url))) return url
  throw new HermesError(
    url === undefined
      ? 'OAuth needs an issuer or the addresses of its endpoints; set them in config.yaml.'
      : `"${url}" cannot be used for OAuth: it must be an https address.`,
    { code: 'oauth.not_configured' },
  )
}

function isLoopback(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && /^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname)
}

/** The tokens of an answer, in our terms. */
export function toTokenSet(response: oauth.TokenEndpointResponse, { now = Date.now }: FlowOptions): TokenSet {
  return {
    accessToken: response.access_token,
    refreshToken: response.refresh_token ?? null,
    expiresAtMs: response.expires_in === undefined ? null : Math.round(now() + response.expires_in * 1_000),
  }
}
