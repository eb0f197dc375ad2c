import { pathToFileURL } from 'node:url'
import { systemClock } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'

const LOADED_WITHIN_MS = 10_000

/** Loads a plugin that runs inside Hermes; `version` tells a changed module from the one that was loaded before. */
export async function loadInside(module: string, version: string): Promise<Extension> {
  const ended = new AbortController()
  const late = systemClock.sleep(LOADED_WITHIN_MS, ended.signal).then(() => {
    throw new Error(`it was not loaded within ${LOADED_WITHIN_MS / 1_000} s`)
  })
  late.catch(() => undefined)
  const loading = import(`${pathToFileURL(module).href}?${version.slice(0, 16)}`) as Promise<{
    readonly default?: Partial<Extension>
  }>
  const loaded = await Promise.race([loading, late]).finally(() => ended.abort())
  const extension = loaded.default
  if (typeof extension?.name === 'string' && typeof extension.setup === 'function') return extension as Extension
  throw new TypeError('its default export is no extension, { name, setup }')
}
