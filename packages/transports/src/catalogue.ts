import { FIRST_GATEWAYS, GATEWAYS } from './catalogue/gateways.js'
import { LOCAL_SERVERS } from './catalogue/local.js'
import { type Provider, toProvider } from './catalogue/provider.js'
import { FIRST_VENDORS, VENDORS } from './catalogue/vendors.js'

export type { Provider, ProviderAuth, ProviderQuirks, SchemaDialect } from './catalogue/provider.js'

/** Every provider Hermes knows, in the order in which they are offered. */
export const PROVIDERS: readonly Provider[] = Object.freeze(
  [...FIRST_VENDORS, ...FIRST_GATEWAYS, ...VENDORS, ...GATEWAYS, ...LOCAL_SERVERS].map(toProvider),
)

/** The provider with this id or alias, upper and lower case alike; `null` when there is none. */
export function findProvider(idOrAlias: string): Provider | null {
  const wanted = idOrAlias.trim().toLowerCase()
  return PROVIDERS.find(({ id, aliases }) => id === wanted || aliases.includes(wanted)) ?? null
}
