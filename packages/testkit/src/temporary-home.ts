import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory of its own for one test. Works with `await using`. */
export interface TemporaryHome extends AsyncDisposable {
  /** Absolute, links resolved. */
  readonly path: string
  /** Removes the directory and all in it; a second call does nothing. */
  remove(): Promise<void>
}

/** Makes an empty directory in the system's place for temporary files. */
export async function temporaryHome(): Promise<TemporaryHome> {
  const path = await mkdtemp(join(await realpath(tmpdir()), 'hermes-test-'))
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 })
  return { path, remove, [Symbol.asyncDispose]: remove }
}
