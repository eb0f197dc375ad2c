import type { Clock } from '@hermes/contracts'
import type { Learning, Learnings, NewLearning } from '../../learnings.js'
import {
  cleanLearning,
  findLearnings,
  type LearningRow,
  MAX_LEARNINGS,
  matchLearning,
  mergedTags,
  sameLearning,
  toLearning,
} from '../../shared/learning-rules.js'
import type { Connection } from '../file/connection.js'

// Made by the first that is saved, so that opening a store costs no more for it.
const CREATE = `
  CREATE TABLE IF NOT EXISTS hermes_learnings (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pattern TEXT NOT NULL,
    error_type TEXT NOT NULL,
    fix TEXT NOT NULL,
    context TEXT NOT NULL,
    tags TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    times_used INTEGER NOT NULL
  )`
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hermes_learnings'"
const ALL = 'SELECT * FROM hermes_learnings ORDER BY times_used DESC, id DESC'
const INSERT = `
  INSERT INTO hermes_learnings (pattern, error_type, fix, context, tags, created_ms, times_used)
  VALUES (:pattern, :errorType, :fix, :context, :tags, :nowMs, 0) RETURNING *`
const MERGE = `
  UPDATE hermes_learnings SET fix = :fix, context = CASE :context WHEN '' THEN context ELSE :context END, tags = :tags,
    times_used = times_used + 1
  WHERE id = :id RETURNING *`
const USE = 'UPDATE hermes_learnings SET times_used = times_used + 1 WHERE id = ? RETURNING *'
const FORGET = `
  DELETE FROM hermes_learnings WHERE id IN (
    SELECT id FROM hermes_learnings ORDER BY times_used, id LIMIT max(0, (SELECT count(*) FROM hermes_learnings) - ${MAX_LEARNINGS}))`

/** The table of learnings. There are few, so all are read and compared here. */
export class LearningStore implements Learnings {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, { clock }: { readonly clock: Clock }) {
    this.#connection = connection
    this.#clock = clock
  }

  save(input: NewLearning): Promise<{ readonly learning: Learning; readonly isMerged: boolean }> {
    const learning = cleanLearning(input)
    return this.#connection.write(() => {
      this.#connection.statement(CREATE).run()
      const same = sameLearning(this.#all(), learning)
      const parameters = { ...learning, tags: mergedTags(learning.tags, same) }
      const { fix, context, tags } = parameters
      const row = same
        ? this.#connection.statement(MERGE).get({ id: same.id, fix, context, tags })
        : this.#connection.statement(INSERT).get({ ...parameters, nowMs: this.#clock.now() })
      this.#connection.statement(FORGET).run()
      return { learning: toLearning(row as LearningRow), isMerged: same !== undefined }
    })
  }

  async find(options: Parameters<Learnings['find']>[0]): Promise<readonly Learning[]> {
    return findLearnings(await this.#read(), options)
  }

  async match(error: { readonly text: string; readonly tool: string }): Promise<Learning | null> {
    const id = matchLearning(await this.#read(), error)
    if (id === null) return null
    const row = await this.#connection.write(() => this.#connection.statement(USE).get(id))
    return row === undefined ? null : toLearning(row as LearningRow)
  }

  #read(): Promise<readonly Learning[]> {
    return this.#connection.read(() => (this.#exists() ? this.#all() : []))
  }

  #exists(): boolean {
    return this.#connection.statement(EXISTS).get() !== undefined
  }

  #all(): Learning[] {
    return (this.#connection.statement(ALL).all() as LearningRow[]).map(toLearning)
  }
}
