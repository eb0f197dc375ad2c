import { addUsage, type NewEntry, noUsage, toolCalls, type Usage } from '@hermes/contracts/conversation'
import type { Selectable } from 'kysely'
import type { SessionsTable } from './tables.js'

type UsageColumns = Pick<
  Selectable<SessionsTable>,
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'estimated_cost_usd'
  | 'cost_status'
>

/** What a batch of entries changes about its session. */
export interface Counts {
  messages: number
  toolCalls: number
  apiCalls: number
  usage: Usage
  model: string | null
  provider: string | null
  systemPrompt: string | null
}

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

/** What `entries` add to their session; `null` when nothing. */
export function countEntries(entries: readonly NewEntry[]): Counts | null {
  const counts: Counts = {
    messages: 0,
    toolCalls: 0,
    apiCalls: 0,
    usage: noUsage,
    model: null,
    provider: null,
    systemPrompt: null,
  }
  let changed = false
  for (const entry of entries) changed = countEntry(counts, entry) || changed
  return changed ? counts : null
}

function countEntry(counts: Counts, entry: NewEntry): boolean {
  switch (entry.type) {
    case 'message':
      counts.messages++
      counts.toolCalls += toolCalls(entry.message).length
      if (entry.message.role === 'assistant') counts.apiCalls++
      if (entry.usage) counts.usage = addUsage(counts.usage, entry.usage)
      return true
    case 'model':
      counts.model = entry.model
      counts.provider = entry.provider
      return true
    case 'prompt':
      counts.systemPrompt = entry.system
      return true
    case 'call-start':
    case 'compaction':
    case 'note':
    case 'undo':
      return false
    default:
      return entry satisfies never
  }
}

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

/** The usage that the columns of a session stand for. A session of another program without a price has an unknown one. */
export function usageOf(row: UsageColumns): Usage {
  const isUnknown = row.cost_status === 'unknown' || (row.estimated_cost_usd === null && (row.output_tokens ?? 0) > 0)
  return {
    inputTokens: row.input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    cacheReadTokens: row.cache_read_tokens ?? 0,
    cacheWriteTokens: row.cache_write_tokens ?? 0,
    reasoningTokens: row.reasoning_tokens ?? 0,
    costUsd: isUnknown ? 'unknown' : (row.estimated_cost_usd ?? 0),
  }
}
