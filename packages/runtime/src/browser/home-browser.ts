import { join } from 'node:path'
import { createBrowser, type HomeBrowser } from '@hermes/browser'
import { type HermesConfig, homeLayout } from '@hermes/config'
import type { Clock, Logger } from '@hermes/contracts'
import { programLine, type RunningProgram } from '@hermes/contracts/environment'
import type { Policy } from '@hermes/contracts/policy'
import type { Proxies } from '@hermes/safety'
import { createLocalEnvironment } from '@hermes/sandbox'
import { passedVariables, permitOwnProgram } from '../environment/own-program.js'

/** What the browser of a home gets of it. */
interface HomeBrowserOptions {
  readonly home: string
  readonly userHome: string
  readonly user: string
  readonly env: Readonly<Record<string, string>>
  readonly config: HermesConfig
  readonly policy: Policy
  readonly proxies: Proxies | null
  readonly clock: Clock
  readonly logger: Logger
}

/** The browser for a home. Nothing is loaded or started before a page is opened. */
export function openHomeBrowser(options: HomeBrowserOptions): HomeBrowser {
  const { home, env, config, proxies, clock, logger } = options
  return createBrowser({
    start: (argv) => start(argv, options),
    env,
    isRoot: process.getuid?.() === 0,
    cacheDir: join(homeLayout(home).cache, 'browser'),
    proxies,
    // Private addresses stay apart from public pages even where nobody is asked about them.
    network: { allowRanges: config.security.allowed_ranges },
    clock,
    logger,
  })
}

/** An environment of its own for each start: it ends with the program, and the program with it. */
async function start(
  argv: readonly [string, ...string[]],
  { home, userHome, user, env, policy, clock, logger }: HomeBrowserOptions,
): Promise<RunningProgram> {
  const environment = createLocalEnvironment({
    cwd: userHome,
    env: passedVariables(env),
    home: userHome,
    outputDir: homeLayout(home).outputs,
    user,
    clock,
    logger,
  })
  try {
    const action = { type: 'spawn', command: programLine(argv), cwd: userHome, backend: 'local' } as const
    const name = 'The browser'
    const permit = await permitOwnProgram(action, { platform: 'browser', name, sessionId: 'browser', user, policy })
    const program = await environment.startProgram!(permit, { argv, cwd: userHome, onDescriptors: true })
    void program.ended.then(() => environment.close())
    return program
  } catch (error) {
    await environment.close()
    throw error
  }
}
