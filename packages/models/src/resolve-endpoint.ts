import { HermesError } from '@hermes/contracts'
import { findProvider, PROVIDERS, type Provider, similarProviders } from '@hermes/transports'

/** A provider with the address to use. */
export interface ResolvedEndpoint {
  readonly provider: Provider
  readonly baseUrl: string
}

/**
 * The provider of that name and where it is reached.
 * @throws HermesError `models.unknown_provider` naming the valid ones, `models.no_base_url` where the user must give an address.
 */
export function resolveEndpoint(name: string, baseUrl: string | undefined): ResolvedEndpoint {
  const provider = findProvider(name)
  if (!provider) throw unknownProvider(name)
  const address = baseUrl ?? provider.baseUrl
  if (!address)
    throw new HermesError(`The provider "${provider.id}" needs a base URL, for example http://127.0.0.1:8000/v1.`, {
      code: 'models.no_base_url',
      details: { provider: provider.id },
    })
  return { provider, baseUrl: address }
}

function unknownProvider(name: string): HermesError {
  const meant = similarProviders(name)
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''
  return new HermesError(`Unknown provider "${name}".${hint} Known are: ${PROVIDERS.map(({ id }) => id).join(', ')}.`, {
    code: 'models.unknown_provider',
    details: { provider: name },
  })
}

/**
 * Refuses to go on without a key where one is needed.
 * @throws HermesError `models.no_key` naming the variables and how to set them.
 */
export function requireKey({ provider, baseUrl }: ResolvedEndpoint, apiKey: string | null): void {
  if (apiKey || !provider.keyRequired || isLoopback(baseUrl)) return
  const [first = 'API_KEY', ...others] = provider.keyVariables
  const also = others.length > 0 ? ` (or ${others.join(', ')})` : ''
  throw new HermesError(
    `${provider.name} needs an API key: set ${first}${also}, with \`export ${first}=…\` or a line ${first}=… in the .env file of the Hermes home.`,
    { code: 'models.no_key', details: { provider: provider.id, variables: provider.keyVariables.join(',') } },
  )
}

/** A stand-in for the provider on this machine, such as a replayed recording, asks for no key. */
export function isLoopback(baseUrl: string): boolean {
  return (
    URL.canParse(baseUrl) &&
    /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/i.test(new URL(baseUrl).hostname)
  )
}
