import { requireFreeKey } from '../../shared/reserved-keys.js'
import type { MetaStore } from '../../storage.js'
import type { Connection } from '../server/connection.js'

const GET = 'SELECT value FROM state_meta WHERE key = $1'
const SET = 'INSERT INTO state_meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value'

/** Small facts on PostgreSQL. */
export class MetaTable implements MetaStore {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get(key: string): Promise<string | null> {
    return this.#connection.read(
      async (statements) => (await statements.first<{ value: string | null }>(GET, key))?.value ?? null,
    )
  }

  async set(key: string, value: string | null): Promise<void> {
    requireFreeKey(key)
    await this.#connection.writeOne(`meta ${key}`, (statements) =>
      value === null ? statements.run('DELETE FROM state_meta WHERE key = $1', key) : statements.run(SET, key, value),
    )
  }
}
