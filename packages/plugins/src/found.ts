// Plugins that lie where plugins are looked for, enabled or not.
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { errorLine } from '@hermes/contracts'
import type { PluginManifest } from './package/manifest.js'
import { shortened } from './package/shortened.js'
import type { PluginHost } from './plugin-host.js'

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
  const project = await host.project().catch(() => null)
  const places = [
    { folder: host.directory, project: null, isInstalled: true },
    { folder: host.sharedDirectory, project: null, isInstalled: false },
    ...['.hermes/plugins', '.agents/plugins'].flatMap((path) =>
      project === null ? [] : [{ folder: join(project.folder, path), project: project.folder, isInstalled: false }],
    ),
  ]
  const found = await Promise.all(places.map(async (place) => pluginsIn(place)))
  const seen = new Set<string>()
  return found.flat().filter(({ folder }) => !seen.has(folder) && seen.add(folder))
}

async function pluginsIn({ folder, ...place }: Omit<FoundPlugin, 'manifest'>): Promise<readonly FoundPlugin[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith('.')).sort()
  const found = await Promise.all(
    names.map(async (name): Promise<readonly FoundPlugin[]> => {
      const real = await realpath(join(folder, name)).catch(() => null)
      if (real === null) return []
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
