import { requireFreeKey } from '../../shared/reserved-keys.js'
import type { Connection } from '../file/connection.js'

/** Inside a transaction. */
export function getMeta(connection: Connection, key: string): string | null {
  const row = connection.statement('SELECT value FROM state_meta WHERE key = ?').get(key)
  return (row as { value: string | null } | undefined)?.value ?? null
}

/** Inside a transaction. @throws HermesError `store.reserved_key`. */
export function setMeta(connection: Connection, key: string, value: string | null): void {
  requireFreeKey(key)
  if (value === null) connection.statement('DELETE FROM state_meta WHERE key = ?').run(key)
  else connection.statement('INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, ?)').run(key, value)
}
