import type { Connection } from '../file/connection.js'

/** A small fact of the file, inside a transaction; `null` when there is none. */
export function readMeta(connection: Connection, key: string): string | null {
  const row = connection.statement('SELECT value FROM state_meta WHERE key = ?').get(key)
  return (row as { value: string | null } | undefined)?.value ?? null
}
