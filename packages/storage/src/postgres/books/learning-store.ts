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
import type { Connection } from '../server/connection.js'
import type { Statements } from '../server/statements.js'

// Two who save the same thing at once wait for each other: it is one learning.
const LOCK = 'LOCK TABLE hermes_learnings IN SHARE ROW EXCLUSIVE MODE'
const ALL = 'SELECT * FROM hermes_learnings ORDER BY times_used DESC, id DESC'
const INSERT = `
  INSERT INTO hermes_learnings (pattern, error_type, fix, context, tags, created_ms, times_used)
  VALUES ($1, $2, $3, $4, $5, $6, 0) RETURNING *`
const MERGE = `
  UPDATE hermes_learnings SET fix = $2, context = CASE $3 WHEN '' THEN context ELSE $3 END, tags = $4, times_used = times_used + 1
  WHERE id = $1 RETURNING *`
const USE = 'UPDATE hermes_learnings SET times_used = times_used + 1 WHERE id = $1 RETURNING *'
const FORGET = `
  DELETE FROM hermes_learnings WHERE id IN (
    SELECT id FROM hermes_learnings ORDER BY times_used, id
    LIMIT greatest(0, (SELECT count(*) FROM hermes_learnings) - ${MAX_LEARNINGS}))`

/** Past failures on PostgreSQL. There are few, so all are read and compared here. */
export class LearningStore implements Learnings {
  readonly #connection: Connection
  readonly #clock: Clock

  constructor(connection: Connection, { clock }: { readonly clock: Clock }) {
    this.#connection = connection
    this.#clock = clock
  }

  async save(input: NewLearning): Promise<{ readonly learning: Learning; readonly isMerged: boolean }> {
    const learning = cleanLearning(input)
    return this.#connection.write('learnings', async (statements) => {
      await statements.run(LOCK)
      const same = sameLearning(await readAll(statements), learning)
      const { pattern, errorType, fix, context } = learning
      const tags = mergedTags(learning.tags, same)
      const row = same
        ? await statements.first<LearningRow>(MERGE, same.id, fix, context, tags)
        : await statements.first<LearningRow>(INSERT, pattern, errorType, fix, context, tags, this.#clock.now())
      await statements.run(FORGET)
      return { learning: toLearning(row!), isMerged: same !== undefined }
    })
  }

  async find(options: Parameters<Learnings['find']>[0]): Promise<readonly Learning[]> {
    return findLearnings(await this.#connection.read(readAll), options)
  }

  async match(error: { readonly text: string; readonly tool: string }): Promise<Learning | null> {
    const id = matchLearning(await this.#connection.read(readAll), error)
    if (id === null) return null
    const row = await this.#connection.writeOne('learnings', (statements) => statements.first<LearningRow>(USE, id))
    return row ? toLearning(row) : null
  }
}

async function readAll(statements: Statements): Promise<readonly Learning[]> {
  return (await statements.all<LearningRow>(ALL)).map(toLearning)
}
