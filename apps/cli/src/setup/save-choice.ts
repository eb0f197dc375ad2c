import { loadConfig, setConfigValue, setSecret, unsetConfigValue } from '@hermes/config'
import { findProvider, keyVariablesFor } from '@hermes/transports'
import type { Endpoint } from './endpoint.js'

/** The variable that holds a typed key: the provider's own, or one for an endpoint without a name. */
function keyVariable(provider: string): string {
  return provider === 'custom' ? 'CUSTOM_API_KEY' : (findProvider(provider)?.keyVariables[0] ?? 'CUSTOM_API_KEY')
}

/**
 * Keeps a choice that has been tested: a typed key in `.env`, the rest in config.yaml; comments stay.
 * @throws HermesError `config.*`, before anything is written when config.yaml is broken.
 */
export async function saveChoice(home: string, endpoint: Endpoint, model: string): Promise<void> {
  const { provider, baseUrl, apiKey, keyEnv, isNewKey } = endpoint
  const set = (key: string, value: string) => setConfigValue({ home, key, value })
  const unset = (key: string) => unsetConfigValue({ home, key })
  // The first write finds out whether config.yaml can be written at all; a key is not kept without it.
  await set('model.default', model)
  if (isNewKey && apiKey !== null) await setSecret({ home, name: keyVariable(provider), value: apiKey })
  const { config } = await loadConfig({ home, env: {} })
  if (config.model.provider !== provider) for (const key of ['api_key', 'api_mode']) await unset(`model.${key}`)
  if (baseUrl === findProvider(provider)?.baseUrl) await unset('model.base_url')
  else await set('model.base_url', baseUrl)
  await set('model.provider', provider)
  await keepNamedEndpoint()

  /** A section of that name under `providers` counts more than `model`; it must say the same. */
  async function keepNamedEndpoint(): Promise<void> {
    const known = findProvider(provider)
    const own = known ? keyVariablesFor(known, baseUrl) : []
    const variable = keyEnv ?? (isNewKey && provider === 'custom' ? keyVariable(provider) : null)
    const named = config.providers[provider]
    if (variable !== null && !own.includes(variable)) await set(`providers.${provider}.key_env`, variable)
    else if (named?.key_env !== undefined && (isNewKey || keyEnv !== null)) await unset(`providers.${provider}.key_env`)
    if (named?.model !== undefined) await set(`providers.${provider}.model`, model)
    if (named?.base_url !== undefined) await set(`providers.${provider}.base_url`, baseUrl)
    if (named?.api_key !== undefined && (isNewKey || keyEnv !== null)) await unset(`providers.${provider}.api_key`)
  }
}
