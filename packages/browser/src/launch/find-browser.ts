import { access, constants } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { HermesError } from '@hermes/contracts'

const NAMES = [
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'chromium',
  'chromium-browser',
  'brave-browser',
  'brave',
  'microsoft-edge-stable',
  'microsoft-edge',
]

const MAC = [
  'Google Chrome.app/Contents/MacOS/Google Chrome',
  'Chromium.app/Contents/MacOS/Chromium',
  'Brave Browser.app/Contents/MacOS/Brave Browser',
  'Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
]

const INSTALLED = ['/usr/bin', '/usr/local/bin', '/snap/bin', '/opt/google/chrome']

/** Where a browser may be. */
interface FindBrowserOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The program that the configuration names; `null` looks for one. */
  readonly executable: string | null
  /** Folders that are looked through after those of `PATH`. Default: where systems put programs. */
  readonly installed?: readonly string[]
}

/**
 * Chrome, Chromium, Brave or Edge, whichever is there first: on `PATH`, then where they are installed. Absolute.
 * @throws HermesError `browser.not_installed`, which says what to install.
 */
export async function findBrowser({ env, executable, installed = INSTALLED }: FindBrowserOptions): Promise<string> {
  const folders = [...(env['PATH'] ?? '').split(delimiter).filter(isAbsolute), ...installed]
  if (executable !== null) {
    const places = isAbsolute(executable) ? [executable] : folders.map((folder) => join(folder, executable))
    const found = await firstRunnable(places)
    if (found !== null) return found
    throw new HermesError(`browser.executable of config.yaml is ${executable}, and there is no such program.`, {
      code: 'browser.not_installed',
    })
  }
  const home = env['HOME']
  const found = await firstRunnable([
    ...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...MAC.flatMap((path) => [join('/Applications', path), ...(home ? [join(home, 'Applications', path)] : [])]),
  ])
  if (found !== null) return found
  throw new HermesError(
    'There is no browser on this machine. Install Chromium, Chrome, Brave or Edge (on Debian and Ubuntu: apt install chromium), or name its program in browser.executable of config.yaml.',
    { code: 'browser.not_installed' },
  )
}

async function firstRunnable(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (runs) return path
  }
  return null
}
