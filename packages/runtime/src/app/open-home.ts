import { join } from 'node:path'
import { defaultHome, homeLayout } from '@hermes/config'
import type { Logger } from '@hermes/contracts'
import { createFileLogger } from '../home/file-logger.js'
import { openRuntime } from '../open-runtime.js'
import type { Runtime, RuntimeOptions } from '../runtime.js'
import type { Io } from './run-app.js'

/** The home that an app works on, and where it logs. */
export interface OpenedHome {
  /** Absolute. */
  readonly home: string
  readonly runtime: Runtime
  readonly logger: Logger
}

/**
 * Opens the home of who started an app. What is wrong with it is said once on stderr, and what happens to it later, `program` before each line.
 * @throws HermesError as {@link openRuntime}, and `config.bad_home` for a relative HERMES_HOME.
 */
export async function openHome(
  { env, cwd, userHome, user, tempDir, stderr }: Io,
  {
    program,
    log = 'agent.log',
    ...options
  }: { readonly program: string; readonly log?: string } & Partial<
    Pick<
      RuntimeOptions,
      'cwd' | 'yolo' | 'trust' | 'acceptHooks' | 'safe' | 'ignoreRules' | 'maxCostUsd' | 'extensions'
    >
  >,
): Promise<OpenedHome> {
  const home = defaultHome({ env, userHome })
  const logger = createFileLogger(join(homeLayout(home).logs, log))
  const say = (line: string) => void stderr.write(`${program}: ${line}\n`)
  const runtime = await openRuntime({ home, env, cwd, userHome, user, tempDir, logger, onNotice: say, ...options })
  for (const problem of runtime.problems) say(problem)
  return { home, runtime, logger }
}
