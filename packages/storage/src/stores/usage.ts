import type { Clock } from '@hermes/contracts'
import type {
  SpendingFilter,
  SpendingState,
  UsageFilter,
  UsageGroup,
  UsageLedger,
  UsageRecord,
  UsageReservation,
  UsageTotal,
} from '@hermes/contracts/store'
import type { RawBuilder, Sql } from 'kysely'
import type { Database, Statement, TableMaker, Work } from '../shared/database.js'
import { all, first, run } from '../shared/database.js'
import { hasEnded } from '../shared/process-identity.js'
import type { TotalRow } from '../shared/usage-totals.js'
import { addUp, QUARTER_HOUR_MS } from '../shared/usage-totals.js'

/** A home has limits for few sessions at a time, and a day and a month. */
const MAX_KNOWN_SUMS = 32
const HOLDS = 'holds'

type Sum = SpendingState['spent'] & { readonly upToId: number }

const NOTHING: Sum = { upToId: 0, tokens: 0, costUsd: 0, unpricedCalls: 0 }

/**
 * The ledger of finished calls, and what is reserved for calls that are being made, so that several processes keep one budget. Rows belong
 * to no session by a foreign key: what was spent stays spent when a session is deleted.
 */
export class UsageStore implements UsageLedger {
  readonly #tables: TableMaker
  readonly #load: () => Promise<Database>
  readonly #clock: Pick<Clock, 'now'>
  readonly #process: string
  readonly #sums = new Map<string, Sum>()
  #isMade = false
  /** Where something was reserved; before, there may be no table. */
  #reservedIn: Database | null = null

  /**
   * Each call of a model is recorded, so that takes no builder: `load` gives it to the rest. `clock` is that of whoever keeps the time for
   * all machines.
   */
  constructor(
    tables: TableMaker,
    load: () => Promise<Database>,
    options: { readonly clock: Pick<Clock, 'now'>; readonly process: string },
  ) {
    this.#tables = tables
    this.#load = load
    this.#clock = options.clock
    this.#process = options.process
  }

  async record(
    records: readonly UsageRecord[],
    { releases = [] }: { readonly releases?: readonly string[] } = {},
  ): Promise<void> {
    const tables = this.#tables
    const isMade = this.#isMade
    const reservedIn = releases.length > 0 ? this.#reservedIn : null
    await tables.write('usage', function* () {
      if (!isMade) yield* tables.make('hermes_usage')
      if (reservedIn) yield* run(reservedIn.builder.deleteFrom('hermes_holds').where('id', 'in', releases))
      for (const record of records) yield insertion(tables.dialect, record)
    })
    this.#isMade = true
  }

  async totals(
    options: UsageFilter & { readonly by?: UsageGroup; readonly timeZone?: string } = {},
  ): Promise<readonly UsageTotal[]> {
    const { by, timeZone = 'UTC', sinceMs, untilMs, sessionId } = options
    const database = await this.#load()
    return database.read(function* () {
      if (!(yield* database.has('hermes_usage'))) return addUp([], { by, timeZone })
      // Tables of older versions have no mark for estimates.
      const isMarked = yield* database.has('hermes_usage', 'estimated')
      let query = totalsOf(database, { by, isMarked })
      if (sinceMs !== undefined) query = query.where('at_ms', '>=', sinceMs)
      if (untilMs !== undefined) query = query.where('at_ms', '<', untilMs)
      if (sessionId !== undefined) query = query.where('session_id', '=', sessionId)
      return addUp(yield* all(query), { by, timeZone })
    })
  }

  async reserve(
    call: UsageReservation,
    { filters, admits }: Parameters<NonNullable<UsageLedger['reserve']>>[1],
  ): Promise<boolean> {
    const database = await this.#load()
    const spent = (filter: SpendingFilter) => this.#spent(database, filter)
    // The long way through what is there already is gone before others are locked out.
    if (database.dialect === 'sqlite' && (await database.read(() => database.has('hermes_usage'))))
      await database.read(function* () {
        for (const filter of filters) yield* spent(filter)
      })
    const row = {
      id: call.id,
      process: this.#process,
      session_id: call.sessionId,
      tokens: call.tokens,
      cost_usd: call.costUsd === 'unknown' ? null : call.costUsd,
      since_ms: this.#clock.now(),
    }
    const forgetEnded = () => this.#forgetEnded(database)
    const isReserved = await database.write(HOLDS, function* () {
      yield* database.make('hermes_usage')
      yield* database.claim('hermes_holds')
      yield* forgetEnded()
      const states: SpendingState[] = []
      for (const filter of filters)
        states.push({ spent: yield* spent(filter), reserved: yield* reserved(database, filter) })
      if (!admits(states)) return false
      yield* run(database.builder.insertInto('hermes_holds').values(row))
      return true
    })
    if (isReserved) this.#reservedIn = database
    return isReserved
  }

