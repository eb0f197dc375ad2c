import { join } from 'node:path'
import { defaultHome, homeLayout } from '@hermes/config'
import type { Clock, Logger } from '@hermes/contracts'
import { createSessionHost, type SessionHost } from '@hermes/host'
import { createFileLogger, openRuntime, type Runtime } from '@hermes/runtime'
import type { Io } from '@hermes/runtime/app'

const IDLE_MS = 30 * 60_000

/** An opened Hermes home, its sessions and where it logs. */
export interface Home {
  readonly runtime: Runtime
  readonly host: SessionHost
  readonly logger: Logger
}

/** Opens the home for editors; what is wrong with it is said once on stderr. */
export async function openHome(io: Io, options: { readonly yolo: boolean }, clock: Clock): Promise<Home> {
  const home = defaultHome({ env: io.env, userHome: io.userHome })
  const logger = createFileLogger(join(homeLayout(home).logs, 'agent.log'))
  const { env, cwd, userHome, user, tempDir } = io
  const runtime = await openRuntime({
    home,
    env,
    cwd,
    userHome,
    user,
    tempDir,
    yolo: options.yolo,
    logger,
    onNotice: (line) => void io.stderr.write(`hermes acp: ${line}\n`),
  })
  for (const problem of runtime.problems) io.stderr.write(`hermes acp: ${problem}\n`)
  return { runtime, host: createSessionHost({ runtime, idleMs: IDLE_MS, clock, logger }), logger }
}
