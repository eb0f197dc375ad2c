import type { Clock } from '@hermes/contracts'
import { sql } from 'kysely'
import type { Learning, Learnings, NewLearning } from '../learnings.js'
import type { PersonFilter } from '../person-filter.js'
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

const OWNER = ''

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
    const { person = null } = input
    return database.write('learnings', function* () {
      // Two who save the same thing at once wait for each other: it is one learning.
      yield* database.claim('hermes_learnings')
      const known = yield* readAll(database, { person })
      const same = sameLearning(known, learning)
      const { pattern, errorType, fix, context } = learning
      const words = { pattern, error_type: errorType, fix, context }
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
              .values({ ...words, tags, created_ms: nowMs, times_used: 0, person: person ?? OWNER })
              .returningAll(),
          )
      if (!same) yield* forget(database, person, known.length + 1 - MAX_LEARNINGS)
      return { learning: toLearning(row!), isMerged: same !== undefined }
    })
  }

  async find(options: Parameters<Learnings['find']>[0] = {}): Promise<readonly Learning[]> {
    return findLearnings(await this.#read(options), options)
  }

  async match(error: Parameters<Learnings['match']>[0]): Promise<Learning | null> {
    const id = matchLearning(await this.#read(error), error)
    if (id === null) return null
    const row = await this.#database.write('learnings', () => first(use(this.#database, id).returningAll()))
    return row ? toLearning(row) : null
  }

  #read(filter: PersonFilter): Promise<readonly Learning[]> {
    const database = this.#database
    return database.read(function* () {
      return (yield* database.has('hermes_learnings')) ? yield* readAll(database, filter) : []
    })
  }
}

function* readAll(database: Database, { person }: PersonFilter): Work<readonly Learning[]> {
  const rows = database.builder
    .selectFrom('hermes_learnings')
    .selectAll()
    .orderBy('times_used', 'desc')
    .orderBy('id', 'desc')
  // A table of an older version has those of the owner alone.
  const isMarked = person !== undefined && (yield* database.has('hermes_learnings', 'person'))
  if (!isMarked) return typeof person === 'string' ? [] : (yield* all(rows)).map(toLearning)
  return (yield* all(rows.where('person', '=', person ?? OWNER))).map(toLearning)
}

function use({ builder }: Database, id: number) {
  return builder.updateTable('hermes_learnings').set({ times_used: sql`times_used + 1` }).where('id', '=', id)
}

/** The least used of the oldest. */
function* forget({ builder }: Database, person: string | null, count: number): Work<void> {
  if (count <= 0) return
  const going = builder
    .selectFrom('hermes_learnings')
    .select('id')
    .where('person', '=', person ?? OWNER)
    .orderBy('times_used')
    .orderBy('id')
    .limit(count)
  yield* run(builder.deleteFrom('hermes_learnings').where('id', 'in', going))
}
