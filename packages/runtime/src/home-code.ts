import { homeLayout } from '@hermes/config'
import { filterEnvironment } from '@hermes/sandbox'
import type { CodeHost } from '@hermes/sandbox/execute-code'
import type { EnvironmentRequest } from './environment-request.js'
import { isolationOf } from './isolation-options.js'

/** The programs of one agent. */
export interface HomeCode {
  /** Loads what runs them, the first time. */
  open(): Promise<CodeHost>
  close(): Promise<void>
}

/** Where `execute_code` runs programs for an agent of this home. */
export function openHomeCode(options: EnvironmentRequest): HomeCode {
  let host: Promise<CodeHost> | null = null
  return {
    open: () => (host ??= createHost(options)),
    close: async () => (await host?.catch(() => null))?.close(),
  }
}

async function createHost(options: EnvironmentRequest): Promise<CodeHost> {
  const { createCodeHost } = await import('@hermes/sandbox/execute-code')
  const { config, home, userHome, cwd, tempDir, env, secretNames, logger, clock } = options
  const isolation = isolationOf(options)
  return createCodeHost({
    tempDir,
    env: filterEnvironment(env, { secretNames }),
    home: userHome,
    outputDir: homeLayout(home).outputs,
    workspace: cwd,
    timeoutMs: config.code_execution.timeout * 1000,
    maxCalls: config.code_execution.max_tool_calls,
    logger,
    clock,
    ...(isolation === null ? {} : { isolation }),
  })
}
