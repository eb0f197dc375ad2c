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
import type { Connection } from '../file/connection.js'

// Made by the first job, so that opening a store costs no more for it.
const CREATE = [
  `CREATE TABLE IF NOT EXISTS hermes_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    key TEXT,
    payload TEXT NOT NULL,
    status TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    error TEXT,
    holder TEXT,
    held_until_ms INTEGER
  )`,
  `CREATE UNIQUE INDEX IF NOT EXISTS hermes_jobs_key ON hermes_jobs(key) WHERE ${OPEN}`,
  `CREATE INDEX IF NOT EXISTS hermes_jobs_open ON hermes_jobs(due_ms) WHERE ${OPEN}`,
]
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hermes_jobs'"
const WITH_KEY = `SELECT * FROM hermes_jobs WHERE key = ? AND ${OPEN}`
const ADD = `
  INSERT INTO hermes_jobs (kind, key, payload, status, attempt, max_attempts, due_ms, created_ms)
  VALUES (:kind, :key, :payload, 'waiting', 0, :maxAttempts, :dueMs, :nowMs) RETURNING *`
const CANDIDATES = `
  SELECT * FROM hermes_jobs WHERE ${OPEN} AND kind IN (SELECT value FROM json_each(?)) AND due_ms <= ? ORDER BY due_ms, id`
const BEGIN = `
  UPDATE hermes_jobs SET status = 'running', attempt = attempt + 1, holder = :holder, held_until_ms = :untilMs
  WHERE id = :id RETURNING *`
const HELD = "WHERE id = :id AND attempt = :attempt AND status = 'running'"
const RENEW = `UPDATE hermes_jobs SET held_until_ms = :untilMs ${HELD}`
const END = `UPDATE hermes_jobs SET status = :status, due_ms = :dueMs, error = :error, holder = NULL, held_until_ms = NULL ${HELD}`
const CANCEL = `UPDATE hermes_jobs SET status = 'cancelled', holder = NULL, held_until_ms = NULL WHERE id = ? AND ${OPEN}`
const FORGET = `
  DELETE FROM hermes_jobs WHERE id IN (SELECT id FROM hermes_jobs WHERE NOT ${OPEN} ORDER BY id DESC LIMIT -1 OFFSET ${MAX_OVER})`
const LIST = `
  SELECT * FROM hermes_jobs WHERE kind = coalesce(:kind, kind) AND status = coalesce(:status, status) ORDER BY id DESC LIMIT :limit`

/** The queue on SQLite. */
export class JobQueue implements Jobs {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #process: string

  constructor(connection: Connection, options: { readonly clock: Clock; readonly process: string }) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
  }

  async add(input: NewJob): Promise<{ readonly job: Job; readonly isNew: boolean }> {
    const job = cleanJob(input, this.#clock.now())
    return this.#connection.write(() => {
      for (const sql of CREATE) this.#connection.statement(sql).run()
      const same = job.key === null ? undefined : this.#connection.statement(WITH_KEY).get(job.key)
      const row = same ?? this.#connection.statement(ADD).get(job)
      return { job: toJob(row as JobRow), isNew: same === undefined }
    })
  }

  async take({ kinds, leaseMs = DEFAULT_LEASE_MS }: { readonly kinds: readonly string[]; readonly leaseMs?: number }) {
    if (!(await this.#connection.read(() => this.#exists() && this.#free(kinds).length > 0))) return null
    return this.#connection.write(() => {
      for (const row of this.#free(kinds)) {
        if (isUsedUp(row)) this.#end(toJob(row), ABANDONED)
        else {
          const bound = { id: row.id, holder: this.#process, untilMs: this.#clock.now() + leaseMs }
          return toJob(this.#connection.statement(BEGIN).get(bound) as JobRow)
        }
      }
      return null
    })
  }

  renew(job: Job, { leaseMs = DEFAULT_LEASE_MS }: { readonly leaseMs?: number } = {}): Promise<void> {
    return this.#connection.write(() => this.#change(RENEW, job, { untilMs: this.#clock.now() + leaseMs }))
  }

  complete(job: Job): Promise<void> {
    return this.#connection.write(() => {
      this.#change(END, job, { status: 'done', dueMs: job.dueAtMs, error: null })
      this.#connection.statement(FORGET).run()
    })
  }

  fail(job: Job, { error, retryAtMs }: { readonly error: string; readonly retryAtMs?: number }): Promise<void> {
    return this.#connection.write(() => this.#end(job, error, retryAtMs))
  }

  cancel(id: number): Promise<boolean> {
    return this.#connection.write(() => this.#exists() && this.#connection.statement(CANCEL).run(id).changes === 1)
  }

  list({
    kind = null,
    status = null,
    limit,
  }: Partial<Record<'kind' | 'status', string | null>> & Pick<JobFilter, 'limit'> = {}) {
    return this.#connection.read(() => {
      if (!this.#exists()) return []
      const bound = { kind, status, limit: jobLimit(limit) }
      return (this.#connection.statement(LIST).all(bound) as JobRow[]).map(toJob)
    })
  }

  /** What is due and in nobody's hands, the one that is due longest first. */
  #free(kinds: readonly string[]): readonly JobRow[] {
    const nowMs = this.#clock.now()
    const due = this.#connection.statement(CANDIDATES).all(JSON.stringify(kinds), nowMs) as JobRow[]
    return due.filter((row) => isFree(row, nowMs))
  }

  #end(job: Job, error: string, retryAtMs?: number): void {
    this.#change(END, job, afterFailure(job, { error, retryAtMs, nowMs: this.#clock.now() }))
    this.#connection.statement(FORGET).run()
  }

  #change(sql: string, job: Job, bound: Record<string, unknown>): void {
    const { id, attempt } = job
    if (!this.#exists() || this.#connection.statement(sql).run({ ...bound, id, attempt }).changes === 0)
      throw jobLost(job)
  }

  #exists(): boolean {
    return this.#connection.statement(EXISTS).get() !== undefined
  }
}
