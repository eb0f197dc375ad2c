import { requireFreeKey } from '../../shared/reserved-keys.js'
import type { MetaStore } from '../../storage.js'
import type { Connection } from '../file/connection.js'

/** Small facts on SQLite. */
export class MetaTable implements MetaStore {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get(key: string): Promise<string | null> {
    return this.#connection.read(() => readMeta(this.#connection, key))
  }

  set(key: string, value: string | null): Promise<void> {
    return this.#connection.write(() => {
      requireFreeKey(key)
      if (value === null) this.#connection.statement('DELETE FROM state_meta WHERE key = ?').run(key)
      else this.#connection.statement('INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, ?)').run(key, value)
    })
  }
}

/** Inside a transaction. */
export function readMeta(connection: Connection, key: string): string | null {
  const row = connection.statement('SELECT value FROM state_meta WHERE key = ?').get(key)
  return (row as { value: string | null } | undefined)?.value ?? null
}
