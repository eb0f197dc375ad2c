import { requireFreeKey } from '../../shared/reserved-keys.js'
import type { Statements } from '../server/statements.js'

const GET = 'SELECT value FROM state_meta WHERE key = $1'
const SET = 'INSERT INTO state_meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value'

/** `null` when there is none. */
export async function getMeta(statements: Statements, key: string): Promise<string | null> {
  return (await statements.first<{ value: string | null }>(GET, key))?.value ?? null
}

/** @throws HermesError `store.reserved_key`. */
export async function setMeta(statements: Statements, key: string, value: string | null): Promise<void> {
  requireFreeKey(key)
  if (value === null) await statements.run('DELETE FROM state_meta WHERE key = $1', key)
  else await statements.run(SET, key, value)
}
