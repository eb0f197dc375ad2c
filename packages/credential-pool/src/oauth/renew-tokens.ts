import * as oauth from 'oauth4webapi'
import type { OAuthSettings, TokenSet } from '../tokens.js'
import { atEndpoint, type FlowOptions, findServer, toTokenSet } from './authorization-server.js'

/**
 * Trades a refresh token for new tokens (RFC 6749 section 6). The old one is spent then, whether the answer arrives or not.
 * @throws HermesError `oauth.refused`, `oauth.unreachable`, `oauth.bad_answer`, `oauth.not_configured`
 */
export async function renewTokens(
  refreshToken: string,
  settings: OAuthSettings,
  options: FlowOptions = {},
): Promise<TokenSet> {
  const { server, client, authentication } = await findServer(settings, ['token_endpoint'], options)
  const response = await atEndpoint(server.token_endpoint!, options, async (request) =>
    oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, request),
    ),
  )
  return toTokenSet(response, options)
}
