import type { Compilable, Kysely, Sql } from 'kysely'
import type { LaterTable, Tables } from './tables.js'

/** A statement in the words of one dialect, with what it is about. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** What a statement gave. */
export interface Outcome {
  readonly rows: readonly unknown[]
  /** How many rows it changed. */
  readonly changes: number
}

/**
 * Statements that follow each other: each is handed to whoever runs the work, who hands back what came of it. So the same work is done
 * within a synchronous transaction of a file and, with waiting in between, on a server.
 */
export type Work<Result> = Generator<Statement, Result, Outcome>

/** Where work is done. */
export interface Runner {
  /** Reads. In a file all of it from one state, on a server each statement sees what was committed before it. */
  read<Result>(work: () => Work<Result>): Promise<Result>
  /** Changes all or nothing; resolves once committed. Writes of one `key` run in the order they were asked for. */
  write<Result>(key: string, work: () => Work<Result>): Promise<Result>
}

/** Where work is done, with the tables that a file gets by their first row. */
export interface TableMaker extends Runner {
  readonly dialect: 'sqlite' | 'postgres'
  /** Whether there is such a table, with `column` if that is given. A file gets some of its tables with their first row. */
  has(table: LaterTable, column?: string): Work<boolean>
  /** Inside a write: makes the table where it is missing. */
  make(table: LaterTable): Work<void>
  /** Like {@link make}; other processes that claim the table wait until the write is over. */
  claim(table: LaterTable): Work<void>
}

/** Where built statements run. */
export interface Database extends TableMaker {
  /** Compiles statements; it runs none. */
  readonly builder: Kysely<Tables>
  /** For parts of statements, where the builder is loaded by the first of them. */
  readonly sql: Sql
}

/** The rows of a query. */
export function* all<Row>(query: Compilable<Row>): Work<readonly Row[]> {
  return (yield query.compile()).rows as readonly Row[]
}

/** The first row of a query. */
export function* first<Row>(query: Compilable<Row>): Work<Row | undefined> {
  return (yield* all(query))[0]
}

/** How many rows a statement changed. */
export function* run(query: Compilable): Work<number> {
  return (yield query.compile()).changes
}
