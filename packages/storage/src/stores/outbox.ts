// What the outbox means, wherever it is kept.

import type { Clock, JsonObject } from '@hermes/contracts'
import { HermesError } from '@hermes/contracts'
import type { NewOutboxMessage } from '@hermes/contracts/store'
import type { Outbox, OutboxMessage, OutboxOutcome } from '../outbox.js'
import type { Database, Work } from '../shared/database.js'
import { all, run } from '../shared/database.js'
import { hasEnded } from '../shared/process-identity.js'
import type { Tables } from '../shared/tables.js'

const KEY = 'outbox'
const NO_HOLDER = { holder: null, held_until_ms: null }
const DEFAULT_LEASE_MS = 60_000
const DEFAULT_LIMIT = 20
const MAX_ERROR_CHARS = 2_000

type Row = Omit<Tables['hermes_outbox'], 'id'> & { readonly id: number }

/** The outbox. */
export class OutboxStore implements Outbox {
  readonly #database: Database
  readonly #clock: Clock
  readonly #leaseClock: Pick<Clock, 'now'>
  readonly #process: string

  /** `leaseClock` tells how long a message is held: that of the server, as machines tell the time differently. Default: `clock`. */
  constructor(
    database: Database,
    options: { readonly clock: Clock; readonly leaseClock?: Pick<Clock, 'now'>; readonly process: string },
  ) {
    this.#database = database
    this.#clock = options.clock
    this.#leaseClock = options.leaseClock ?? options.clock
    this.#process = options.process
  }

  add(messages: readonly NewOutboxMessage[]): Promise<number> {
    return this.#database.write(KEY, () => this.insert(messages))
  }

  /** Inside a write: how many of the keys were new. */
  *insert(messages: readonly NewOutboxMessage[]): Work<number> {
    const database = this.#database
    yield* database.make('hermes_outbox')
    let added = 0
    for (const { key, platform, target, body } of messages) {
      const nowMs = this.#clock.now()
      const row = { key, platform, target, body: JSON.stringify(body), status: 'waiting', uncertain: false } as const
      const counts = { attempt: 0, parts_sent: 0, platform_ids: '[]', due_ms: nowMs, created_ms: nowMs, over_ms: null }
      const insert = database.builder
        .insertInto('hermes_outbox')
        .values({ ...row, ...counts, error: null, ...NO_HOLDER })
      added += yield* run(insert.onConflict((conflict) => conflict.column('key').doNothing()))
    }
    return added
  }

