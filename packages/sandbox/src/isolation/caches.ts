import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
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
export function prepareCache({
  cache,
  home,
  settings,
}: {
  readonly cache: string
  readonly home: string
  /** Where settings without secrets are put for commands to read, not to write. */
  readonly settings: string
}): Readonly<Record<string, string>> {
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  for (const name of SHARED) link(join(home, '.cache', name), join(cache, name))
  const caches = Object.entries(CACHES).map(([name, folder]) => [name, join(cache, folder)] as const)
  return { ...Object.fromEntries(caches), ...npmSettings(join(home, '.npmrc'), join(settings, 'npmrc')) }
}

const SECRET_NAME = /auth|pass|token|user|email|key|cert|otp/i

/** What `~/.npmrc` says of registries and the like, without the logins in it: the file itself is hidden. */
function npmSettings(from: string, to: string): Readonly<Record<string, string>> {
  let text: string
  try {
    text = readFileSync(from, 'utf8')
  } catch {
    return {}
  }
  const isPlain = (line: string) => {
    const [, name = '', value = ''] = /^\s*([^=]*)=?(.*)$/.exec(line) ?? []
    // A variable is no secret of the file.
    if (/^\s*\$\{\w+\}\s*$/.test(value)) return true
    return !SECRET_NAME.test(name) && !/:\/\/[^/]*@/.test(value)
  }
  const own = `${to}-${randomBytes(4).toString('hex')}`
  writeFileSync(own, text.split('\n').filter(isPlain).join('\n'), { mode: 0o600 })
  renameSync(own, to)
  return { npm_config_userconfig: to }
}

/** What commands put in place of a link stays. */
function link(target: string, path: string): void {
  if (!existsSync(target)) return
  try {
    symlinkSync(target, path)
  } catch {
    // It is there already, as our link or as a folder that a command made.
  }
}
