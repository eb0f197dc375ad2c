import {
  awsCredential,
  bedrockAddress,
  findProvider,
  keyVariablesFor,
  PROVIDERS,
  type Provider,
  similarProviders,
} from '@hermes/transports'
import { UsageError } from '../errors.js'
import type { Endpoint } from './endpoint.js'

/** Flags of `hermes setup`. */
export interface SetupOptions {
  readonly provider?: string
  readonly model?: string
  readonly baseUrl?: string
  readonly keyEnv?: string
}

/**
 * The endpoint that flags name.
 * @throws UsageError for an unknown provider, a missing address, a variable that is not set, a missing key.
 */
export function endpointFromFlags(options: SetupOptions, secrets: Readonly<Record<string, string>>): Endpoint {
  const name = options.provider ?? 'custom'
  const provider = findProvider(name)
  if (!provider)
    throw new UsageError(
      `Unknown provider "${name}".${hint(similarProviders(name))} Valid providers: ${PROVIDERS.map(({ id }) => id).join(', ')}.`,
    )
  const baseUrl = options.baseUrl ?? movedTo(provider, secrets) ?? provider.baseUrl
  if (!baseUrl) throw new UsageError(`${provider.name} needs an address: --base-url URL`)
  checkAddress(baseUrl)
  const keyEnv = options.keyEnv ?? null
  if (keyEnv !== null && !secrets[keyEnv])
    throw new UsageError(`--key-env names ${keyEnv}, which is set neither in the environment nor in .env.`)
  const apiKey = keyEnv === null ? foundKey(provider, baseUrl, secrets) : secrets[keyEnv]!
  if (apiKey === null && provider.keyRequired && options.baseUrl === undefined)
    throw new UsageError(
      `${provider.name} needs a key: set ${provider.keyVariables[0]}, or name the variable that holds it with --key-env.`,
    )
  return { provider: provider.id, name: provider.name, baseUrl, apiKey, keyEnv, isNewKey: false }
}

/** The address that variables move a provider to, as in a conversation. */
function movedTo({ baseUrlVariable, auth }: Provider, secrets: Readonly<Record<string, string>>): string | null {
  const moved = baseUrlVariable && secrets[baseUrlVariable]
  return moved || (auth === 'aws' ? bedrockAddress(secrets) : null)
}

function foundKey(provider: Provider, baseUrl: string, secrets: Readonly<Record<string, string>>): string | null {
  return provider.auth === 'aws' ? awsCredential(secrets) : keyOf(keyVariablesFor(provider, baseUrl), secrets)
}

function hint(similar: readonly string[]): string {
  return similar.length > 0 ? ` Did you mean ${similar.join(' or ')}?` : ''
}

/** Refuses what cannot be the address of a model server. */
export function checkAddress(baseUrl: string): void {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol))
    throw new UsageError(`"${baseUrl}" is not a web address. It should look like http://127.0.0.1:8080/v1`)
}

/** The first of the variables that is set. */
export function keyOf(variables: readonly string[], secrets: Readonly<Record<string, string>>): string | null {
  return variables.map((name) => secrets[name]).find((value) => value !== undefined && value !== '') ?? null
}
