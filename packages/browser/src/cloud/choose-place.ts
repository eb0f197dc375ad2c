import { HermesError } from '@hermes/contracts'
import { findBrowser } from '../launch/find-browser.js'
import type { BrowserSettings } from '../settings.js'
import { CLOUD_NAMES, CLOUDS, type CloudName } from './cloud-vendors.js'

/** Where pages of the public web are opened. Those of this machine and its networks are always opened here. */
export type Place =
  | { readonly type: 'local' }
  | { readonly type: 'address'; readonly address: string }
  | { readonly type: 'cloud'; readonly cloud: CloudName }
  /** Firefox behind an API of its own. */
  | { readonly type: 'camofox' }

interface PlaceOptions {
  readonly settings: Pick<BrowserSettings, 'backend' | 'cdpUrl' | 'executable'>
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** What somebody connected by hand; `null` for nothing. */
  readonly connected: string | null
}

/**
 * What was connected by hand; else what `browser.backend` names, alone; else an address that is set (of the DevTools protocol, of Camofox), the browser of this machine, a cloud with a key.
 * @throws HermesError `browser.not_configured` for a cloud that is chosen without its key.
 */
export async function choosePlace({ settings, variables, env, connected }: PlaceOptions): Promise<Place> {
  if (connected !== null) return { type: 'address', address: connected }
  const { backend } = settings
  if (backend === 'local') return { type: 'local' }
  const address = settings.cdpUrl ?? (variables['BROWSER_CDP_URL'] ?? '').trim()
  if (backend === 'cdp' || backend === 'auto') {
    if (address !== '') return { type: 'address', address }
    if (backend === 'cdp')
      throw notConfigured('browser.backend is cdp, and neither browser.cdp_url nor BROWSER_CDP_URL names an address.')
    if (hasCamofox(variables)) return { type: 'camofox' }
    return automatic(settings, variables, env)
  }
  if (backend === 'camofox') {
    if (hasCamofox(variables)) return { type: 'camofox' }
    throw notConfigured('Camofox is chosen in config.yaml and CAMOFOX_URL is not set; put its address into .env.')
  }
  const { label, keyVariable } = CLOUDS[backend]
  if (hasKey(backend, variables)) return { type: 'cloud', cloud: backend }
  throw notConfigured(`${label} is chosen in config.yaml and ${keyVariable} is not set; put it into .env.`)
}

async function automatic(
  { executable }: PlaceOptions['settings'],
  variables: PlaceOptions['variables'],
  env: PlaceOptions['env'],
): Promise<Place> {
  const isHere = await findBrowser({ env, executable }).then(
    () => true,
    () => false,
  )
  const cloud = isHere ? undefined : CLOUD_NAMES.find((name) => hasKey(name, variables))
  // Without either, starting the local one says what to install.
  return cloud === undefined ? { type: 'local' } : { type: 'cloud', cloud }
}

const hasCamofox = (variables: PlaceOptions['variables']) => (variables['CAMOFOX_URL'] ?? '').trim() !== ''

const hasKey = (name: CloudName, variables: PlaceOptions['variables']) =>
  (variables[CLOUDS[name].keyVariable] ?? '').trim() !== ''

const notConfigured = (text: string) => new HermesError(text, { code: 'browser.not_configured' })

/** An address without what may be secret in it. */
export function hostOf(address: string): string {
  return URL.parse(address.includes('://') ? address : `http://${address}`)?.host ?? 'that address'
}
