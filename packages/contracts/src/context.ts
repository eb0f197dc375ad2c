import type { Clock } from './clock.js'
import type { CompactionEntry, Entry } from './conversation/entry.js'
import type { Usage } from './conversation/usage.js'
import type { JsonObject } from './json.js'
import type { Logger } from './logger.js'
import type { ModelClient } from './model.js'

/** What is known of a session before its next request. */
export interface ContextState {
  readonly entries: readonly Entry[]
  /** Tokens the next request will take: what the provider counted last, and an estimate of what came since. */
  readonly tokens: number
  readonly provider: string
  readonly model: string
}

/** What a compaction has to keep and why it is made. */
export interface CompactRequest extends ContextState {
  /**
   * `threshold`: it is time; `overflow`: the provider refused the conversation as too long; `asked`: a person wants it; `truncate`: the
   * last summaries gained little and it is too long again, so this is done without a model.
   */
  readonly cause: 'threshold' | 'overflow' | 'asked' | 'truncate'
  /** Texts that have to reach the model verbatim, for example the open tasks. */
  readonly carry: readonly string[]
  /** What the summary should tell most about. */
  readonly focus?: string
  /** Only what is older than the newest so many messages of the user goes; at least 1. Default: as much as makes room. */
  readonly keepTurns?: number
}

/** What a compaction would take out, without asking any model. */
export interface CompactPlan {
  /** Messages that the summary would stand for. */
  readonly messages: number
  /** Where in the log they begin and end. Default: not known. */
  readonly fromSeq?: number
  readonly upToSeq?: number
  readonly tokensBefore: number
  /** With a summary of full length. */
  readonly tokensAfter: number
}

/** What a compaction came to. */
export type CompactOutcome =
  | {
      readonly type: 'compacted'
      readonly entry: CompactionEntry
      /** Whether a model wrote the summary; else a plain note stands in its place. */
      readonly isSummarized: boolean
      /** Why no model did: one line. */
      readonly problem?: string
      readonly usage: Usage
    }
  /** `usage`: a model was asked, and what it wrote was of no use. */
  | { readonly type: 'unchanged'; readonly reason: string; readonly usage?: Usage }

/**
 * Keeps a session within the window of its model. Stateless: what it did before is in the log, so every process decides alike.
 * An implementation must keep the newest request of the user, each open call with its result, and every text of `carry`.
 */
export interface ContextEngine {
  /** How a person gives the model a larger window: a sentence for notices. Absent where nobody can. */
  readonly largerWindow?: string
  /**
   * Whether to compact before the next request. Cheap: it is asked before each one. `in vain`: it would be time, but the last compactions
   * gained too little to make another one; the person is told once per run.
   */
  isDue(state: ContextState): boolean | 'in vain' | Promise<boolean | 'in vain'>
  /** What {@link ContextEngine.compact} would do; `null` when there is nothing to take out. */
  plan(request: CompactRequest): CompactPlan | null | Promise<CompactPlan | null>
  /** Never rejects but with an `AbortError`: without a summary a plain note is used. */
  compact(request: CompactRequest, options: { readonly signal: AbortSignal }): Promise<CompactOutcome>
}

/** What an engine of one's own is made with. */
export interface ContextEngineParts {
  /** Tokens of a model's window. */
  readonly windowOf: (model: { readonly provider: string; readonly model: string }) => number | Promise<number>
  /** To be asked for summaries, in this order. */
  readonly models: readonly ModelClient[]
  /** The section `compression` of config.yaml. */
  readonly settings: JsonObject
  readonly clock: Clock
  readonly logger: Logger
}

/** What a module that `context.engine` of config.yaml names exports as `createContextEngine`. Called once per agent, on first need. */
export type CreateContextEngine = (parts: ContextEngineParts) => ContextEngine | Promise<ContextEngine>
