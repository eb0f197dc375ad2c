import { CompiledQuery, type Kysely } from 'kysely'

/** Statements on the server: one by one, or all in one transaction. Parameters are `$1`, `$2` … */
export class Statements {
  /** For queries that are built. */
  readonly builder: Kysely<unknown>

  constructor(builder: Kysely<unknown>) {
    this.builder = builder
  }

  async all<Row>(sql: string, ...parameters: readonly unknown[]): Promise<readonly Row[]> {
    return (await this.builder.executeQuery<Row>(CompiledQuery.raw(sql, parameters.map(storable)))).rows
  }

  async first<Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row | undefined> {
    return (await this.all<Row>(sql, ...parameters))[0]
  }

  /** How many rows it changed. */
  async run(sql: string, ...parameters: readonly unknown[]): Promise<number> {
    const { numAffectedRows } = await this.builder.executeQuery(CompiledQuery.raw(sql, parameters.map(storable)))
    return Number(numAffectedRows ?? 0)
  }
}

/** No text of PostgreSQL holds a NUL. What has to come back exactly is kept as JSON, where it is escaped. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  return Array.isArray(value) ? value.map(storable) : value
}
