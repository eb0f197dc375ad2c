import { CompiledQuery, type Kysely } from 'kysely'
import type { Outcome, Statement, Work } from '../../shared/database.js'

/** Statements on the server: one by one, or all in one transaction. Parameters are `$1`, `$2` … */
export class Statements {
  /** For queries that are built. */
  readonly builder: Kysely<unknown>

  constructor(builder: Kysely<unknown>) {
    this.builder = builder
  }

  async all<Row>(sql: string, ...parameters: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.#execute({ sql, parameters })).rows as readonly Row[]
  }

  async first<Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...parameters))[0]
  }

  /** How many rows it changed. */
  async run(sql: string, ...parameters: readonly unknown[]): Promise<number> {
    return (await this.#execute({ sql, parameters })).changes
  }

  /** Does all of some work. */
  async perform<Result>(work: Work<Result>): Promise<Result> {
    let step = work.next()
    while (!step.done) step = work.next(await this.#execute({ ...step.value, sql: numbered(step.value.sql) }))
    return step.value
  }

  async #execute({ sql, parameters }: Statement): Promise<Outcome> {
    const { rows, numAffectedRows } = await this.builder.executeQuery(CompiledQuery.raw(sql, parameters.map(storable)))
    return { rows, changes: Number(numAffectedRows ?? 0) }
  }
}

/** A statement with `?` for its parameters, as this server has them. */
export function numbered(sql: string): string {
  let count = 0
  return sql.replaceAll('?', () => `$${++count}`)
}

/** No text of PostgreSQL holds a NUL. What has to come back exactly is kept as JSON, where it is escaped. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  return Array.isArray(value) ? value.map(storable) : value
}
