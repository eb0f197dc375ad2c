import type { Generated } from 'kysely'

/** One conversation. Times are Unix seconds with fractions. */
export interface SessionsTable {
  id: string
  source: string
  user_id: string | null
  model: string | null
  model_config: string | null
  system_prompt: string | null
  parent_session_id: string | null
  started_at: number
  ended_at: number | null
  end_reason: string | null
  message_count: Generated<number | null>
  tool_call_count: Generated<number | null>
  input_tokens: Generated<number | null>
  output_tokens: Generated<number | null>
  cache_read_tokens: Generated<number | null>
  cache_write_tokens: Generated<number | null>
  reasoning_tokens: Generated<number | null>
  billing_provider: string | null
  billing_base_url: string | null
  billing_mode: string | null
  estimated_cost_usd: number | null
  actual_cost_usd: number | null
  cost_status: string | null
  cost_source: string | null
  pricing_version: string | null
  title: string | null
  api_call_count: Generated<number | null>
}
