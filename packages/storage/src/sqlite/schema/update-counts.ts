import type { Counts } from '../../shared/counts.js'

/** Adds {@link Counts} to a session. An unknown cost is kept in `cost_status`, so that the sum is never read as the truth. */
export const UPDATE_COUNTS = `
  UPDATE sessions SET
    message_count = coalesce(message_count, 0) + :messages,
    tool_call_count = coalesce(tool_call_count, 0) + :toolCalls,
    api_call_count = coalesce(api_call_count, 0) + :apiCalls,
    input_tokens = coalesce(input_tokens, 0) + :inputTokens,
    output_tokens = coalesce(output_tokens, 0) + :outputTokens,
    cache_read_tokens = coalesce(cache_read_tokens, 0) + :cacheReadTokens,
    cache_write_tokens = coalesce(cache_write_tokens, 0) + :cacheWriteTokens,
    reasoning_tokens = coalesce(reasoning_tokens, 0) + :reasoningTokens,
    estimated_cost_usd = coalesce(estimated_cost_usd, 0) + :costUsd,
    cost_status = coalesce(:costStatus, cost_status),
    model = coalesce(:model, model),
    billing_provider = coalesce(:provider, billing_provider),
    system_prompt = coalesce(:systemPrompt, system_prompt)
  WHERE id = :sessionId`

/** The parameters of {@link UPDATE_COUNTS}. */
export function countParameters(sessionId: string, { usage, ...counts }: Counts): Record<string, unknown> {
  const { costUsd, ...tokens } = usage
  const isUnknown = costUsd === 'unknown'
  return {
    sessionId,
    ...counts,
    ...tokens,
    costUsd: isUnknown ? 0 : costUsd,
    costStatus: isUnknown ? 'unknown' : null,
  }
}
