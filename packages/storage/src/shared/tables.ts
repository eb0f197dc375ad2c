import type { Generated } from 'kysely'
import type { JobStatus } from '../jobs.js'
import type { OutboxState } from '../outbox.js'

/** The tables that both dialects have alike, as built statements see them. */
export interface Tables {
  readonly state_meta: { key: string; value: string | null }
  readonly sessions: {
    id: string
    parent_session_id: string | null
    source: string
    model: string | null
    message_count: number
    tool_call_count: number
    input_tokens: number
    output_tokens: number
    estimated_cost_usd: number | null
    system_prompt: string | null
  }
  readonly messages: { session_id: string }
  readonly hermes_entries: { session_id: string }
  readonly hermes_leases: { session_id: string; process: string; ttl_ms: number; renewed_ms: number }
  readonly hermes_tags: { tag: string; session_id: string }
  readonly hermes_approvals: {
    id: string
    session_id: string
    status: string
    asked_at_ms: number
    expires_at_ms: number
    approval: string
  }
  /** As `hermes_approvals`. */
  readonly hermes_questions: Tables['hermes_approvals']
  readonly hermes_audit: {
    seq: number
    at_ms: number
    session_id: string
    kind: string
    decision: string
    tool: string | null
    record: string
    hash: string
    /** On a server: what is searched for texts. */
    words: Generated<string>
  }
  /** On a server: one row. A file counts by itself. */
  readonly hermes_audit_counted: { seq: number }
  readonly hermes_usage: {
    id: Generated<number>
    at_ms: number
    session_id: string | null
    purpose: string
    provider: string
    model: string
    input_tokens: number
    output_tokens: number
    cache_read_tokens: number
    cache_write_tokens: number
    reasoning_tokens: number
    cost_usd: number | null
    price_source: string | null
    duration_ms: number
    estimated: boolean
  }
  readonly hermes_holds: {
    id: string
    process: string
    session_id: string | null
    tokens: number
    cost_usd: number | null
    since_ms: number
  }
  readonly hermes_learnings: {
    id: Generated<number>
    pattern: string
    error_type: string
    fix: string
    context: string
    tags: string
    created_ms: number
    times_used: number
    /** No text: of the owner of the home. */
    person: string
  }
  readonly hermes_summaries: {
    session_id: string
    summary: string
    keywords: string
    up_to_seq: number
    created_ms: number
    /** On a server. */
    words: Generated<string>
  }
  readonly hermes_jobs: {
    id: Generated<number>
    kind: string
    key: string | null
    payload: string
    status: JobStatus
    attempt: number
    max_attempts: number
    due_ms: number
    created_ms: number
    error: string | null
    holder: string | null
    held_until_ms: number | null
  }
  readonly hermes_outbox: {
    id: Generated<number>
    key: string
    platform: string
    target: string
    body: string
    status: OutboxState
    uncertain: boolean
    attempt: number
    parts_sent: number
    platform_ids: string
    due_ms: number
    created_ms: number
    over_ms: number | null
    error: string | null
    holder: string | null
    held_until_ms: number | null
  }
}

/** Tables that a file gets with their first row, so that opening one costs no more for them. */
export type LaterTable =
  | 'hermes_approvals'
  | 'hermes_questions'
  | 'hermes_audit'
  | 'hermes_usage'
  | 'hermes_holds'
  | 'hermes_learnings'
  | 'hermes_summaries'
  | 'hermes_jobs'
  | 'hermes_outbox'
