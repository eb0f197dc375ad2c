import type { JsonObject } from '@hermes/contracts'
import type { ChildResult } from './child-task.js'

/** A result as the model reads it; `title` says of which task. */
export function describeResult(title: string, result: ChildResult): string {
  const { status, answer, problem, changes, durationMs, toolCalls } = result
  const took = `${Math.round(durationMs / 1000)} s, ${toolCalls} tool calls`
  return `${title} ${status} (${took}).${problem === undefined ? '' : ` ${problem}`}\n${answer || '(no answer)'}${changes === undefined ? '' : `\n${changes}`}`
}

/** A result as programs read it. */
export function resultData({
  taintedBy: _,
  sessionId,
  toolCalls,
  durationMs,
  usage,
  ...result
}: ChildResult): JsonObject {
  return {
    ...result,
    session_id: sessionId,
    tool_calls: toolCalls,
    duration_ms: durationMs,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost_usd: usage.costUsd,
  }
}
