import { addUsage, type NewEntry, noUsage, toolCalls, type Usage } from '@hermes/contracts/conversation'

/** The columns of a session that hold what it used. */
export interface UsageColumns {
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cache_read_tokens: number | null
  readonly cache_write_tokens: number | null
  readonly reasoning_tokens: number | null
  readonly estimated_cost_usd: number | null
  readonly cost_status: string | null
}

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
