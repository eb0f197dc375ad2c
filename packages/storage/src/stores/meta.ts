import { HermesError } from '@hermes/contracts'
import type { Database } from '../shared/database.js'
import { all, first, run } from '../shared/database.js'
import type { MetaStore } from '../storage.js'

/** Small facts. */
export class MetaTable implements MetaStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
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

  async swap(key: string, { from, to }: { readonly from: string; readonly to: string }): Promise<boolean> {
    requireFreeKey(key)
    const table = this.#database.builder.updateTable('state_meta').set({ value: to })
    const change = table.where('key', '=', key).where('value', '=', from)
    return (await this.#database.write(`meta ${key}`, () => run(change))) === 1
  }

  async list(prefix: string): Promise<readonly { readonly key: string; readonly value: string }[]> {
    const table = this.#database.builder.selectFrom('state_meta').selectAll().where('value', 'is not', null)
    const query = table.where('key', '>=', prefix).where('key', '<', afterAll(prefix)).orderBy('key')
    return (await this.#database.read(() => all(query))).map(({ key, value }) => ({ key, value: value! }))
  }
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
