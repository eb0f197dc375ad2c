import { HermesError } from '@hermes/contracts'
import type { Environment } from '@hermes/contracts/environment'
import { concurrencyOf, effectOf, type ToolPlanContext } from '@hermes/contracts/tool'
import type { PreparedCall } from '@hermes/registry'
import type { RunContext } from '../loop/run-context.js'
import type { PlannedCall } from '../loop/segments.js'

/** What a call may use while it is being planned. */
export function planContext(context: RunContext): ToolPlanContext {
  return new PlanContext(context)
}

/** A class: engines make a shape of its own for each object whose literal has getters, and calls come by the dozen. */
class PlanContext implements ToolPlanContext {
  readonly #context: RunContext
  readonly sessionId: string
  readonly state: ToolPlanContext['state']

  constructor(context: RunContext) {
    this.#context = context
    this.sessionId = context.session.id
    this.state = context.session.state
  }

  get isTainted(): boolean {
    return taintsOf(this.#context).length > 0
  }

  get taintedBy(): readonly string[] {
    return taintsOf(this.#context)
  }

  get environment(): Environment {
    return requireEnvironment(this.#context)
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

/** What text from outside has reached who asks, by names for a person; none where nothing taints. */
export function taintsOf({ session, taintedBy = [] }: Pick<RunContext, 'session' | 'taintedBy'>): readonly string[] {
  return taintedBy.length === 0 ? session.taintedBy : [...new Set([...session.taintedBy, ...taintedBy])]
}

/** @throws HermesError `tool.no_environment` for an agent without one. */
export function requireEnvironment(context: RunContext): Environment {
  if (context.environment) return context.environment
  throw new HermesError('This agent has no environment to run commands or open files in.', {
    code: 'tool.no_environment',
  })
}
