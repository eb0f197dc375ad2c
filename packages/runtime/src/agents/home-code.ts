import { filterEnvironment, secretLooking } from '@hermes/sandbox'
import type { CodeHost } from '@hermes/sandbox/execute-code'
import type { EnvironmentRequest } from '../environment/environment-request.js'
import { isolationOfAgent } from '../environment/isolation-options.js'
import { cacheOf } from '../people/people.js'
import { holdSkillPrograms } from '../skills/hold-skill-programs.js'

/** The programs of one agent. */
export interface HomeCode {
  readonly timeoutMs: number
  readonly maxCalls: number
  readonly path: string | undefined
  /** Loads what runs them, the first time. */
  open(): Promise<CodeHost>
  close(): Promise<void>
}

/** Where `execute_code` runs programs for an agent of this home. */
export function openHomeCode(request: EnvironmentRequest): HomeCode {
  const { timeout, max_tool_calls: maxCalls } = request.config.code_execution
  const limits = { timeoutMs: timeout * 1000, maxCalls, path: request.env['PATH'] }
  let host: Promise<CodeHost> | null = null
  return {
    ...limits,
    open: () => (host ??= createHost(request, limits)),
    close: async () => (await host?.catch(() => null))?.close(),
  }
}

async function createHost(
  request: EnvironmentRequest,
  limits: Pick<HomeCode, 'timeoutMs' | 'maxCalls'>,
): Promise<CodeHost> {
  const { createCodeHost } = await import('@hermes/sandbox/execute-code')
  const { home, person = null, userHome, cwd, tempDir, env, secretNames, logger, clock } = request
  const isolation = isolationOfAgent(request)
  return createCodeHost({
    ...limits,
    tempDir,
    env: filterEnvironment(env, { secretNames: [...secretNames, ...secretLooking(env)] }),
    home: userHome,
    outputDir: cacheOf(home, person).outputs,
    workspace: cwd,
    holds: holdSkillPrograms(request, { isIsolated: isolation !== null }),
    logger,
    clock,
    // A program stays while text from outside comes in: where that matters, it has no network from the start.
    ...(isolation === null ? {} : { isolation: { ...isolation, network: isolation.network === true } }),
  })
}
