// Plugins that lie where plugins are looked for, enabled or not.
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { errorLine } from '@hermes/contracts'
import type { PluginManifest } from './package/manifest.js'
import { shortened } from './package/shortened.js'
import type { PluginHost } from './plugin-host.js'
import { readState } from './state.js'

/** A folder with a plugin. */
export interface FoundPlugin {
  /** Absolute, without links. */
  readonly folder: string
  /** The project that brings it; `null` for the person's own. */
  readonly project: string | null
  readonly isInstalled: boolean
  /** The manifest, or what is wrong with it. */
  readonly manifest: PluginManifest | string
}

/** Looks through the folders of the home, of the person and of the project. Never rejects. */
export async function findPlugins(host: PluginHost): Promise<readonly FoundPlugin[]> {
  const found = await Promise.all((await placesOf(host)).map(async (place) => pluginsIn(place)))
  const seen = new Set<string>()
  return found.flat().filter(({ folder }) => !seen.has(folder) && seen.add(folder))
}

/** The folders of all plugins that are there or were agreed to, by what their manifests say or not. Absolute, without links. Never rejects. */
export async function pluginFolders(host: PluginHost): Promise<readonly string[]> {
  const [entries, places] = await Promise.all([readState(host.stateFile), placesOf(host)])
  const found = await Promise.all(places.map(async ({ folder }) => foldersIn(folder)))
  return [...new Set([...entries.map(({ folder }) => folder), ...found.flat().map(({ real }) => real)])]
}

async function placesOf(host: PluginHost): Promise<readonly Omit<FoundPlugin, 'manifest'>[]> {
  const project = await host.project().catch(() => null)
  return [
    { folder: host.directory, project: null, isInstalled: true },
    { folder: host.sharedDirectory, project: null, isInstalled: false },
    ...['.hermes/plugins', '.agents/plugins'].flatMap((path) =>
      project === null ? [] : [{ folder: join(project.folder, path), project: project.folder, isInstalled: false }],
    ),
  ]
}

async function foldersIn(folder: string): Promise<readonly { readonly name: string; readonly real: string }[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith('.')).sort()
  const found = await Promise.all(
    names.map(async (name) => ({ name, real: await realpath(join(folder, name)).catch(() => null) })),
  )
  return found.flatMap(({ name, real }) => (real === null ? [] : [{ name, real }]))
}

async function pluginsIn({ folder, ...place }: Omit<FoundPlugin, 'manifest'>): Promise<readonly FoundPlugin[]> {
  const found = await Promise.all(
    (await foldersIn(folder)).map(async ({ name, real }): Promise<readonly FoundPlugin[]> => {
      try {
        // It brings zod, which a home without plugins never needs.
        const { readManifest } = await import('./package/manifest.js')
        const manifest = await readManifest(real)
        return manifest ? [{ ...place, folder: real, manifest }] : []
      } catch (error) {
        return [{ ...place, folder: real, manifest: `${shortened(name, 60)}: ${errorLine(error)}` }]
      }
    }),
  )
  return found.flat()
}
