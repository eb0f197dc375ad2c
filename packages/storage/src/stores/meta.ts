import { type Database, first, run } from '../shared/database.js'
import { requireFreeKey } from '../shared/reserved-keys.js'
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
}
