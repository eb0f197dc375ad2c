import { defaultHome } from '@hermes/config'
import type { Logger } from '@hermes/contracts'
import { openRuntime, type Runtime } from '@hermes/runtime'
import type { Io } from './io.js'
import { createFileLogger } from './log.js'

/** The Hermes home this command works on. */
export function homeOf(io: Io): string {
  return defaultHome({ env: io.env, userHome: io.userHome })
}

/** Opens the home for a command; what is wrong with it is said once on stderr. */
export async function openCli(io: Io, options: { readonly surface: string; readonly yolo: boolean }): Promise<Runtime> {
  const home = homeOf(io)
  const logger: Logger = createFileLogger(home)
  const runtime = await openRuntime({
    home,
    userHome: io.userHome,
    env: io.env,
    cwd: io.cwd,
    user: io.user,
    tempDir: io.tempDir,
    surface: options.surface,
    yolo: options.yolo,
    logger,
  })
  for (const problem of runtime.problems) io.stderr.write(`hermes: ${problem}\n`)
  return runtime
}
