import type { JsonObject } from '../json.js'

/** Does the jobs of one kind. A job may be begun twice, so doing it twice must do no harm. */
export interface JobHandler {
  /** Prefix it with the name of the extension. */
  readonly kind: string
  /** Rejects for a try that failed: the queue tries again later, three times unless the job says otherwise. */
  run(job: JobRun, options: { readonly signal: AbortSignal }): Promise<void>
}

/** One try of a job. */
export interface JobRun {
  readonly id: number
  readonly kind: string
  readonly payload: JsonObject
  /** From 1. */
  readonly attempt: number
}
