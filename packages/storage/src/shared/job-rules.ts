// What jobs mean, wherever they are kept.
import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Job, JobStatus, NewJob } from '../jobs.js'
import { hasEnded } from './process-identity.js'

/** Jobs that are over, kept at most. */
export const MAX_OVER = 1_000
export const DEFAULT_LEASE_MS = 60_000
export const ABANDONED = 'Its process ended before it did.'

const DEFAULT_ATTEMPTS = 3
const DEFAULT_LIMIT = 20
const FIRST_WAIT_MS = 60_000
const MAX_WAIT_MS = 3_600_000
const MAX_ERROR_CHARS = 2_000

/** A row of `hermes_jobs`. */
export interface JobRow {
  readonly id: number
  readonly kind: string
  readonly key: string | null
  readonly payload: string
  readonly status: JobStatus
  readonly attempt: number
  readonly max_attempts: number
  readonly due_ms: number
  readonly created_ms: number
  readonly error: string | null
  readonly holder: string | null
  readonly held_until_ms: number | null
}

/** Whether a job that is due is in nobody's hands. */
export function isFree({ status, holder, held_until_ms }: JobRow, nowMs: number): boolean {
  return status === 'waiting' || (held_until_ms ?? 0) <= nowMs || (holder !== null && hasEnded(holder))
}

/** Whether a job that is free was begun as often as it may be. */
export function isUsedUp({ status, attempt, max_attempts }: JobRow): boolean {
  return status === 'running' && attempt >= max_attempts
}

/** With its defaults. @throws HermesError `store.bad_job`. */
export function cleanJob({ kind, payload = {}, key, dueAtMs, maxAttempts = DEFAULT_ATTEMPTS }: NewJob, nowMs: number) {
  if (kind.trim() === '') throw badJob('A job needs a kind.')
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1)
    throw badJob('A job is tried a whole number of times, at least once.')
  return { kind, payload: JSON.stringify(payload), key: key ?? null, dueMs: dueAtMs ?? nowMs, maxAttempts, nowMs }
}

/** What a failure makes of a job. */
export function afterFailure(
  { attempt, maxAttempts }: Pick<Job, 'attempt' | 'maxAttempts'>,
  {
    error,
    retryAtMs,
    nowMs,
  }: { readonly error: string; readonly retryAtMs?: number | undefined; readonly nowMs: number },
) {
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), MAX_WAIT_MS)
  return {
    status: attempt < maxAttempts ? 'waiting' : 'failed',
    dueMs: retryAtMs ?? nowMs + waitMs,
    error: error.slice(0, MAX_ERROR_CHARS).toWellFormed(),
  } as const
}

/** A whole number from 0. */
export function jobLimit(limit = DEFAULT_LIMIT): number {
  return Number.isFinite(limit) ? Math.max(0, Math.floor(limit)) : DEFAULT_LIMIT
}

export function jobLost({ id, kind }: Pick<Job, 'id' | 'kind'>): HermesError {
  return new HermesError(
    `Job ${id} (${kind}) is not in these hands any more: it was cancelled, or went to another process.`,
    {
      code: 'store.job_lost',
      details: { id, kind },
    },
  )
}

export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    kind: row.kind,
    key: row.key,
    payload: JSON.parse(row.payload) as JsonObject,
    status: row.status,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    dueAtMs: row.due_ms,
    createdAtMs: row.created_ms,
    error: row.error,
  }
}

function badJob(message: string): HermesError {
  return new HermesError(message, { code: 'store.bad_job' })
}
