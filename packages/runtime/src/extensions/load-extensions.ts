import { realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorLine, systemClock } from '@hermes/contracts'
import type { Extension } from '@hermes/contracts/extension'

/** Extensions of a home, and why others are left out, one line each. */
export interface LoadedExtensions {
  readonly extensions: readonly Extension[]
  readonly problems: readonly string[]
}

const LOADED_WITHIN_MS = 10_000

/**
 * Loads the modules that `extensions` of config.yaml names. They run with all that Hermes may do, so they are read from `directory` alone, and
 * only where nobody but its owner can have written them. One that cannot be loaded within `withinMs` (default
 * 10,000) is a problem; the others work.
 */
export async function loadExtensions(
  names: readonly string[],
  directory: string,
  { withinMs = LOADED_WITHIN_MS }: { readonly withinMs?: number } = {},
): Promise<LoadedExtensions> {
  const extensions: Extension[] = []
  const problems: string[] = []
  for (const name of names) {
    try {
      const { href } = pathToFileURL(await ownFile(name, directory))
      extensions.push(extensionIn(await withinTime(import(href), withinMs)))
    } catch (error) {
      problems.push(`Extension ${name} is left out: ${errorLine(error).replace(/\.$/, '')}.`)
    }
  }
  return { extensions, problems }
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

/** The real path of a module that only its owner can change. */
async function ownFile(name: string, directory: string): Promise<string> {
  const [folder, file] = await Promise.all([realpath(directory), realpath(join(directory, name))])
  const inside = relative(folder, file)
  if (inside.startsWith('..')) throw new Error(`it lies outside ${directory}`)
  const parts = inside.split('/')
  for (const path of [folder, ...parts.map((_, index) => join(folder, ...parts.slice(0, index + 1)))]) {
    const { uid, mode } = await stat(path)
    const user = process.getuid?.()
    if (user !== undefined && uid !== user) throw new Error(`${path} belongs to somebody else`)
    if ((mode & 0o022) !== 0) throw new Error(`others can write to ${path}. Run: chmod go-w ${path}`)
  }
  return file
}
