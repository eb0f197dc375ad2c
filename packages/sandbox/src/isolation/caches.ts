import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Where package managers and compilers keep what they download, below a folder of ours. */
const CACHES: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: '',
  npm_config_cache: 'npm',
  PNPM_HOME: 'pnpm',
  pnpm_config_store_dir: 'pnpm/store',
  YARN_GLOBAL_FOLDER: 'yarn',
  BUN_INSTALL_CACHE_DIR: 'bun',
  GOMODCACHE: 'go',
  CARGO_HOME: 'cargo',
  GRADLE_USER_HOME: 'gradle',
  BUNDLE_USER_CACHE: 'bundle',
  NUGET_PACKAGES: 'nuget',
  DOTNET_CLI_HOME: 'dotnet',
}

/** Large things below `~/.cache` that are downloaded once and only read after that. */
const SHARED = ['ms-playwright', 'puppeteer', 'Cypress', 'huggingface', 'torch']

/**
 * Makes the folder that isolated commands keep their downloads in, and gives the variables that say so. The caches of `home` are used
 * outside too, where nothing foreign may get in; some of them can be read through links.
 */
export function prepareCache(cache: string, home: string): Readonly<Record<string, string>> {
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  for (const name of SHARED) link(join(home, '.cache', name), join(cache, name))
  return Object.fromEntries(Object.entries(CACHES).map(([name, folder]) => [name, join(cache, folder)]))
}

function link(target: string, path: string): void {
  if (!existsSync(target)) return
  try {
    symlinkSync(target, path)
  } catch {
    // It is there already, as our link or as a folder that a command made.
  }
}
