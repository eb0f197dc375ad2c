import type { ReasoningEffort } from '@hermes/contracts/conversation'

/** Flags of `hermes chat`. */
export interface ChatOptions {
  readonly query?: string
  /** A query of which nothing but the answer is shown. */
  readonly z?: string
  readonly queryFile?: string
  /** A file of questions, one a line. */
  readonly batch?: string
  readonly in?: string
  readonly resume?: string
  readonly continue?: boolean
  readonly any?: boolean
  readonly model?: string
  readonly provider?: string
  readonly baseUrl?: string
  readonly toolsets?: string
  readonly maxTurns?: number
  readonly maxCost?: number
  readonly image?: readonly string[]
  readonly reasoning?: 'default' | ReasoningEffort
  readonly yolo?: boolean
  readonly trust?: boolean
  readonly acceptHooks?: boolean
  readonly safeMode?: boolean
  readonly ignoreRules?: boolean
  readonly plan?: boolean
  readonly accept?: boolean
  readonly json?: boolean
  readonly record?: string
  readonly replay?: string
}
