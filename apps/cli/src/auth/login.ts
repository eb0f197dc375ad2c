import { HermesError } from '@hermes/contracts'
import type { OAuthSettings, TokenSet } from '@hermes/credential-pool'
import type { FlowOptions } from '@hermes/credential-pool/oauth'
import type { Io } from '../io.js'
import { fetchTo } from '../setup/endpoint.js'

/** A login that went well. */
interface Login {
  readonly tokens: TokenSet
  readonly tokenEndpoint: string
  readonly flow: 'device_code' | 'pkce'
}

/** How a person logs in: with a code on any device, or in a browser on this machine. */
export type LoginFlow = 'device' | 'browser'

const MINUTE_MS = 60_000

/**
 * Logs a person in; says on standard error what they have to do. Without a flow it is the code where the server offers one.
 * @throws HermesError `oauth.*`, an AbortError when the person gives up
 */
export async function logIn(
  io: Io,
  settings: OAuthSettings,
  { flow, signal }: { readonly flow: LoginFlow | undefined; readonly signal: AbortSignal },
): Promise<Login> {
  const options = { fetchTo: (address: string) => fetchTo(address, io.env), signal }
  if (flow === 'browser') return inBrowser(io, settings, options)
  try {
    return await byCode(io, settings, options)
  } catch (error) {
    const hasNoCodes = HermesError.isInstance(error) && error.details['endpoint'] === 'device_authorization_endpoint'
    if (flow === undefined && hasNoCodes) return inBrowser(io, settings, options)
    throw error
  }
}

async function byCode(io: Io, settings: OAuthSettings, options: FlowOptions): Promise<Login> {
  const { startDeviceLogin } = await import('@hermes/credential-pool/oauth')
  const login = await startDeviceLogin(settings, options)
  const minutes = Math.max(1, Math.round((login.expiresAtMs - Date.now()) / MINUTE_MS))
  const whole =
    login.verificationUriComplete === null
      ? ''
      : `\nOr open this, with the code in it: ${login.verificationUriComplete}`
  io.stderr.write(
    `Open ${login.verificationUri} in a browser, on any device, and enter the code ${login.userCode}${whole}\nWaiting for up to ${minutes} min; Ctrl+C gives up.\n`,
  )
  return { tokens: await login.wait(), tokenEndpoint: login.tokenEndpoint, flow: 'device_code' }
}

async function inBrowser(io: Io, settings: OAuthSettings, options: FlowOptions): Promise<Login> {
  const { startBrowserLogin } = await import('@hermes/credential-pool/oauth')
  const login = await startBrowserLogin(settings, options)
  const { port } = new URL(login.redirectUri)
  io.stderr.write(
    `Open this in a browser on this machine:\n${login.url}\nWaiting; Ctrl+C gives up. Over ssh, forward the port first: ssh -L ${port}:127.0.0.1:${port} …\n`,
  )
  return { tokens: await login.wait(), tokenEndpoint: login.tokenEndpoint, flow: 'pkce' }
}
