import type { Outcome, Runner, Statement, Work } from '../../shared/database.js'
import type { Connection } from '../file/connection.js'

/** Does work on a file. */
export class SqliteRunner implements Runner {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  read<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#connection.read(() => perform(this.#connection, work()))
  }

  write<Result>(_key: string, work: () => Work<Result>): Promise<Result> {
    return this.#connection.write(() => perform(this.#connection, work()))
  }
}

/** Inside a transaction: does all of some work. */
export function perform<Result>(connection: Connection, work: Work<Result>): Result {
  let step = work.next()
  while (!step.done) step = work.next(execute(connection, step.value))
  return step.value
}

function execute(connection: Connection, { sql, parameters }: Statement): Outcome {
  const statement = connection.statement(sql)
  const values = parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value))
  if (!statement.reader) return { rows: [], changes: statement.run(...values).changes }
  const rows = statement.all(...values)
  return { rows, changes: rows.length }
}
