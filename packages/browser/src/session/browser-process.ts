import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { Browser } from 'playwright-core'
import type { BrowserOptions } from '../browser-options.js'
import type { Place } from '../cloud/choose-place.js'
import { DocumentGuard } from '../guard/document-guard.js'
import { launchArguments } from '../launch/arguments.js'
import { findBrowser } from '../launch/find-browser.js'
import { makeProfileFolder, removeProfileFolder } from '../launch/profile-folder.js'
import type { BrowserSettings } from '../settings.js'
import { CdpHub } from '../wire/cdp-hub.js'
import { PipeConnection } from '../wire/pipe-connection.js'
import { NO_SANDBOX } from './notices.js'

/** A browser that runs. */
export interface BrowserProcess {
  readonly browser: Browser
  readonly hub: CdpHub
  readonly guard: DocumentGuard
  readonly where: Place
  /** What people call it. */
  readonly label: string
  /** Since when it is there. */
  readonly sinceMs: number
  /** What the person should know of it; `null` for nothing. */
  readonly notice: string | null
  /** Ends it and removes its folder. Never rejects. */
  close(): Promise<void>
}

/**
 * Starts the browser of this machine.
 * @throws HermesError `browser.not_installed`, `browser.not_started`, or what the permit for its program throws.
 */
export async function startBrowser(options: BrowserOptions, settings: BrowserSettings): Promise<BrowserProcess> {
  const { env, isRoot, cacheDir, logger } = options
  const program = await findBrowser({ env, executable: settings.executable })
  const folder = await makeProfileFolder(cacheDir)
  try {
    const argv = launchArguments({ program, folder, isHeaded: settings.isHeaded, withoutSandbox: isRoot })
    const connection = new PipeConnection(await options.start(argv))
    // It takes as long as the browser does to start, and keeps this process from starting one meanwhile.
    const driver = import('playwright-core')
    driver.catch(() => undefined)
    const hub = new CdpHub(connection)
    void hub.closed.then(() => removeProfileFolder(folder))
    try {
      const guard = new DocumentGuard(hub, logger)
      await guard.begin()
      const { chromium } = await driver
      const browser = await chromium.connectOverCDP(hub.driver, { artifactsDir: join(folder, 'artifacts') })
      return {
        browser,
        hub,
        guard,
        where: { type: 'local' },
        label: program,
        sinceMs: options.clock.now(),
        notice: isRoot ? NO_SANDBOX : null,
        async close() {
          await hub.close()
          await removeProfileFolder(folder)
        },
      }
    } catch (error) {
      await hub.close()
      throw HermesError.isInstance(error) && error.code !== 'browser.lost'
        ? error
        : notStarted(connection, program, error)
    }
  } catch (error) {
    await removeProfileFolder(folder)
    throw error
  }
}

function notStarted({ errors, signal }: PipeConnection, program: string, cause: unknown): HermesError {
  const lines = errors.split('\n').filter((line) => line.trim() !== '' && !line.includes('dbus'))
  const [last = 'it says nothing'] = signal === null ? lines.slice(-1) : [`it was ended by ${signal}. Try again.`]
  return new HermesError(`${program} did not start: ${last.slice(0, 300)}`, { code: 'browser.not_started', cause })
}
