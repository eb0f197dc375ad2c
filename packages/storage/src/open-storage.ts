import type { Storage, StorageOptions } from './storage.js'

/**
 * Opens the SQLite store at `path`, or the PostgreSQL one at `url`, making or upgrading it where needed. The database engine is loaded
 * here, not on import. A file of an older schema is copied to `PATH.vN.bak` before it is upgraded.
 * @throws HermesError `store.corrupt`, `store.foreign`, `store.newer_schema` (what is there is left as it was), `store.unwritable`,
 * `store.disk_full`, `store.busy`, `store.in_use` (no file locks, and another process has it open); of a url also `store.bad_url`, `store.unreachable`, `store.refused`, `store.no_database`,
 * `store.missing_extension`, `store.old_server`, `store.bad_encoding`.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  if ('url' in options) {
    const { openPostgresStorage } = await import('./postgres/postgres-storage.js')
    return openPostgresStorage(options)
  }
  const { openSqliteStorage } = await import('./sqlite/sqlite-storage.js')
  return openSqliteStorage(options)
}
