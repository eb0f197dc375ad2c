import { isMap } from './check-field.js'
import type { HermesConfig } from './hermes-config.js'
import { keyPath } from './schema.js'

/** The value at a dotted key (`agent.max_turns`, `fallback_providers.0`); `undefined` when there is none. */
export function getConfigValue(config: HermesConfig, key: string): unknown {
  return keyPath(key).reduce<unknown>((value, name) => {
    if (!isMap(value) && !Array.isArray(value)) return undefined
    return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  }, config)
}
