import { HermesError } from '@hermes/contracts'
import type { NewOutboxMessage } from '@hermes/contracts/store'
import type { Database, Work } from '../shared/database.js'
import { all, first, run } from '../shared/database.js'
import type { FactChange, MetaStore } from '../storage.js'
import type { OutboxStore } from './outbox.js'

/** Small facts. */
export class MetaTable implements MetaStore {
  readonly #database: Database
  readonly #outbox: () => Promise<Pick<OutboxStore, 'insert'>>

  constructor(database: Database, outbox: () => Promise<Pick<OutboxStore, 'insert'>>) {
    this.#database = database
    this.#outbox = outbox
  }

  async get(key: string): Promise<string | null> {
    const query = this.#database.builder.selectFrom('state_meta').select('value').where('key', '=', key)
    return (await this.#database.read(() => first(query)))?.value ?? null
  }

  async set(key: string, value: string | null): Promise<void> {
    requireFreeKey(key)
    const { builder } = this.#database
    const insert = builder.insertInto('state_meta').values({ key, value })
    const change =
      value === null
        ? builder.deleteFrom('state_meta').where('key', '=', key)
        : insert.onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    await this.#database.write(`meta ${key}`, () => run(change))
  }

  async swap(
    changes: readonly FactChange[],
    { send = [] }: { readonly send?: readonly NewOutboxMessage[] } = {},
  ): Promise<boolean> {
    for (const { key } of changes) requireFreeKey(key)
    const outbox = send.length > 0 ? await this.#outbox() : null
    // In one order everywhere: two that change the same facts wait for each other, not both for ever.
    const inOrder = [...changes].sort((one, other) => (one.key < other.key ? -1 : 1))
    const exchange = this.#exchange.bind(this)
    try {
      await this.#database.write('meta', function* () {
        for (const change of inOrder) if ((yield* exchange(change)) === 0) throw changedMeanwhile(change.key)
        if (outbox) yield* outbox.insert(send)
      })
      return true
    } catch (error) {
      if (HermesError.isInstance(error) && error.code === 'store.fact_changed') return false
      throw error
    }
  }

  /** How many rows are as wanted: none where the fact is not what it was. */
  *#exchange({ key, was, is }: FactChange): Work<number> {
    const { builder } = this.#database
    if (was === null) {
      const insert = builder.insertInto('state_meta').values({ key, value: is })
      const asNew = insert.onConflict((conflict) =>
        conflict.column('key').doUpdateSet({ value: is }).where('state_meta.value', 'is', null),
      )
      return yield* run(asNew)
    }
    return yield* run(
      builder.updateTable('state_meta').set({ value: is }).where('key', '=', key).where('value', '=', was),
    )
  }

  async list(prefix: string): Promise<readonly { readonly key: string; readonly value: string }[]> {
    const table = this.#database.builder.selectFrom('state_meta').selectAll().where('value', 'is not', null)
    const query = table.where('key', '>=', prefix).where('key', '<', afterAll(prefix)).orderBy('key')
    return (await this.#database.read(() => all(query))).map(({ key, value }) => ({ key, value: value! }))
  }
}

/** Takes back the whole step. */
function changedMeanwhile(key: string): HermesError {
  return new HermesError(`${key} is not what it was any more.`, { code: 'store.fact_changed', details: { key } })
}

/** The text after all that begin with `prefix`. */
function afterAll(prefix: string): string {
  return `${prefix}\u{10ffff}`
}

/** Keys of `state_meta` that begin so are the store's own, whatever the dialect. */
const OWN = 'hermes_'

/** @throws HermesError `store.reserved_key` for the keys of the store itself. */
function requireFreeKey(key: string): void {
  if (!key.startsWith(OWN)) return
  throw new HermesError(`Keys that begin with ${OWN} belong to the store itself; choose another one than "${key}".`, {
    code: 'store.reserved_key',
    details: { key },
  })
}
