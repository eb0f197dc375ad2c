import type { AgentRequest } from '@hermes/runtime'

/** What decides about an agent, beside its session. */
export type AgentWishes = Pick<AgentRequest, 'model' | 'provider' | 'baseUrl' | 'maxTurns'>

/** What flags decide. */
export interface ServeOptions {
  readonly agent: AgentWishes
  /** Dangerous commands run without asking; the hard floor stays. */
  readonly yolo: boolean
  readonly version: string
}
