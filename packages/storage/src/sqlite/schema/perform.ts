import type { Outcome, Statement, Work } from '../../shared/database.js'
import type { Connection } from '../file/connection.js'

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
