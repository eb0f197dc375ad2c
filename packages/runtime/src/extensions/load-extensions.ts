import { errorLine, systemClock } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'
import { guardImports, ownModule } from './own-files.js'

/** Extensions of a home, and why others are left out, one line each. */
export interface LoadedExtensions {
  readonly extensions: readonly Extension[]
  readonly problems: readonly string[]
  /** Ends the watch over what they import. */
  readonly close: () => void
}

const LOADED_WITHIN_MS = 10_000

/**
 * Loads the modules that `extensions` of config.yaml names. They run with all that Hermes may do, so they are read from `directory` alone, and
 * only where nobody but the user and root can have put them; so are the files that they import. One that cannot be loaded within `withinMs` (default
 * 10,000) is a problem; the others work.
 */
export async function loadExtensions(
  names: readonly string[],
  directory: string,
  { withinMs = LOADED_WITHIN_MS }: { readonly withinMs?: number } = {},
): Promise<LoadedExtensions> {
  const extensions: Extension[] = []
  const problems: string[] = []
  const imports = names.length === 0 ? null : guardImports()
  for (const name of names) {
    try {
      const href = await ownModule(name, directory)
      imports?.add(href)
      extensions.push(extensionIn(await withinTime(import(href), withinMs)))
    } catch (error) {
      problems.push(`Extension ${name} is left out: ${errorLine(error).replace(/\.$/, '')}.`)
    }
  }
  return { extensions, problems, close: () => imports?.hooks.deregister() }
}

/** A module that waits for something as it loads would hold up every command of `hermes`. */
function withinTime(loading: Promise<unknown>, withinMs: number): Promise<unknown> {
  const ended = new AbortController()
  const late = systemClock.sleep(withinMs, ended.signal).then(() => {
    throw new Error(`it was not loaded within ${withinMs / 1000} s`)
  })
  late.catch(() => undefined)
  return Promise.race([loading, late]).finally(() => ended.abort())
}

function extensionIn(module: unknown): Extension {
  const extension = (module as { readonly default?: Partial<Extension> }).default
  if (typeof extension?.name === 'string' && typeof extension.setup === 'function') return extension as Extension
  throw new TypeError('its default export is no extension, { name, setup }')
}
