import type { AgentRequest } from '@hermes/runtime'

/** What decides about an agent, beside its session. */
export type AgentChoice = Pick<AgentRequest, 'model' | 'provider' | 'baseUrl' | 'maxSteps'>

/** What flags decide. */
export interface ServeOptions {
  readonly agent: AgentChoice
  /** Dangerous commands run without asking; the hard floor stays. */
  readonly yolo: boolean
  readonly version: string
}
