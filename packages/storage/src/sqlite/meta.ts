import { HermesError } from '@hermes/contracts'
import type { Connection } from './connection.js'
import { BACKLOG_KEY, INDEXED_KEY, OWN_VERSION_KEY } from './schema-sql.js'

const OWN_KEYS: readonly string[] = [OWN_VERSION_KEY, INDEXED_KEY, BACKLOG_KEY]

/** Inside a transaction. */
export function getMeta(connection: Connection, key: string): string | null {
  const row = connection.statement('SELECT value FROM state_meta WHERE key = ?').get(key)
  return (row as { value: string | null } | undefined)?.value ?? null
}

/** @throws HermesError `store.reserved_key` for the keys of the store itself, whatever the dialect. */
export function requireFreeKey(key: string): void {
  if (OWN_KEYS.includes(key)) {
    throw new HermesError(`The key "${key}" belongs to the store itself; choose another one.`, {
      code: 'store.reserved_key',
      details: { key },
    })
  }
}

/** Inside a transaction. @throws HermesError `store.reserved_key`. */
export function setMeta(connection: Connection, key: string, value: string | null): void {
  requireFreeKey(key)
  if (value === null) connection.statement('DELETE FROM state_meta WHERE key = ?').run(key)
  else connection.statement('INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, ?)').run(key, value)
}
