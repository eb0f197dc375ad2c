import type { Clock } from '@hermes/contracts'
import { sql } from 'kysely'
import type { Learning, Learnings, NewLearning } from '../learnings.js'
import { all, type Database, first, run, type Work } from '../shared/database.js'
import {
  cleanLearning,
  findLearnings,
  MAX_LEARNINGS,
  matchLearning,
  mergedTags,
  sameLearning,
  toLearning,
} from '../shared/learning-rules.js'

/** The table of learnings. There are few, so all are read and compared here. */
export class LearningStore implements Learnings {
  readonly #database: Database
  readonly #clock: Clock

  constructor(database: Database, { clock }: { readonly clock: Clock }) {
    this.#database = database
    this.#clock = clock
  }

  async save(input: NewLearning): Promise<{ readonly learning: Learning; readonly isMerged: boolean }> {
    const [database, learning, nowMs] = [this.#database, cleanLearning(input), this.#clock.now()]
    return database.write('learnings', function* () {
      // Two who save the same thing at once wait for each other: it is one learning.
      yield* database.claim('hermes_learnings')
      const known = yield* readAll(database)
      const same = sameLearning(known, learning)
      const { pattern, errorType, fix, context } = learning
      const tags = mergedTags(learning.tags, same)
      const row = same
        ? yield* first(
            use(database, same.id)
              .set({ fix, tags, ...(context === '' ? {} : { context }) })
              .returningAll(),
          )
        : yield* first(
            database.builder
              .insertInto('hermes_learnings')
              .values({ pattern, error_type: errorType, fix, context, tags, created_ms: nowMs, times_used: 0 })
              .returningAll(),
          )
      if (!same) yield* forget(database, known.length + 1 - MAX_LEARNINGS)
      return { learning: toLearning(row!), isMerged: same !== undefined }
    })
  }

  async find(options: Parameters<Learnings['find']>[0]): Promise<readonly Learning[]> {
    return findLearnings(await this.#read(), options)
  }

  async match(error: { readonly text: string; readonly tool: string }): Promise<Learning | null> {
    const id = matchLearning(await this.#read(), error)
    if (id === null) return null
    const row = await this.#database.write('learnings', () => first(use(this.#database, id).returningAll()))
    return row ? toLearning(row) : null
  }

  #read(): Promise<readonly Learning[]> {
    const database = this.#database
    return database.read(function* () {
      return (yield* database.has('hermes_learnings')) ? yield* readAll(database) : []
    })
  }
}

function* readAll({ builder }: Database): Work<readonly Learning[]> {
  const rows = builder.selectFrom('hermes_learnings').selectAll().orderBy('times_used', 'desc').orderBy('id', 'desc')
  return (yield* all(rows)).map(toLearning)
}

function use({ builder }: Database, id: number) {
  return builder.updateTable('hermes_learnings').set({ times_used: sql`times_used + 1` }).where('id', '=', id)
}

/** The least used of the oldest. */
function* forget({ builder }: Database, count: number): Work<void> {
  if (count <= 0) return
  const going = builder.selectFrom('hermes_learnings').select('id').orderBy('times_used').orderBy('id').limit(count)
  yield* run(builder.deleteFrom('hermes_learnings').where('id', 'in', going))
}
