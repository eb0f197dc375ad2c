import type { ReasoningEffort } from '@hermes/contracts/conversation'

/** Flags of `hermes chat`. */
export interface ChatOptions {
  readonly query?: string
  readonly resume?: string
  readonly continue?: boolean
  readonly any?: boolean
  readonly model?: string
  readonly provider?: string
  readonly baseUrl?: string
  readonly toolsets?: string
  readonly maxTurns?: number
  readonly reasoning?: 'default' | ReasoningEffort
  readonly yolo?: boolean
  readonly plan?: boolean
  readonly accept?: boolean
  readonly json?: boolean
  readonly record?: string
  readonly replay?: string
}
