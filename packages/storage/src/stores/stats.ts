import { all, type Database, first, type Work } from '../shared/database.js'
import type { StoreStats } from '../storage.js'
import { activity } from './activity.js'

/** Counts. */
export function* readStats(database: Database): Work<Omit<StoreStats, 'bytes' | 'freeBytes'>> {
  const { builder, dialect, sql } = database
  const count = sql<number>`count(*)`
  const sum = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)`
  const name = (column: string) => (dialect === 'sqlite' ? sql.ref(column) : sql`${sql.ref(column)} COLLATE "C"`)
  const totals = yield* first(
    builder
      .selectFrom(activity(database))
      .select([
        count.as('sessions'),
        sum('messages').as('messages'),
        sql<number | null>`min(started_ms)`.as('oldestMs'),
        sql<number | null>`max(last_active_ms)`.as('newestMs'),
      ]),
  )
  const bySource = yield* all(
    builder
      .selectFrom('sessions')
      .select(['source', count.as('sessions'), sum('message_count').as('messages')])
      .groupBy('source')
      .orderBy('sessions', 'desc')
      .orderBy(name('source')),
  )
  const byModel = yield* all(
    builder
      .selectFrom('sessions')
      .select([
        sql<string>`model`.as('model'),
        count.as('sessions'),
        sum('input_tokens').as('inputTokens'),
        sum('output_tokens').as('outputTokens'),
        sum('estimated_cost_usd').as('costUsd'),
      ])
      .where('model', 'is not', null)
      .groupBy('model')
      .orderBy('costUsd', 'desc')
      .orderBy('sessions', 'desc')
      .orderBy(name('model')),
  )
  const { oldestMs } = totals!
  return { ...totals!, oldestMs: oldestMs === null ? null : Math.round(oldestMs), bySource, byModel }
}
