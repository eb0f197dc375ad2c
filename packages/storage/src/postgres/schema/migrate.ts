import { HermesError } from '@hermes/contracts'
import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import type { Connection } from '../server/connection.js'
import { nativeCode } from '../server/postgres-error.js'
import type { ServerAddress } from '../server/server-address.js'
import { ESTIMATES, FIRST_SCHEMA, JOBS, OUTBOX, PARTIALS, PEOPLE, QUESTIONS } from './schema-sql.js'

const MIGRATION_TABLE = 'hermes_migrations'
const MIGRATION_LOCK_TABLE = 'hermes_migrations_lock'

/** By name, in their order. What was released once never changes; what comes next gets a name of its own. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001_first': { up: (builder) => runAll(builder, FIRST_SCHEMA) },
  '0002_jobs': { up: (builder) => runAll(builder, JOBS) },
  '0003_estimates': { up: (builder) => runAll(builder, ESTIMATES) },
  '0004_partials': { up: (builder) => runAll(builder, PARTIALS) },
  '0005_people': { up: (builder) => runAll(builder, PEOPLE) },
  '0006_questions': { up: (builder) => runAll(builder, QUESTIONS) },
  '0007_outbox': { up: (builder) => runAll(builder, OUTBOX) },
}

/** What is used here came with it: extensions that a user who is no superuser may add. */
const MIN_VERSION = 130_000

const FOUND = `
  SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS version_name,
    current_setting('server_encoding') AS encoding,
    to_regclass('${MIGRATION_TABLE}') IS NOT NULL AS has_migrations,
    to_regclass('sessions') IS NOT NULL OR to_regclass('messages') IS NOT NULL AS has_tables,
    extract(epoch FROM clock_timestamp()) * 1000 AS now_ms`

/**
 * Brings the schema of the database up to date; several processes may do so at once. Resolves to the time of the server, in Unix
 * milliseconds.
 * @throws HermesError `store.newer_schema`, `store.foreign`, `store.old_server`, `store.bad_encoding`, `store.missing_extension`; nothing is
 * changed then.
 */
export async function migrate(connection: Connection): Promise<number> {
  const found = await connection.read((statements) => statements.first<Found>(FOUND))
  const { has_migrations, has_tables, now_ms } = found!
  refuseUnfit(connection.address, found!)
  if (!has_migrations && has_tables) throw foreign(connection.address)
  const done = has_migrations ? await doneMigrations(connection) : []
  refuseNewer(connection.address, done)
  if (done.length < Object.keys(MIGRATIONS).length) await migrateToLatest(connection)
  return now_ms
}

interface Found {
  readonly version: number
  readonly version_name: string
  readonly encoding: string
  readonly has_migrations: boolean
  readonly has_tables: boolean
  readonly now_ms: number
}

function refuseUnfit({ shown, database }: ServerAddress, { version, version_name, encoding }: Found): void {
  if (version < MIN_VERSION) {
    throw new HermesError(`${shown} is on PostgreSQL ${version_name}; 13 is the oldest that works.`, {
      code: 'store.old_server',
      details: { store: shown, version: version_name },
    })
  }
  if (encoding !== 'UTF8') {
    const way = `createdb --template template0 --encoding UTF8 ${database}`
    throw new HermesError(`${shown} is encoded in ${encoding}, which lacks most characters; make it anew: ${way}`, {
      code: 'store.bad_encoding',
      details: { store: shown, encoding },
    })
  }
}

async function doneMigrations(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.read((statements) =>
    statements.all<{ name: string }>(`SELECT name FROM ${MIGRATION_TABLE} ORDER BY name`),
  )
  return rows.map(({ name }) => name)
}

async function migrateToLatest(connection: Connection): Promise<void> {
  await connection.writeOne('schema', () => ensureTrigrams(connection))
  const migrator = new Migrator({
    db: connection.builder,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableName: MIGRATION_TABLE,
    migrationLockTableName: MIGRATION_LOCK_TABLE,
  })
  await connection.writeOne('schema', async () => {
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
  })
}

async function ensureTrigrams({ builder, address }: Connection): Promise<void> {
  const exists = sql<{ name: string }>`SELECT extname AS name FROM pg_extension WHERE extname = 'pg_trgm'`
  if ((await exists.execute(builder)).rows.length > 0) return
  try {
    await sql`CREATE EXTENSION IF NOT EXISTS pg_trgm`.execute(builder)
  } catch (error) {
    const native = nativeCode(error)
    // Another process was first.
    if (native === '23505' || native === '42710') return
    const [isRefused, isAbsent] = [native === '42501', native === '58P01' || native === '0A000']
    if (!isRefused && !isAbsent) throw error
    const way = isAbsent
      ? 'install it on the server (postgresql-contrib)'
      : `"${address.user}" may not add it; have an administrator run there: CREATE EXTENSION pg_trgm`
    throw new HermesError(`${address.shown} lacks the extension pg_trgm: ${way}.`, {
      code: 'store.missing_extension',
      details: { store: address.shown, native },
    })
  }
}

async function runAll(builder: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(builder)
}

function refuseNewer({ shown }: ServerAddress, done: readonly string[]): void {
  const unknown = done.find((name) => !Object.hasOwn(MIGRATIONS, name))
  if (unknown === undefined) return
  throw new HermesError(`${shown} has the schema of a newer Hermes (${unknown}); update Hermes to open it.`, {
    code: 'store.newer_schema',
    details: { store: shown, found: unknown },
  })
}

function foreign({ shown }: ServerAddress): HermesError {
  return new HermesError(`${shown} holds the tables of another program; choose another database.`, {
    code: 'store.foreign',
    details: { store: shown },
  })
}
