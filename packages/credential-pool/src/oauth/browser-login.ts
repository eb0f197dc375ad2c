import * as oauth from 'oauth4webapi'
import type { OAuthSettings, TokenSet } from '../tokens.js'
import { atEndpoint, type FlowOptions, findServer, toTokenSet } from './authorization-server.js'
import { openLoopback } from './loopback.js'
import { toOAuthError } from './oauth-error.js'

/** A login that a person confirms in a browser on this machine. */
interface BrowserLogin {
  /** To be opened in a browser. */
  readonly url: string
  /** Where the browser comes back to. */
  readonly redirectUri: string
  /** Where tokens are renewed later. */
  readonly tokenEndpoint: string
  /**
   * Waits for the browser to come back and fetches the tokens.
   * @throws HermesError `oauth.refused` when they declined; `oauth.unreachable`, `oauth.bad_answer`
   */
  wait(): Promise<TokenSet>
  /** Stops listening. */
  close(): void
}

/**
 * Begins a login by authorization code with PKCE; the browser comes back to a port of this machine.
 * @see RFC 7636, RFC 8252
 * @throws HermesError `oauth.not_configured`, `oauth.port_taken`, `oauth.unreachable`, `oauth.bad_answer`
 */
export async function startBrowserLogin(settings: OAuthSettings, options: FlowOptions = {}): Promise<BrowserLogin> {
  const found = await findServer(settings, ['authorization_endpoint', 'token_endpoint'], options)
  const { server, client, authentication } = found
  const state = oauth.generateRandomState()
  const verifier = oauth.generateRandomCodeVerifier()
  const isOurs = (query: URLSearchParams) => query.get('state') === state
  const loopback = await openLoopback({ port: settings.redirectPort ?? 0, isOurs })
  const { redirectUri } = loopback
  const url = new URL(server.authorization_endpoint!)
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    ...(settings.scope === undefined ? {} : { scope: settings.scope }),
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const exchange = async (query: URLSearchParams) => {
    const checked = checkedAnswer(query)
    const response = await atEndpoint(server.token_endpoint!, options, async (request) =>
      oauth.processAuthorizationCodeResponse(
        server,
        client,
        await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          checked,
          redirectUri,
          verifier,
          request,
        ),
      ),
    )
    return toTokenSet(response, options)
  }
  const checkedAnswer = (query: URLSearchParams) => {
    try {
      return oauth.validateAuthResponse(server, client, query, state)
    } catch (error) {
      throw toOAuthError(error, server.authorization_endpoint!)
    }
  }
  return {
    url: url.href,
    redirectUri,
    tokenEndpoint: server.token_endpoint!,
    wait: async () => {
      try {
        return await exchange(await loopback.wait(options.signal))
      } finally {
        loopback.close()
      }
    },
    close: () => loopback.close(),
  }
}
