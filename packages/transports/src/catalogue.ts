import { distance } from 'fastest-levenshtein'
import { FIRST_GATEWAYS, GATEWAYS } from './catalogue/gateways.js'
import { LOCAL_SERVERS } from './catalogue/local.js'
import { type Provider, toProvider } from './catalogue/provider.js'
import { FIRST_VENDORS, VENDORS } from './catalogue/vendors.js'

export { ABSENT_PROVIDERS, absentProvider } from './catalogue/absent.js'
export type { Provider, ProviderQuirks, SchemaDialect } from './catalogue/provider.js'

/** Every provider Hermes knows, in the order in which they are offered. */
export const PROVIDERS: readonly Provider[] = Object.freeze(
  [...FIRST_VENDORS, ...FIRST_GATEWAYS, ...VENDORS, ...GATEWAYS, ...LOCAL_SERVERS].map(toProvider),
)

/** The provider with this id or alias, upper and lower case alike; `null` when there is none. */
export function findProvider(idOrAlias: string): Provider | null {
  const wanted = idOrAlias.trim().toLowerCase()
  return PROVIDERS.find(({ id, aliases }) => id === wanted || aliases.includes(wanted)) ?? null
}

const MAX_SUGGESTIONS = 3

/** Names of providers like one that does not exist, most alike first; `more` are names beside the catalogue. At most three. */
export function similarProviders(name: string, more: readonly string[] = []): readonly string[] {
  const ids = PROVIDERS.flatMap(({ id, aliases }) => [id, ...aliases].map((word) => ({ word, id })))
  return similarNames(name, [...more.map((word) => ({ word, id: word })), ...ids])
}

/** As {@link similarProviders}, for names of any kind. */
export function similar(name: string, names: readonly string[]): readonly string[] {
  return similarNames(
    name,
    names.map((word) => ({ word, id: word })),
  )
}

function similarNames(
  name: string,
  candidates: readonly { readonly word: string; readonly id: string }[],
): readonly string[] {
  const wanted = name.trim().toLowerCase()
  const atMost = Math.max(1, Math.floor(wanted.length / 3))
  const scored = candidates.flatMap(({ word, id }) => {
    const lower = word.toLowerCase()
    const edits = wanted.length > 2 && lower.includes(wanted) ? 0 : distance(wanted, lower)
    return edits <= atMost ? [{ id, edits }] : []
  })
  return [...new Set(scored.toSorted((a, b) => a.edits - b.edits).map(({ id }) => id))].slice(0, MAX_SUGGESTIONS)
}

/** The environment variables whose value may go to an address: that of OpenAI goes to no endpoint elsewhere that has no name. */
export function keyVariablesFor(provider: Provider, baseUrl: string): readonly string[] {
  const own = [...provider.keyVariables, ...provider.sharedKeyVariables]
  return provider.id === 'custom' && isForeign(baseUrl) ? [] : own
}

/** Whether an address is neither this machine nor OpenAI's. */
function isForeign(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return true
  return !/^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|(?:.+\.)?api\.openai\.com)$/.test(
    new URL(baseUrl).hostname,
  )
}
