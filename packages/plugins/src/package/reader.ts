import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { insidePath } from './inside-path.js'
import type { PluginManifest } from './manifest.js'

const MAX_BYTES = 1_000_000

/** Where the files of a plugin are. Absolute. */
export interface PluginPlaces {
  readonly root: string
  /** Its own to write to; kept when it is updated. */
  readonly data: string
}

/** What the readers of components share. */
export interface Reader {
  readonly manifest: PluginManifest
  readonly places: PluginPlaces
  /** Takes a line for each part that is left out. */
  readonly problems: string[]
}

/** The text of a file of the plugin; `null` where there is none. */
export async function readInside({ places: { root } }: Reader, path: string): Promise<string | null> {
  const real = await insidePath(root, path)
  if (real === null) {
    const isThere = await stat(join(root, path)).catch(() => null)
    if (isThere) throw new Error(`${path} leads out of the plugin`)
    return null
  }
  const info = await stat(real)
  if (!info.isFile()) throw new Error(`${path} is no file`)
  if (info.size > MAX_BYTES) throw new Error(`${path} has ${info.size} bytes`)
  return readFile(real, 'utf8')
}

/** With the places of the plugin in place of their names, once. */
export function expandPlaces(text: string, { root, data }: PluginPlaces): string {
  return text.replaceAll(/\$\{(?:CLAUDE_)?(PLUGIN_ROOT|PLUGIN_DATA)\}/g, (_, name) =>
    name === 'PLUGIN_ROOT' ? root : data,
  )
}
