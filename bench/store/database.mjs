// SQLite itself, for what the store does not tell.
import { createRequire } from 'node:module'

const Database = createRequire(new URL('../../packages/storage/package.json', import.meta.url))('better-sqlite3')

/** @returns {import('better-sqlite3').Database} */
export function openDatabase(path, options) {
  return new Database(path, options)
}
