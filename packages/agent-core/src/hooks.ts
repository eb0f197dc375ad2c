import type { JsonObject, Logger } from '@hermes/contracts'
import { errorLine } from '@hermes/contracts'
import type { ModelFinish, ModelRequest } from '@hermes/contracts/model'
import type { Action } from '@hermes/contracts/policy'
import type { ToolOutcome } from '@hermes/registry'

/** A call as hooks see it. */
export interface HookedCall {
  readonly sessionId: string
  readonly runId: string
  readonly callId: string
  readonly toolName: string
  readonly args: JsonObject
}

/** What a hook is told about an action besides the action itself. */
export interface HookedAction {
  readonly sessionId: string
  readonly runId: string
  readonly callId: string
  /** Where the turn under way began in the log: the entry of the user's message. `null` for a run without one. */
  readonly turnSeq: number | null
  /** Fires when the run is interrupted. */
  readonly signal: AbortSignal
  /** Tells the person something; no model sees it. */
  notice(text: string): void
}

/**
 * Where a program may look in or step in. Observers must not throw; if one does, it is logged and the run goes on.
 * `beforeToolCall` is a gate: a throw blocks the call.
 */
export interface AgentHooks {
  beforeModelCall?(request: Omit<ModelRequest, 'model'>): void | Promise<void>
  afterModelCall?(finish: ModelFinish): void | Promise<void>
  /** Return `{ block }` with a reason the model can act on to stop the call. */
  beforeToolCall?(
    call: HookedCall,
  ): { readonly block: string } | undefined | Promise<{ readonly block: string } | undefined>
  afterToolCall?(call: HookedCall, outcome: ToolOutcome): void | Promise<void>
  /** An action has leave and is about to be done; it waits for this. */
  beforeAction?(action: Action, about: HookedAction): void | Promise<void>
  /** A run has ended, however it did. Nobody waits for this. */
  afterRun?(run: { readonly sessionId: string; readonly runId: string }): void | Promise<void>
}

/** Runs an observer; what it throws is logged. */
export async function observe(
  logger: Logger,
  name: string,
  observer: () => void | Promise<void> | undefined,
): Promise<void> {
  try {
    await observer()
  } catch (error) {
    logger.warn(`Hook ${name} failed and was skipped.`, { error: errorLine(error) })
  }
}

/** Asks the gate; a throw is a no. */
export async function blockedBy(hooks: AgentHooks, logger: Logger, call: HookedCall): Promise<string | null> {
  if (!hooks.beforeToolCall) return null
  try {
    return (await hooks.beforeToolCall(call))?.block ?? null
  } catch (error) {
    logger.error('Hook beforeToolCall failed; the call was blocked.', { error: errorLine(error), tool: call.toolName })
    return 'A check before this call failed, so it was not run.'
  }
}
