import type { AgentFlags } from '@hermes/runtime/app/server'

/** What flags decide. */
export interface ServeOptions {
  readonly agent: AgentFlags
  /** Dangerous commands run without asking; the hard floor stays. */
  readonly yolo: boolean
  readonly version: string
}
