import { sql } from 'kysely'
import { all, type Database, run } from '../shared/database.js'

/** What rows have in common that wait for an answer of a person. */
interface Kept {
  readonly id: string
  readonly status: 'open' | 'parked' | 'answered' | 'used'
  readonly askedAtMs: number
  readonly expiresAtMs: number
}

/** Which rows, and how they are written. */
interface KeptRowsOptions<T extends Kept> {
  readonly database: Database
  readonly table: 'hermes_approvals' | 'hermes_questions'
  readonly sessionOf: (row: T) => string
  readonly toText: (row: T) => string
  readonly parse: (text: string) => T
}

/**
 * Questions to a person: another process may answer them, and they outlive the one that asked. Rows go when their answer was used, or with
 * the first question after they expired.
 */
export class KeptRows<T extends Kept> {
  readonly #options: KeptRowsOptions<T>

  constructor(options: KeptRowsOptions<T>) {
    this.#options = options
  }

  put(row: T): Promise<boolean> {
    const { database, sessionOf, toText } = this.#options
    const table = this.#table
    const { id, status, askedAtMs, expiresAtMs } = row
    const columns = {
      session_id: sessionOf(row),
      status,
      asked_at_ms: askedAtMs,
      expires_at_ms: expiresAtMs,
      approval: toText(row),
    }
    return database.write(`${table} ${id}`, function* () {
      yield* database.make(table)
      const remove = database.builder.deleteFrom(table)
      if (status === 'used') return (yield* run(remove.where('id', '=', id))) > 0
      if (status === 'answered') {
        const update = database.builder.updateTable(table).set(columns)
        return (yield* run(update.where('id', '=', id).where('status', '<>', 'answered'))) > 0
      }
      if (status === 'open') yield* run(remove.where('expires_at_ms', '<=', askedAtMs))
      const insert = database.builder.insertInto(table).values({ id, ...columns })
      const kept = yield* run(
        insert.onConflict((conflict) =>
          conflict.column('id').doUpdateSet(columns).where(`${table}.status`, '<>', 'answered'),
        ),
      )
      return kept > 0
    })
  }

  async get(id: string): Promise<T | null> {
    return (await this.#found(this.#rows().where('id', '=', id)))[0] ?? null
  }

  pending(sessionId?: string): Promise<readonly T[]> {
    const arrival = this.#options.database.dialect === 'sqlite' ? sql.ref('rowid') : sql.ref('number')
    const rows = this.#rows().orderBy('asked_at_ms').orderBy(arrival)
    return this.#found(sessionId === undefined ? rows : rows.where('session_id', '=', sessionId))
  }

  /** Both tables have the same columns, so that statements are built for one type. */
  get #table(): 'hermes_approvals' {
    return this.#options.table as 'hermes_approvals'
  }

  #rows() {
    return textsOf(this.#options.database, this.#table)
  }

  #found(query: ReturnType<typeof textsOf>): Promise<readonly T[]> {
    const { database, parse } = this.#options
    const table = this.#table
    return database.read(function* () {
      if (!(yield* database.has(table))) return []
      return (yield* all(query)).map((row) => parse(row.approval))
    })
  }
}

function textsOf({ builder }: Database, table: 'hermes_approvals') {
  return builder.selectFrom(table).select('approval')
}
