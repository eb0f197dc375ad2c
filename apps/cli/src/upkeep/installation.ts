import { existsSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

declare const __HERMES_VERSION__: string

/** The name under which the registry knows this program. */
export const PACKAGE = '@hermes/cli'

/** How Hermes came to this machine. */
export interface Installation {
  readonly version: string
  /** The folder of the package. Absolute. */
  readonly folder: string
  /** `npm` and `pnpm`: installed globally by it; `sources`: a copy of the repository, or none that we know of. */
  readonly by: 'npm' | 'pnpm' | 'npx' | 'sources'
}

/** The program that runs now. Pure but for a look at its folder; `module` is the file asked from. */
export function findInstallation(module = fileURLToPath(import.meta.url)): Installation {
  let folder = dirname(module)
  while (folder !== dirname(folder) && !existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return { version: __HERMES_VERSION__, folder, by: installerOf(folder) }
}

function installerOf(folder: string): Installation['by'] {
  const parts = folder.split(sep)
  if (!parts.includes('node_modules')) return 'sources'
  if (parts.includes('_npx')) return 'npx'
  return parts.includes('.pnpm') ? 'pnpm' : 'npm'
}
