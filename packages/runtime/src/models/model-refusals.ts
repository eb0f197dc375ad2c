// Why no model can answer: one line each, with what to do.
import { HermesError } from '@hermes/contracts'
import { absentProvider, PROVIDERS, type Provider, similarProviders } from '@hermes/transports'

/** A provider that neither the catalogue nor config.yaml has. */
export function unknownProvider(
  name: string,
  endpoints: Readonly<Record<string, { readonly aliases?: readonly string[] | undefined }>>,
): HermesError {
  const absent = absentProvider(name)
  if (absent !== null)
    return new HermesError(`Hermes does not offer the provider ${name}: ${absent}`, { code: 'models.unknown_provider' })
  const own = Object.entries(endpoints).flatMap(([id, { aliases = [] }]) => [id, ...aliases])
  const meant = similarProviders(name, own)
  const hint = meant.length > 0 ? ` Did you mean ${meant.join(' or ')}?` : ''
  const valid = [...own, ...PROVIDERS.map(({ id }) => id)].join(', ')
  return new HermesError(`Unknown provider "${name}".${hint} Valid providers: ${valid}.`, {
    code: 'models.unknown_provider',
  })
}

/** A key goes to whom it was made for; an endpoint without a name could be anybody. */
export function foreignKey(provider: Provider, baseUrl: string, name: string | null): HermesError {
  const [variable] = provider.keyVariables
  const where = name === null ? 'model.key_env' : `providers.${name}.key_env`
  return new HermesError(
    `${variable} is not sent to ${new URL(baseUrl).host}: name the variable with its key as ${where} in config.yaml (${variable} itself, if you trust it), or set ${where.replace('key_env', 'api_key')} to none.`,
    { code: 'models.foreign_key', details: { provider: name ?? provider.id } },
  )
}

export function noAddress(name: string): HermesError {
  return new HermesError(`Provider ${name} needs an address: --base-url URL, or model.base_url in config.yaml.`, {
    code: 'runtime.no_base_url',
  })
}

export function badAddress(baseUrl: string): HermesError {
  return new HermesError(`"${baseUrl}" is not a web address. It should look like http://127.0.0.1:8080/v1`, {
    code: 'runtime.bad_base_url',
  })
}

export function noModel(name: string): HermesError {
  return new HermesError(`No model chosen for ${name}: pass -m MODEL, or run: hermes config set model.default MODEL`, {
    code: 'models.no_model',
  })
}

const NAMED_VARIABLES = 3

/** `model`: the one that was named without a provider. */
export function noProvider(model: string | undefined): HermesError {
  const variables = PROVIDERS.flatMap((provider) =>
    provider.keyRequired ? (provider.keyVariables[0] ?? []) : [],
  ).slice(0, NAMED_VARIABLES)
  return new HermesError(
    `${model === undefined ? 'No model is set up.' : `Nothing says where to ask ${model}.`} Set ${variables.join(' or ')} (export ${variables[0]}=…), or use a local one: --provider ollama -m MODEL, or --base-url URL -m MODEL. To look around without a key: hermes demo`,
    { code: 'models.no_key' },
  )
}

export function noKey(provider: Provider): HermesError {
  const variable = provider.keyVariables[0] ?? provider.sharedKeyVariables[0]
  if (variable === undefined)
    return new HermesError(`${provider.name} needs a sign-in: hermes auth add ${provider.id}`, {
      code: 'models.no_key',
    })
  return new HermesError(
    `${provider.name} needs a key: export ${variable}=…, or put ${variable}=… into the .env file of the Hermes home.`,
    { code: 'models.no_key' },
  )
}