  /** Forgets what this process reserved. */
  *releaseAll(): Work<void> {
    if (this.#reservedIn) yield* forget(this.#reservedIn, [this.#process])
  }

  *#forgetEnded(database: Database): Work<void> {
    const { builder, sql } = database
    const age = sql<number>`abs(${this.#clock.now()} - since_ms)`
    yield* run(builder.deleteFrom('hermes_holds').where(age, '>', TTL_MS))
    const holders = builder.selectFrom('hermes_holds').select('process').distinct()
    const others = yield* all(holders.where('process', '<>', this.#process))
    const ended = others.map(({ process }) => process).filter(hasEnded)
    if (ended.length > 0) yield* forget(database, ended)
  }

  /**
   * What finished calls come to. In a file it is added up from where the last sum ended: rows are only ever added, in order of their ids.
   * On a server those of several writers are not committed in that order.
   */
  *#spent({ builder, sql, dialect }: Database, { sinceMs, sessionId }: SpendingFilter): Work<SpendingState['spent']> {
    const key = JSON.stringify([sinceMs ?? null, sessionId ?? null])
    const known = this.#sums.get(key) ?? NOTHING
    let query = builder
      .selectFrom('hermes_usage')
      .select([
        sql<number>`coalesce((SELECT max(id) FROM hermes_usage), 0)`.as('upToId'),
        sql<number>`coalesce(sum(input_tokens + output_tokens), 0)`.as('tokens'),
        ...costs(sql),
      ])
      .where('id', '>', known.upToId)
    if (sinceMs !== undefined) query = query.where('at_ms', '>=', sinceMs)
    if (sessionId !== undefined) query = query.where('session_id', '=', sessionId)
    const { upToId, tokens, costUsd, unpriced } = (yield* first(query))!
    const spent = {
      tokens: known.tokens + tokens,
      costUsd: known.costUsd + costUsd,
      unpricedCalls: known.unpricedCalls + unpriced,
    }
    if (dialect === 'sqlite') this.#remember(key, { ...spent, upToId })
    return spent
  }

  #remember(key: string, sum: Sum): void {
    this.#sums.delete(key)
    this.#sums.set(key, sum)
    const [oldest] = this.#sums.keys()
    if (this.#sums.size > MAX_KNOWN_SUMS && oldest !== undefined) this.#sums.delete(oldest)
  }
}

/** A row for a finished call, built by hand: loading the builder would take longer than a session with a few calls does. */
function insertion(dialect: Database['dialect'], { usage, ...record }: UsageRecord): Statement {
  const row = {
    at_ms: record.atMs,
    session_id: record.sessionId,
    purpose: record.purpose,
    provider: record.provider,
    model: record.model,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
    cost_usd: usage.costUsd === 'unknown' ? null : usage.costUsd,
    price_source: record.priceSource,
    duration_ms: record.durationMs,
    estimated: record.isEstimate === true,
  }
  const columns = Object.keys(row)
  const places = columns.map((_, index) => (dialect === 'sqlite' ? '?' : `$${index + 1}`))
  return {
    sql: `INSERT INTO hermes_usage (${columns.join(', ')}) VALUES (${places.join(', ')})`,
    parameters: Object.values(row),
  }
}

function* forget({ builder }: Database, processes: readonly string[]): Work<void> {
  yield* run(builder.deleteFrom('hermes_holds').where('process', 'in', processes))
}

function* reserved({ builder, sql }: Database, { sessionId }: SpendingFilter): Work<SpendingState['reserved']> {
  const query = builder
    .selectFrom('hermes_holds')
    .select([calls(sql), sql<number>`coalesce(sum(tokens), 0)`.as('tokens'), ...costs(sql)])
  const row = yield* first(sessionId === undefined ? query : query.where('session_id', '=', sessionId))
  return toReserved(row!)
}

const calls = (sql: Sql) => sql<number>`count(*)`.as('calls')
const costs = (sql: Sql) =>
  [
    sql<number>`coalesce(sum(cost_usd), 0)`.as('costUsd'),
    sql<number>`count(*) - count(cost_usd)`.as('unpriced'),
  ] as const

function totalsOf(
  { builder, dialect, sql }: Database,
  { by, isMarked }: { readonly by: UsageGroup | undefined; readonly isMarked: boolean },
) {
  const sum = (column: string) => sql<number>`sum(${sql.ref(column)})`
  const list =
    dialect === 'sqlite' ? sql`json_group_array(DISTINCT price_source)` : sql`json_agg(DISTINCT price_source)::text`
  return builder
    .selectFrom('hermes_usage')
    .select([
      keyOf(by, { dialect, sql }).as('key'),
      calls(sql),
      sum('input_tokens').as('inputTokens'),
      sum('output_tokens').as('outputTokens'),
      sum('cache_read_tokens').as('cacheReadTokens'),
      sum('cache_write_tokens').as('cacheWriteTokens'),
      sum('reasoning_tokens').as('reasoningTokens'),
      ...costs(sql),
      sql<string>`${list}`.as('sources'),
      sql<number>`count(*) FILTER (WHERE ${isMarked ? sql.ref('estimated') : sql`false`})`.as('estimated'),
    ])
    .groupBy(sql`1`)
    .orderBy(sql`1`)
    .$castTo<TotalRow>()
}

function keyOf(
  by: UsageGroup | undefined,
  { dialect, sql }: Pick<Database, 'dialect' | 'sql'>,
): RawBuilder<string | number> {
  switch (by) {
    case undefined:
      return sql`cast('' AS text)`
    case 'day':
      // Only PostgreSQL divides into fractions: a file holds whole numbers.
      return dialect === 'sqlite'
        ? sql`at_ms / ${sql.lit(QUARTER_HOUR_MS)}`
        : sql`floor(at_ms / ${sql.lit(QUARTER_HOUR_MS)})`
    case 'session':
      return sql`coalesce(session_id, '')`
    case 'provider':
    case 'model':
    case 'purpose':
      return sql.ref(by)
    default:
      return by satisfies never
  }
}

/** When a call that nobody ended counts no more. Longer than a call takes; of processes on this machine it is known sooner that they have ended. */
const TTL_MS = 1_800_000

/** Calls that are being made, added up. */
interface ReservedRow {
  readonly calls: number
  readonly tokens: number
  readonly costUsd: number
  /** How many of them have no price. */
  readonly unpriced: number
}

function toReserved({ unpriced, ...sums }: ReservedRow): SpendingState['reserved'] {
  return { ...sums, costUsd: unpriced > 0 ? 'unknown' : sums.costUsd }
}
