import type { JsonObject } from '@hermes/contracts'

/** `waiting` for its time or another try, `running`, or over: `done`, `failed` after its last try, `cancelled`. */
export type JobStatus = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

/** A piece of work that outlives the process which asked for it. Times are Unix milliseconds. */
export interface Job {
  readonly id: number
  /** Who can do it, such as `summary`. */
  readonly kind: string
  readonly key: string | null
  readonly payload: JsonObject
  readonly status: JobStatus
  /** How often it was begun. Each try has its number, so one that was taken for lost can change nothing any more. */
  readonly attempt: number
  readonly maxAttempts: number
  /** Not begun before. */
  readonly dueAtMs: number
  readonly createdAtMs: number
  /** Why the last try failed. */
  readonly error: string | null
}

/** What is asked for. */
export interface NewJob {
  readonly kind: string
  readonly payload?: JsonObject
  /** At most one job of a key is waiting or running. Default: as many as there are calls. */
  readonly key?: string
  /** Default: now. */
  readonly dueAtMs?: number
  /** Default 3. */
  readonly maxAttempts?: number
}

/** Which jobs a list shows. */
export interface JobFilter {
  readonly kind?: string
  readonly status?: JobStatus
  /** Default 20. */
  readonly limit?: number
}

/**
 * A durable queue that several processes work on: each job is in one hand at a time, and goes to another when its process has ended or was
 * silent for too long. A job may be begun twice that way, so doing it twice must do no harm. What is over is kept for a while: the newest
 * 1,000.
 */
export interface Jobs {
  /**
   * Adds it, or gives the one with its key that is not over; `isNew` tells which. One that was never begun is due at a `dueAtMs` that is
   * given here from then on.
   */
  add(job: NewJob): Promise<{ readonly job: Job; readonly isNew: boolean }>
  /**
   * Begins the job of these kinds that is due longest; `null` when none is. It is the caller's for `leaseMs` (default 60,000), counted anew by
   * each `renew`.
   */
  take(options: { readonly kinds: readonly string[]; readonly leaseMs?: number }): Promise<Job | null>
  /** Still at it. Rejects with `store.job_lost` when it is somebody else's by now, or cancelled; so do `complete` and `fail`. */
  renew(job: Job, options?: { readonly leaseMs?: number }): Promise<void>
  complete(job: Job): Promise<void>
  /** It is tried again at `retryAtMs`, by default after 1, 2, 4 … minutes and at most an hour; `failed` after its last try. */
  fail(job: Job, failure: { readonly error: string; readonly retryAtMs?: number }): Promise<void>
  /** `false` when it is over already or was never there. */
  cancel(id: number): Promise<boolean>
  /** The newest first. */
  list(filter?: JobFilter): Promise<readonly Job[]>
}
