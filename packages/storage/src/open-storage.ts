import type { Storage, StorageOptions } from './storage.js'

/**
 * Opens the SQLite store at `path`, making or upgrading it where needed. The database engine is loaded here, not on import.
 * A file of an older schema is copied to `PATH.vN.bak` before it is upgraded.
 * @throws HermesError `store.corrupt`, `store.foreign`, `store.newer_schema` (the file is left as it was), `store.unwritable`,
 * `store.disk_full`, `store.busy`.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { openSqliteStorage } = await import('./sqlite/sqlite-storage.js')
  return openSqliteStorage(options)
}
