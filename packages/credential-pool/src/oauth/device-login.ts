import { type Clock, HermesError, systemClock } from '@hermes/contracts'
import * as oauth from 'oauth4webapi'
import type { OAuthSettings, TokenSet } from '../tokens.js'
import {
  type AuthorizationServer,
  atEndpoint,
  type FlowOptions,
  findServer,
  toTokenSet,
} from './authorization-server.js'

/** A login that a person confirms in a browser on any device. */
interface DeviceLogin {
  /** To be typed at `verificationUri`. */
  readonly userCode: string
  readonly verificationUri: string
  /** With the code in it; `null` when the server offers none. */
  readonly verificationUriComplete: string | null
  /** Unix milliseconds. */
  readonly expiresAtMs: number
  /** Where tokens are renewed later. */
  readonly tokenEndpoint: string
  /**
   * Asks at the pace the server wants until the person has confirmed.
   * @throws HermesError `oauth.refused` when they declined, `oauth.expired`; and what ends the asking for good.
   */
  wait(): Promise<TokenSet>
}

/** Options of {@link startDeviceLogin}. */
interface DeviceLoginOptions extends FlowOptions {
  readonly clock?: Clock
  /** What the tokens are for (RFC 8707). Default: the server does not hear of it. */
  readonly resource?: string | undefined
}

const DEFAULT_INTERVAL_S = 5
const SLOWER_BY_S = 5
const MAX_INTERVAL_S = 60

/**
 * Begins a login by device code.
 * @see RFC 8628
 * @throws HermesError `oauth.not_configured`, `oauth.refused`, `oauth.unreachable`, `oauth.bad_answer`
 */
export async function startDeviceLogin(
  settings: OAuthSettings,
  options: DeviceLoginOptions = {},
): Promise<DeviceLogin> {
  const { clock = systemClock, resource } = options
  const found = await findServer(settings, ['device_authorization_endpoint', 'token_endpoint'], options)
  const { server, client, authentication } = found
  const parameters = new URLSearchParams(settings.scope === undefined ? {} : { scope: settings.scope })
  if (resource !== undefined) parameters.set('resource', resource)
  const device = await atEndpoint(server.device_authorization_endpoint!, options, async (request) =>
    oauth.processDeviceAuthorizationResponse(
      server,
      client,
      await oauth.deviceAuthorizationRequest(server, client, authentication, parameters, request),
    ),
  )
  const expiresAtMs = clock.now() + device.expires_in * 1_000
  return {
    userCode: device.user_code,
    verificationUri: device.verification_uri,
    verificationUriComplete: device.verification_uri_complete ?? null,
    expiresAtMs,
    tokenEndpoint: server.token_endpoint!,
    wait: () =>
      poll(
        found,
        { code: device.device_code, intervalS: device.interval ?? DEFAULT_INTERVAL_S, expiresAtMs },
        { ...options, clock },
      ),
  }
}

interface Pending {
  readonly code: string
  readonly intervalS: number
  readonly expiresAtMs: number
}

async function poll(
  { server, client, authentication }: AuthorizationServer,
  { code, intervalS, expiresAtMs }: Pending,
  options: FlowOptions & { readonly clock: Clock; readonly resource?: string | undefined },
): Promise<TokenSet> {
  const { clock, signal, resource } = options
  for (let pauseS = intervalS; ; ) {
    await clock.sleep(pauseS * 1_000, signal)
    if (clock.now() >= expiresAtMs) throw expired()
    try {
      const response = await atEndpoint(server.token_endpoint!, options, async (request) =>
        oauth.processDeviceCodeResponse(
          server,
          client,
          await oauth.deviceCodeGrantRequest(server, client, authentication, code, {
            ...request,
            ...(resource === undefined ? {} : { additionalParameters: { resource } }),
          }),
        ),
      )
      return toTokenSet(response, { now: () => clock.now() })
    } catch (error) {
      pauseS = nextPauseS(error, pauseS)
    }
  }
}

/** How long to wait before asking again; throws when there is no point in it. */
function nextPauseS(error: unknown, pauseS: number): number {
  if (!HermesError.isInstance(error)) throw error
  if (error.code === 'oauth.unreachable') return Math.min(MAX_INTERVAL_S, pauseS * 2)
  switch (error.details['error']) {
    case 'authorization_pending':
      return pauseS
    case 'slow_down':
      return pauseS + SLOWER_BY_S
    case 'expired_token':
      throw expired()
    case 'access_denied':
      throw new HermesError('The login was declined in the browser.', {
        code: 'oauth.refused',
        details: { error: 'access_denied' },
      })
    default:
      throw error
  }
}

function expired(): HermesError {
  return new HermesError('Nobody confirmed the login in time. Start it again for a new code.', {
    code: 'oauth.expired',
  })
}
