import type { Clock } from '@hermes/contracts'
import type { Job, JobFilter, Jobs, NewJob } from '../../jobs.js'
import {
  ABANDONED,
  afterFailure,
  cleanJob,
  DEFAULT_LEASE_MS,
  isFree,
  isUsedUp,
  type JobRow,
  jobLimit,
  jobLost,
  MAX_OVER,
  OPEN,
  toJob,
} from '../../shared/job-rules.js'
import type { Connection } from '../server/connection.js'
import type { Statements } from '../server/statements.js'

// Two who add the same key or take at once wait for each other.
const LOCK = 'LOCK TABLE hermes_jobs IN SHARE ROW EXCLUSIVE MODE'
const WITH_KEY = `SELECT * FROM hermes_jobs WHERE key = $1 AND ${OPEN}`
const ADD = `
  INSERT INTO hermes_jobs (kind, key, payload, status, attempt, max_attempts, due_ms, created_ms)
  VALUES ($1, $2, $3, 'waiting', 0, $4, $5, $6) RETURNING *`
const CANDIDATES = `SELECT * FROM hermes_jobs WHERE ${OPEN} AND kind = ANY ($1::text[]) AND due_ms <= $2 ORDER BY due_ms, id`
const BEGIN = `
  UPDATE hermes_jobs SET status = 'running', attempt = attempt + 1, holder = $2, held_until_ms = $3 WHERE id = $1 RETURNING *`
const HELD = "WHERE id = $1 AND attempt = $2 AND status = 'running'"
const RENEW = `UPDATE hermes_jobs SET held_until_ms = $3 ${HELD}`
const END = `UPDATE hermes_jobs SET status = $3, due_ms = $4, error = $5, holder = NULL, held_until_ms = NULL ${HELD}`
const CANCEL = `UPDATE hermes_jobs SET status = 'cancelled', holder = NULL, held_until_ms = NULL WHERE id = $1 AND ${OPEN}`
const FORGET = `
  DELETE FROM hermes_jobs WHERE id IN (SELECT id FROM hermes_jobs WHERE NOT (${OPEN}) ORDER BY id DESC OFFSET ${MAX_OVER})`
const LIST = `
  SELECT * FROM hermes_jobs WHERE kind = coalesce($1::text, kind) AND status = coalesce($2::text, status) ORDER BY id DESC LIMIT $3`
const KEY = 'jobs'

/** The queue on PostgreSQL. */
export class JobQueue implements Jobs {
  readonly #connection: Connection
  readonly #clock: Clock
  /** Machines tell the time differently: how long a job is held is told by the server. */
  readonly #serverClock: Pick<Clock, 'now'>
  readonly #process: string

  constructor(
    connection: Connection,
    options: { readonly clock: Clock; readonly serverClock: Pick<Clock, 'now'>; readonly process: string },
  ) {
    this.#connection = connection
    this.#clock = options.clock
    this.#serverClock = options.serverClock
    this.#process = options.process
  }

  async add(input: NewJob): Promise<{ readonly job: Job; readonly isNew: boolean }> {
    const { kind, key, payload, maxAttempts, dueMs, nowMs } = cleanJob(input, this.#clock.now())
    return this.#connection.write(KEY, async (statements) => {
      await statements.run(LOCK)
      const same = key === null ? undefined : await statements.first<JobRow>(WITH_KEY, key)
      const row = same ?? (await statements.first<JobRow>(ADD, kind, key, payload, maxAttempts, dueMs, nowMs))
      return { job: toJob(row!), isNew: same === undefined }
    })
  }

  async take({ kinds, leaseMs = DEFAULT_LEASE_MS }: { readonly kinds: readonly string[]; readonly leaseMs?: number }) {
    if ((await this.#connection.read((statements) => this.#free(statements, kinds))).length === 0) return null
    return this.#connection.write(KEY, async (statements) => {
      await statements.run(LOCK)
      for (const row of await this.#free(statements, kinds)) {
        if (isUsedUp(row)) await this.#end(statements, toJob(row), ABANDONED)
        else {
          const untilMs = this.#serverClock.now() + leaseMs
          return toJob((await statements.first<JobRow>(BEGIN, row.id, this.#process, untilMs))!)
        }
      }
      return null
    })
  }

  renew(job: Job, { leaseMs = DEFAULT_LEASE_MS }: { readonly leaseMs?: number } = {}): Promise<void> {
    const untilMs = this.#serverClock.now() + leaseMs
    return this.#connection.writeOne(KEY, (statements) => change(statements, RENEW, job, untilMs))
  }

  complete(job: Job): Promise<void> {
    return this.#connection.write(KEY, async (statements) => {
      await change(statements, END, job, 'done', job.dueAtMs, null)
      await statements.run(FORGET)
    })
  }

  fail(job: Job, { error, retryAtMs }: { readonly error: string; readonly retryAtMs?: number }): Promise<void> {
    return this.#connection.write(KEY, (statements) => this.#end(statements, job, error, retryAtMs))
  }

  cancel(id: number): Promise<boolean> {
    return this.#connection.writeOne(KEY, async (statements) => (await statements.run(CANCEL, id)) === 1)
  }

  list({ kind, status, limit }: JobFilter = {}): Promise<readonly Job[]> {
    return this.#connection.read(async (statements) =>
      (await statements.all<JobRow>(LIST, kind ?? null, status ?? null, jobLimit(limit))).map(toJob),
    )
  }

  /** What is due and in nobody's hands, the one that is due longest first. */
  async #free(statements: Statements, kinds: readonly string[]): Promise<readonly JobRow[]> {
    const [nowMs, serverMs] = [this.#clock.now(), this.#serverClock.now()]
    return (await statements.all<JobRow>(CANDIDATES, kinds, nowMs)).filter((row) => isFree(row, serverMs))
  }

  async #end(statements: Statements, job: Job, error: string, retryAtMs?: number): Promise<void> {
    const after = afterFailure(job, { error, retryAtMs, nowMs: this.#clock.now() })
    await change(statements, END, job, after.status, after.dueMs, after.error)
    await statements.run(FORGET)
  }
}

async function change(statements: Statements, sql: string, job: Job, ...rest: readonly unknown[]): Promise<void> {
  if ((await statements.run(sql, job.id, job.attempt, ...rest)) === 0) throw jobLost(job)
}
