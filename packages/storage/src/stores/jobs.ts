// What jobs mean, wherever they are kept.

import type { Clock, JsonObject } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import { sql } from 'kysely'
import type { Job, JobFilter, JobStatus, Jobs, NewJob } from '../jobs.js'
import type { Database, Work } from '../shared/database.js'
import { all, first, run } from '../shared/database.js'
import { hasEnded } from '../shared/process-identity.js'

const OPEN: readonly JobStatus[] = ['waiting', 'running']
const NO_HOLDER = { holder: null, held_until_ms: null }
const KEY = 'jobs'

/** The queue. */
export class JobQueue implements Jobs {
  readonly #database: Database
  readonly #clock: Clock
  readonly #leaseClock: Pick<Clock, 'now'>
  readonly #process: string

  /** `leaseClock` tells how long a job is held: that of the server, as machines tell the time differently. Default: `clock`. */
  constructor(
    database: Database,
    options: { readonly clock: Clock; readonly leaseClock?: Pick<Clock, 'now'>; readonly process: string },
  ) {
    this.#database = database
    this.#clock = options.clock
    this.#leaseClock = options.leaseClock ?? options.clock
    this.#process = options.process
  }

  async add(input: NewJob): Promise<{ readonly job: Job; readonly isNew: boolean }> {
    const database = this.#database
    const { kind, key, payload, maxAttempts, dueMs, nowMs } = cleanJob(input, this.#clock.now())
    return database.write(KEY, function* () {
      yield* database.claim('hermes_jobs')
      const same = key === null ? undefined : yield* first(openJobs(database).where('key', '=', key))
      if (same && isMoved(same, input)) {
        const move = database.builder.updateTable('hermes_jobs').set({ due_ms: dueMs }).where('id', '=', same.id)
        return { job: toJob((yield* first(move.returningAll()))!), isNew: false }
      }
      const row = { kind, key, payload, status: 'waiting', attempt: 0, max_attempts: maxAttempts } as const
      const insert = database.builder
        .insertInto('hermes_jobs')
        .values({ ...row, due_ms: dueMs, created_ms: nowMs })
        .returningAll()
      return { job: toJob(same ?? (yield* first(insert))!), isNew: same === undefined }
    })
  }

  async take({ kinds, leaseMs = DEFAULT_LEASE_MS }: { readonly kinds: readonly string[]; readonly leaseMs?: number }) {
    const database = this.#database
    if ((await database.read(() => this.#free(kinds))).length === 0) return null
    const begin = (id: number) =>
      database.builder
        .updateTable('hermes_jobs')
        .set({
          status: 'running',
          attempt: sql`attempt + 1`,
          holder: this.#process,
          held_until_ms: this.#until(leaseMs),
        })
        .where('id', '=', id)
        .returningAll()
    const [free, end] = [() => this.#free(kinds), (row: JobRow) => this.#end(toJob(row), { error: ABANDONED })]
    return database.write(KEY, function* () {
      yield* database.claim('hermes_jobs')
      for (const row of yield* free()) {
        if (!isUsedUp(row)) return toJob((yield* first(begin(row.id)))!)
        yield* end(row)
      }
      return null
    })
  }

  renew(job: Job, { leaseMs = DEFAULT_LEASE_MS }: { readonly leaseMs?: number } = {}): Promise<void> {
    return this.#database.write(KEY, () => this.#change(job, { held_until_ms: this.#until(leaseMs) }))
  }

  complete(job: Job): Promise<void> {
    const over = { status: 'done', due_ms: job.dueAtMs, error: null } as const
    return this.#database.write(KEY, () => this.#finish(job, over))
  }

  fail(job: Job, failure: { readonly error: string; readonly retryAtMs?: number }): Promise<void> {
    return this.#database.write(KEY, () => this.#end(job, failure))
  }

  cancel(id: number): Promise<boolean> {
    const database = this.#database
    return database.write(KEY, function* () {
      if (!(yield* database.has('hermes_jobs'))) return false
      const cancelled = { status: 'cancelled', ...NO_HOLDER } as const
      const update = database.builder.updateTable('hermes_jobs').set(cancelled)
      return (yield* run(update.where('id', '=', id).where('status', 'in', OPEN))) === 1
    })
  }

  list({ kind, status, limit }: JobFilter = {}): Promise<readonly Job[]> {
    const database = this.#database
    let query = database.builder.selectFrom('hermes_jobs').selectAll().orderBy('id', 'desc').limit(jobLimit(limit))
    if (kind !== undefined) query = query.where('kind', '=', kind)
    if (status !== undefined) query = query.where('status', '=', status)
    return database.read(function* () {
      return (yield* database.has('hermes_jobs')) ? (yield* all(query)).map(toJob) : []
    })
  }

  /** What is due and in nobody's hands, the one that is due longest first. */
  *#free(kinds: readonly string[]): Work<readonly JobRow[]> {
    if (kinds.length === 0 || !(yield* this.#database.has('hermes_jobs'))) return []
    const due = openJobs(this.#database).where('kind', 'in', kinds).where('due_ms', '<=', this.#clock.now())
    const rows = yield* all(due.orderBy('due_ms').orderBy('id'))
    const nowMs = this.#leaseClock.now()
    return rows.filter((row) => isFree(row, nowMs))
  }

  *#end(job: Job, { error, retryAtMs }: { readonly error: string; readonly retryAtMs?: number }): Work<void> {
    const { dueMs, ...after } = afterFailure(job, { error, retryAtMs, nowMs: this.#clock.now() })
    yield* this.#finish(job, { ...after, due_ms: dueMs })
  }

  *#finish(job: Job, after: Pick<JobRow, 'status' | 'due_ms' | 'error'>): Work<void> {
    yield* this.#change(job, { ...after, ...NO_HOLDER })
    const { builder } = this.#database
    const over = builder.selectFrom('hermes_jobs').select('id').where('status', 'not in', OPEN)
    const newest = over.orderBy('id', 'desc').limit(1).offset(MAX_OVER)
    yield* run(builder.deleteFrom('hermes_jobs').where('status', 'not in', OPEN).where('id', '<=', newest))
  }

  /** @throws HermesError `store.job_lost` */
  *#change(job: Job, columns: Partial<JobRow>): Work<void> {
    const update = this.#database.builder.updateTable('hermes_jobs').set(columns).where('id', '=', job.id)
    const mine = update.where('attempt', '=', job.attempt).where('status', '=', 'running')
    if (!(yield* this.#database.has('hermes_jobs')) || (yield* run(mine)) === 0) throw jobLost(job)
  }

  #until(leaseMs: number): number {
    return this.#leaseClock.now() + leaseMs
  }
}

function isMoved({ attempt, due_ms }: JobRow, { dueAtMs }: NewJob): boolean {
  return dueAtMs !== undefined && attempt === 0 && due_ms !== dueAtMs
}

/** In the words of the indexes, which leave out what is over: with parameters SQLite looks through all jobs. */
function openJobs({ builder }: Database) {
  return builder.selectFrom('hermes_jobs').selectAll().where(sql<boolean>`status IN ('waiting', 'running')`)
}

/** Jobs that are over, kept at most. */
const MAX_OVER = 1_000
const DEFAULT_LEASE_MS = 60_000
const ABANDONED = 'Its process ended before it did.'

const DEFAULT_ATTEMPTS = 3
const DEFAULT_LIMIT = 20
const FIRST_WAIT_MS = 60_000
const MAX_WAIT_MS = 3_600_000
const MAX_ERROR_CHARS = 2_000

/** A row of `hermes_jobs`. */
interface JobRow {
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
function isFree({ status, holder, held_until_ms }: JobRow, nowMs: number): boolean {
  return status === 'waiting' || (held_until_ms ?? 0) <= nowMs || (holder !== null && hasEnded(holder))
}

/** Whether a job that is free was begun as often as it may be. */
function isUsedUp({ status, attempt, max_attempts }: JobRow): boolean {
  return status === 'running' && attempt >= max_attempts
}

/** With its defaults. @throws HermesError `store.bad_job`. */
function cleanJob({ kind, payload = {}, key, dueAtMs, maxAttempts = DEFAULT_ATTEMPTS }: NewJob, nowMs: number) {
  if (kind.trim() === '') throw badJob('A job needs a kind.')
  if (!Number.isInteger(maxAttempts) || maxAttempts < 1)
    throw badJob('A job is tried a whole number of times, at least once.')
  return { kind, payload: JSON.stringify(payload), key: key ?? null, dueMs: dueAtMs ?? nowMs, maxAttempts, nowMs }
}

/** What a failure makes of a job. */
function afterFailure(
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
function jobLimit(limit = DEFAULT_LIMIT): number {
  return Number.isFinite(limit) ? Math.max(0, Math.floor(limit)) : DEFAULT_LIMIT
}

function jobLost({ id, kind }: Pick<Job, 'id' | 'kind'>): HermesError {
  return new HermesError(
    `Job ${id} (${kind}) is not in these hands any more: it was cancelled, or went to another process.`,
    {
      code: 'store.job_lost',
      details: { id, kind },
    },
  )
}

function toJob(row: JobRow): Job {
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
