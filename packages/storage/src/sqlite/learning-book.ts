import { type Clock, HermesError } from '@hermes/contracts'
import type { Learning, Learnings, NewLearning } from '../learnings.js'
import type { Connection } from './connection.js'
import { covered, similarity, wordsOf } from './likeness.js'

const MAX_LEARNINGS = 1_000
const DEFAULT_LIMIT = 10
/** Words of an error beyond this are not looked at: the telling ones are at its ends. */
const MAX_ERROR_CHARS = 4_000
/** From here on two patterns are about the same failure. */
const SAME = 0.6
/** So much of a pattern must be in an error. */
const MATCHES = 0.75
const MIN_WORDS = 2

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

interface Row {
  readonly id: number
  readonly pattern: string
  readonly error_type: string
  readonly fix: string
  readonly context: string
  readonly tags: string
  readonly created_ms: number
  readonly times_used: number
}

/** The table of learnings. There are few, so all are read and compared here. */
export class LearningBook implements Learnings {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, { clock }: { readonly clock: Clock }) {
    this.#connection = connection
    this.#clock = clock
  }

  save(given: NewLearning): Promise<{ readonly learning: Learning; readonly isMerged: boolean }> {
    const learning = clean(given)
    return this.#connection.write(() => {
      this.#connection.statement(CREATE).run()
      const words = wordsOf(learning.pattern)
      const same = this.#all().find(
        (one) => one.errorType === learning.errorType && similarity(wordsOf(one.pattern), words) >= SAME,
      )
      const parameters = { ...learning, tags: JSON.stringify([...new Set([...(same?.tags ?? []), ...learning.tags])]) }
      const { fix, context, tags } = parameters
      const row = same
        ? this.#connection.statement(MERGE).get({ id: same.id, fix, context, tags })
        : this.#connection.statement(INSERT).get({ ...parameters, nowMs: this.#clock.now() })
      this.#connection.statement(FORGET).run()
      return { learning: toLearning(row as Row), isMerged: same !== undefined }
    })
  }

  async find({ query = '', tag, limit = DEFAULT_LIMIT }: { query?: string; tag?: string; limit?: number } = {}) {
    const all = await this.#connection.read(() => (this.#exists() ? this.#all() : []))
    const tagged = tag === undefined ? all : all.filter(({ tags }) => tags.includes(tag))
    const wanted = wordsOf(query)
    if (wanted.size === 0) return tagged.slice(0, limit)
    return tagged
      .map((learning) => ({ learning, nearness: covered(wanted, wordsOf(textOf(learning))) }))
      .filter(({ nearness }) => nearness > 0)
      .sort((left, right) => right.nearness - left.nearness)
      .slice(0, limit)
      .map(({ learning }) => learning)
  }

  async match({ text, tool }: { readonly text: string; readonly tool: string }): Promise<Learning | null> {
    const all = await this.#connection.read(() => (this.#exists() ? this.#all() : []))
    if (all.length === 0) return null
    const words = wordsOf(ends(text))
    const near = all
      .filter(({ errorType }) => errorType === '' || errorType === tool || words.has(errorType.toLowerCase()))
      .map((learning) => ({ learning, pattern: wordsOf(learning.pattern) }))
      .filter(({ pattern }) => pattern.size >= MIN_WORDS)
      .map(({ learning, pattern }) => ({ id: learning.id, size: pattern.size, share: covered(pattern, words) }))
      .filter(({ share }) => share >= MATCHES)
      .sort((left, right) => right.share - left.share || right.size - left.size)
    if (!near[0]) return null
    const { id } = near[0]
    const row = await this.#connection.write(() => this.#connection.statement(USE).get(id))
    return row === undefined ? null : toLearning(row as Row)
  }

  #exists(): boolean {
    return this.#connection.statement(EXISTS).get() !== undefined
  }

  #all(): Learning[] {
    return (this.#connection.statement(ALL).all() as Row[]).map(toLearning)
  }
}

function clean({ pattern, errorType = '', fix, context = '', tags = [] }: NewLearning) {
  const learning = {
    pattern: cut(pattern, 500),
    errorType: cut(errorType, 100),
    fix: cut(fix, 2_000),
    context: cut(context, 1_000),
    tags: tags.map((tag) => cut(tag, 50)).filter(Boolean),
  }
  for (const key of ['pattern', 'fix'] as const) {
    if (learning[key] === '')
      throw new HermesError(`A learning needs a ${key}.`, { code: 'store.bad_learning', details: { key } })
  }
  return learning
}

function cut(text: string, maxChars: number): string {
  return text.trim().slice(0, maxChars).toWellFormed()
}

function ends(text: string): string {
  if (text.length <= MAX_ERROR_CHARS) return text
  return `${text.slice(0, MAX_ERROR_CHARS / 2)} ${text.slice(-MAX_ERROR_CHARS / 2)}`
}

function textOf({ pattern, errorType, fix, context, tags }: Learning): string {
  return [pattern, errorType, fix, context, ...tags].join(' ')
}

function toLearning(row: Row): Learning {
  return {
    id: row.id,
    pattern: row.pattern,
    errorType: row.error_type,
    fix: row.fix,
    context: row.context,
    tags: JSON.parse(row.tags) as string[],
    createdAtMs: row.created_ms,
    timesUsed: row.times_used,
  }
}
