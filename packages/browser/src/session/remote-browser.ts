import { HermesError, isJsonObject } from '@hermes/contracts'
import type { BrowserOptions } from '../browser-options.js'
import { hostOf, type Place } from '../cloud/choose-place.js'
import type { CloudLeases } from '../cloud/cloud-leases.js'
import { CLOUDS } from '../cloud/cloud-vendors.js'
import { DocumentGuard } from '../guard/document-guard.js'
import { CdpHub } from '../wire/cdp-hub.js'
import { SocketConnection } from '../wire/socket-connection.js'
import type { BrowserProcess } from './browser-process.js'

type Remote = Extract<Place, { readonly type: 'cloud' | 'address' }>

const HELD =
  'This browser is not on this machine: its requests are held one by one, but WebSockets and what its workers ask for are not.'

/**
 * Connects to a browser that runs elsewhere, in a session that is made for it where it is a cloud's.
 * @throws HermesError `browser.not_reached`, and as who rents it out answers.
 */
export async function connectBrowser(
  place: Remote,
  options: BrowserOptions,
  leases: CloudLeases,
): Promise<BrowserProcess> {
  const driver = import('playwright-core')
  driver.catch(() => undefined)
  const label = place.type === 'cloud' ? CLOUDS[place.cloud].label : `The browser at ${hostOf(place.address)}`
  const lease = place.type === 'cloud' ? await leases.create(place.cloud) : null
  const sinceMs = options.clock.now()
  try {
    const address = await socketAddress(lease?.cdpUrl ?? (place as { address: string }).address, label, options)
    const leave = { type: 'fetch', url: pageAddress(address), method: 'GET', chosen: 'looks' } as const
    ;(await options.cloud.permit(leave)).consume(leave)
    const hub = new CdpHub(await SocketConnection.open(options.cloud.openSocket(address), label))
    void hub.closed.then(() => lease?.release())
    try {
      const guard = new DocumentGuard(hub, options.logger, { isShared: true })
      await guard.begin()
      const browser = await (await driver).chromium.connectOverCDP(hub.driver)
      return {
        browser,
        hub,
        guard,
        where: place,
        label,
        sinceMs,
        notice: `${label} shows the pages of the public web. ${HELD}`,
        async close() {
          await hub.close()
          await lease?.release()
        },
      }
    } catch (error) {
      await hub.close()
      throw error
    }
  } catch (error) {
    await lease?.release()
    if (HermesError.isInstance(error)) throw error
    throw new HermesError(`${label} cannot be used: its DevTools protocol answers otherwise than Chromium's.`, {
      code: 'browser.not_reached',
      cause: error,
    })
  }
}

/** The WebSocket of an address: its own, or what its `/json/version` names. */
async function socketAddress(address: string, label: string, { cloud }: BrowserOptions): Promise<string> {
  const url = URL.parse(address.includes('://') ? address : `http://${address}`)
  if (!url || !/^(?:wss?|https?):$/.test(url.protocol))
    throw new HermesError(`${label}: its address must begin with http, https, ws or wss.`, {
      code: 'browser.not_reached',
    })
  if (/^wss?:$/.test(url.protocol)) return url.href
  const versionUrl = new URL(`${url.pathname.replace(/\/$/, '')}/json/version${url.search}`, url)
  const leave = { type: 'fetch', url: versionUrl.href, method: 'GET', chosen: 'looks' } as const
  ;(await cloud.permit(leave)).consume(leave)
  const unreached = (cause?: unknown) =>
    new HermesError(
      `${label} cannot be reached. Start it with --remote-debugging-port=9222, or look at its address and key.`,
      { code: 'browser.not_reached', cause },
    )
  try {
    const response = await cloud.fetchTo(url.origin)(versionUrl, { signal: AbortSignal.timeout(15_000) })
    const answer: unknown = await response.json()
    const found = isJsonObject(answer as never)
      ? (answer as { webSocketDebuggerUrl?: unknown }).webSocketDebuggerUrl
      : null
    if (typeof found !== 'string' || !URL.canParse(found)) throw unreached()
    // It names the address it thinks it has; behind a proxy that is another one.
    const socket = new URL(found)
    socket.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    socket.host = url.host
    return socket.href
  } catch (error) {
    throw HermesError.isInstance(error) ? error : unreached(error)
  }
}

/** What a rule about pages would say of it, without what is secret in it. */
function pageAddress(socket: string): string {
  const url = new URL(socket.replace(/^ws/, 'http'))
  return `${url.origin}/`
}
