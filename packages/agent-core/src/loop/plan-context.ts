import { HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { concurrencyOf, effectOf, type ToolPlanContext } from '@hermes/contracts/tool'
import type { PreparedCall } from '@hermes/registry'
import type { RunContext } from './run-context.js'
import type { PlannedCall } from './segments.js'

/** What a call may use while it is being planned. */
export function planContext(context: RunContext): ToolPlanContext {
  const { session } = context
  return {
    sessionId: session.id,
    state: session.state,
    get isTainted(): boolean {
      return isTainted(context)
    },
    get environment(): Environment {
      return requireEnvironment(context)
    },
  }
}

/** What a segment has to know of a call whose arguments fit. Without paths it has to itself what it touches. */
export function plannedCall(
  context: RunContext,
  { tool, args }: Extract<PreparedCall, { readonly type: 'prepared' }>,
): PlannedCall {
  const concurrency = concurrencyOf(tool, args)
  const planned = { concurrency, paths: [] as readonly string[], writes: effectOf(tool, args) === 'write' }
  try {
    return concurrency === 'path' ? { ...planned, paths: tool.paths?.(args, planContext(context)) ?? [] } : planned
  } catch {
    return planned
  }
}

/** Whether text from outside has reached who asks. */
export function isTainted({ session, tainted = false }: RunContext): boolean {
  return session.isTainted || tainted
}

/** @throws HermesError `tool.no_environment` for an agent without one. */
export function requireEnvironment(context: RunContext): Environment {
  if (context.environment) return context.environment
  throw new HermesError('This agent has no environment to run commands or open files in.', {
    code: 'tool.no_environment',
  })
}
