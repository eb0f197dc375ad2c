import type { ChildTask } from '@hermes/agent-core'
import type { HermesConfig } from '@hermes/config'
import { knownTimeZone } from '@hermes/contracts'
import type { ModelChoice } from '../models/model-choice.js'
import type { AgentRequest } from '../runtime.js'

/** What is known of a child when it is made. */
interface ChildStart {
  readonly task: ChildTask
  /** Where it works. Absolute. */
  readonly cwd: string
  readonly userHome: string
  /** Unix milliseconds. */
  readonly atMs: number
}

/**
 * What a child is asked to be: its model is that of the first rule of `routing` that names `kind: subagent` and fits, else that of
 * `delegation`, else none is named and it has its parent's.
 */
export async function childRequest(config: HermesConfig, start: ChildStart): Promise<AgentRequest> {
  const { delegation } = config
  const route = await routeOf(config, start)
  const model = route ?? { model: delegation.model, provider: delegation.provider, baseUrl: delegation.base_url }
  return {
    ...Object.fromEntries(Object.entries(model).filter(([, value]) => value !== undefined)),
    cwd: start.cwd,
    maxSteps: delegation.max_iterations,
    toolsets: ['all'],
    notices: false,
  }
}

/**
 * A child whose model alone is named asks it where its parent asks; one whose address alone is named asks there for the model of its
 * parent. Keys stay with the provider they are for.
 */
export function inherited(request: AgentRequest, parent: ModelChoice): AgentRequest {
  const { model, provider, baseUrl } = request
  if (!namesModel(request) || provider !== undefined) return request
  if (baseUrl !== undefined) return { ...request, model: model ?? parent.model }
  return { ...request, provider: parent.provider, baseUrl: parent.baseUrl }
}

/** Whether a child asks for a model of its own. */
export function namesModel({ model, provider, baseUrl }: AgentRequest): boolean {
  return [model, provider, baseUrl].some((one) => one !== undefined)
}

async function routeOf({ routing, timezone }: HermesConfig, { task, ...start }: ChildStart) {
  if (routing.length === 0) return null
  const { routeForChild } = await import('../models/routing.js')
  const text = `${task.goal}\n${task.context}`
  return routeForChild(routing, { ...start, text, timeZone: knownTimeZone(timezone) })
}
