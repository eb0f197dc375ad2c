import { realpath } from 'node:fs/promises'
import { createRequire, registerHooks } from 'node:module'
import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorLine, systemClock } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { shortened } from '../package/shortened.js'
import type { PluginHost } from '../plugin-host.js'
import { noteFault } from '../state.js'
import { contain } from './containment.js'

const LOADED_WITHIN_MS = 10_000
const MOST_ERROR_CHARS = 300

/** A plugin that runs inside Hermes. */
interface InsidePlugin {
  readonly name: string
  /** The module with its extension, in `folder`. Absolute. */
  readonly module: string
  readonly folder: string
  /** Tells its files from those that were there before. */
  readonly version: string
}

/**
 * Loads a plugin that runs inside Hermes, with all its files as they are now, also where others of it were loaded before. What it leaves uncaught
 * ends nothing but the plugin: it is off from then on, which the log and `hermes plugins doctor` say.
 */
export async function loadInside(
  { name, module, folder, version }: InsidePlugin,
  host: Pick<PluginHost, 'stateFile' | 'logger' | 'clock'>,
): Promise<Extension> {
  const root = await realpath(folder)
  const onFault = (reason: unknown) => {
    const error = shortened(errorLine(reason), MOST_ERROR_CHARS)
    // The logger of a home is there once it is open.
    host.logger.error(`Plugin ${name} left an error uncaught and is off until Hermes starts again.`, { error })
    noteFault(host.stateFile, folder, { error, atMs: host.clock.now() }).catch((failed: unknown) =>
      host.logger.warn(`What plugin ${name} left uncaught is not kept.`, { error: errorLine(failed) }),
    )
  }
  const { contained, isFirst } = contain({ name, folder: root, onFault })
  if (isFirst) carryVersions(root)
  forgetRequired(root)
  const extension = await contained.run(() => loaded(`${pathToFileURL(module).href}?${version.slice(0, 16)}`))
  return {
    name: extension.name,
    setup: (api) => {
      const ends = contained.run(() => extension.setup(ownedApi(api, (value) => contained.owned(value))))
      return typeof ends === 'function' ? () => contained.run(ends) : ends
    },
  }
}

async function loaded(url: string): Promise<Extension> {
  const ended = new AbortController()
  const late = systemClock.sleep(LOADED_WITHIN_MS, ended.signal).then(() => {
    throw new Error(`it was not loaded within ${LOADED_WITHIN_MS / 1_000} s`)
  })
  late.catch(() => undefined)
  const loading = import(url) as Promise<{ readonly default?: Partial<Extension> }>
  const { default: extension } = await Promise.race([loading, late]).finally(() => ended.abort())
  if (typeof extension?.name === 'string' && typeof extension.setup === 'function') return extension as Extension
  throw new TypeError('its default export is no extension, { name, setup }')
}

/**
 * Node keeps a module by its address for as long as the process lives: what a module of the plugin imports beside it gets the mark of its
 * version too, so that an update is read anew as a whole.
 */
function carryVersions(root: string): void {
  const base = pathToFileURL(`${root}${sep}`).href
  registerHooks({
    resolve: (specifier, context, next) => {
      const found = next(specifier, context)
      const { parentURL = '' } = context
      const mark = parentURL.startsWith(base) ? new URL(parentURL).search : ''
      const isOwn = mark !== '' && found.url.startsWith(base) && !found.url.includes('?')
      return isOwn ? { ...found, url: `${found.url}${mark}` } : found
    },
  })
}

/** What the plugin requires is kept by its path, where no mark tells versions apart. */
function forgetRequired(root: string): void {
  const { cache } = createRequire(import.meta.url)
  for (const file of Object.keys(cache)) if (file.startsWith(`${root}${sep}`)) delete cache[file]
}

/** What the plugin hands over is its own when it is called later. */
function ownedApi<Api extends object>(api: Api, owned: <Value>(value: Value) => Value): Api {
  return new Proxy(api, {
    get: (target, key) => {
      const found: unknown = Reflect.get(target, key)
      if (typeof found === 'function')
        return (...args: readonly unknown[]) => Reflect.apply(found, target, args.map(owned))
      return typeof found === 'object' && found !== null ? ownedApi(found, owned) : found
    },
  })
}
