import { HermesError, isJsonObject } from '@hermes/contracts'
import type { BrowserOptions } from '../browser-options.js'
import { hostOf, type Place } from '../cloud/choose-place.js'
import type { CloudLeases, HeldLease } from '../cloud/cloud-leases.js'
import { CLOUDS } from '../cloud/cloud-vendors.js'
import { DocumentGuard } from '../guard/document-guard.js'
import { CdpHub } from '../wire/cdp-hub.js'
import { SocketConnection } from '../wire/socket-connection.js'
import type { BrowserProcess } from './browser-process.js'

type Remote = Extract<Place, { readonly type: 'cloud' | 'address' }>

const HELD =
  'This browser is not on this machine: its requests are held one by one, but WebSockets and what its workers ask for are not.'

/**
 * Connects to a browser that runs elsewhere; where it is a cloud's, in the session that a connection left which ended, else in a new one.
 * @throws HermesError `browser.not_reached`, and as who rents it out answers.
 */
export async function connectBrowser(
  place: Remote,
  options: BrowserOptions,
  leases: CloudLeases,
): Promise<BrowserProcess> {
  if (place.type === 'address') return connected(place, options, { label: `The browser at ${hostOf(place.address)}` })
  const { label } = CLOUDS[place.cloud]
  const aside = leases.takeAside(place.cloud)
  // It may have expired meanwhile.
  const again = aside && (await connected(place, options, { label, lease: aside, leases }).catch(() => null))
  return again ?? connected(place, options, { label, lease: await leases.create(place.cloud), leases })
}

interface Connecting {
  readonly label: string
  readonly lease?: HeldLease
  readonly leases?: CloudLeases
}

async function connected(
  place: Remote,
  options: BrowserOptions,
  { label, lease, leases }: Connecting,
): Promise<BrowserProcess> {
  const { clock, cloud, logger } = options
  const driver = import('playwright-core')
  driver.catch(() => undefined)
  const sinceMs = clock.now()
  let isOver = false
  const over = async () => {
    isOver = true
    await lease?.release()
  }
  try {
    const address = await socketAddress(lease?.cdpUrl ?? (place as { address: string }).address, label, options)
    const leave = { type: 'fetch', url: pageAddress(address), method: 'GET', chosen: 'looks' } as const
    ;(await cloud.permit(leave)).consume(leave)
    const hub = new CdpHub(await SocketConnection.open(cloud.openSocket(address), label))
    try {
      const guard = new DocumentGuard(hub, logger, { isShared: true })
      await guard.begin()
      const browser = await (await driver).chromium.connectOverCDP(hub.driver)
      // Not before: one whose connection ended until here is released below, and nothing to open the next page in.
      if (lease) void hub.closed.then(() => (isOver ? undefined : leases?.connectionEnded(lease)))
      return {
        browser,
        hub,
        guard,
        where: place,
        label,
        sinceMs: lease?.sinceMs ?? sinceMs,
        notice: `${label} shows the pages of the public web. ${HELD}`,
        async close() {
          isOver = true
          await hub.close()
          await over()
        },
      }
    } catch (error) {
      await hub.close()
      throw error
    }
  } catch (error) {
    await over()
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