  async take({ platform, leaseMs = DEFAULT_LEASE_MS }: { readonly platform: string; readonly leaseMs?: number }) {
    const database = this.#database
    const heads = () => this.#heads(platform)
    // One that was never tried is due at once, also where the clock was set back since it was written.
    const isDue = (row: Row) =>
      (row.attempt === 0 || row.due_ms <= this.#clock.now()) && this.#isFree(row, this.#leaseClock.now())
    // Most looks find nothing, and a look holds up no writer.
    if (!(await database.read(heads)).some(isDue)) return null
    const [process, untilMs] = [this.#process, this.#leaseClock.now() + leaseMs]
    return database.write(KEY, function* () {
      yield* database.claim('hermes_outbox')
      const row = (yield* heads()).filter(isDue).sort((one, other) => one.due_ms - other.due_ms || one.id - other.id)[0]
      if (row === undefined) return null
      const held = { status: 'sending', attempt: row.attempt + 1, holder: process, held_until_ms: untilMs } as const
      yield* run(database.builder.updateTable('hermes_outbox').set(held).where('id', '=', row.id))
      return toMessage({ ...row, ...held })
    })
  }

  offering(message: OutboxMessage): Promise<void> {
    return this.#database.write(KEY, () => this.#change(message, { uncertain: true }))
  }

  async accepted(
    message: OutboxMessage,
    { platformId, leaseMs = DEFAULT_LEASE_MS }: { readonly platformId: string; readonly leaseMs?: number },
  ): Promise<OutboxMessage> {
    const sentParts = message.sentParts + 1
    const platformIds = [...message.platformIds, platformId]
    const columns = { parts_sent: sentParts, platform_ids: JSON.stringify(platformIds), uncertain: false }
    const held = { held_until_ms: this.#leaseClock.now() + leaseMs }
    await this.#database.write(KEY, () => this.#change(message, { ...columns, ...held }))
    return { ...message, sentParts, platformIds, mayBeSent: false }
  }

  settle(message: OutboxMessage, outcome: OutboxOutcome): Promise<void> {
    return this.#database.write(KEY, () => this.#change(message, { ...NO_HOLDER, ...this.#after(message, outcome) }))
  }

  #after(message: OutboxMessage, outcome: OutboxOutcome): Partial<Row> {
    const error = outcome.type === 'sent' ? message.error : outcome.error.slice(0, MAX_ERROR_CHARS).toWellFormed()
    switch (outcome.type) {
      case 'sent':
      case 'failed':
        return { status: outcome.type, error, over_ms: this.#clock.now() }
      case 'retry':
        // What was not known of an attempt before this one is not known now either.
        return {
          status: message.mayBeSent ? 'perhaps' : 'waiting',
          uncertain: message.mayBeSent,
          error,
          due_ms: outcome.dueAtMs,
        }
      case 'perhaps':
        return { status: 'perhaps', uncertain: true, error, due_ms: outcome.dueAtMs }
      default:
        return outcome satisfies never
    }
  }

  async nextDue(platform: string): Promise<number | null> {
    const rows = await this.#database.read(() => this.#heads(platform))
    const nowMs = this.#leaseClock.now()
    const dues = rows.map((row) => (this.#isFree(row, nowMs) ? row.due_ms : (row.held_until_ms ?? row.due_ms)))
    return dues.length === 0 ? null : Math.min(...dues)
  }

  list({ platform, target, state, limit = DEFAULT_LIMIT }: Parameters<Outbox['list']>[0] = {}) {
    const database = this.#database
    let query = database.builder.selectFrom('hermes_outbox').selectAll().orderBy('id', 'desc').limit(limit)
    if (platform !== undefined) query = query.where('platform', '=', platform)
    if (target !== undefined) query = query.where('target', '=', target)
    if (state !== undefined) query = query.where('status', '=', state)
    return database.read(function* () {
      return (yield* database.has('hermes_outbox')) ? (yield* all(query)).map(toMessage) : []
    })
  }

  prune(beforeMs: number): Promise<number> {
    const database = this.#database
    const over = database.builder.deleteFrom('hermes_outbox').where('over_ms', '<', beforeMs)
    return database.write(KEY, function* () {
      return (yield* database.has('hermes_outbox')) ? yield* run(over) : 0
    })
  }

  /** The oldest of each target that is not over. */
  *#heads(platform: string): Work<readonly Row[]> {
    const { builder, sql } = this.#database
    if (!(yield* this.#database.has('hermes_outbox'))) return []
    // In the words of the index, which leaves out what is over: with parameters SQLite looks through all that was sent in a week.
    const isOpen = sql<boolean>`status IN ('waiting', 'sending', 'perhaps')`
    const open = builder.selectFrom('hermes_outbox').where(isOpen).where('platform', '=', platform)
    const heads = open.select(({ fn }) => fn.min('id').as('id')).groupBy('target')
    return yield* all(builder.selectFrom('hermes_outbox').selectAll().where('id', 'in', heads))
  }

  /** What this process holds needs no look at whether its holder still runs. */
  #isFree({ status, holder, held_until_ms }: Row, nowMs: number): boolean {
    if (status !== 'sending' || (held_until_ms ?? 0) <= nowMs) return true
    return holder !== null && holder !== this.#process && hasEnded(holder)
  }

  /** @throws HermesError `store.outbox_lost` */
  *#change(message: OutboxMessage, columns: Partial<Row>): Work<void> {
    const update = this.#database.builder.updateTable('hermes_outbox').set(columns).where('id', '=', message.id)
    const mine = update.where('attempt', '=', message.attempt).where('status', '=', 'sending')
    if ((yield* run(mine)) === 0) throw outboxLost(message)
  }
}

function toMessage(row: Row): OutboxMessage {
  return {
    id: row.id,
    key: row.key,
    platform: row.platform,
    target: row.target,
    body: JSON.parse(row.body) as JsonObject,
    state: row.status,
    mayBeSent: Boolean(row.uncertain),
    attempt: row.attempt,
    sentParts: row.parts_sent,
    platformIds: JSON.parse(row.platform_ids) as readonly string[],
    dueAtMs: row.due_ms,
    createdAtMs: row.created_ms,
    error: row.error,
  }
}

function outboxLost({ id, target }: OutboxMessage): HermesError {
  return new HermesError(`Message ${id} to ${target} is not in these hands any more: it went to another process.`, {
    code: 'store.outbox_lost',
    details: { id, target },
  })
}
