import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openStorage, type Storage, type SqliteOptions } from '../index.js'

/** A path in a folder of its own that goes with the test. */
export function temporaryPath(name = 'state.db'): string {
  const folder = mkdtempSync(join(tmpdir(), 'hermes-storage-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return join(folder, name)
}

/** An open store that is closed with the test. */
export async function temporaryStore(options: Partial<SqliteOptions> = {}): Promise<Storage> {
  const store = await openStorage({ path: temporaryPath(), ...options })
  onTestFinished(() => store.close())
  return store
}
