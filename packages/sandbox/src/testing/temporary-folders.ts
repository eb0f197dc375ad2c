import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Makes empty folders by their real paths, all removed after the last test of the suite it is called in, with `PATH-output` beside each. */
export function temporaryFolders(prefix: string): () => Promise<string> {
  const made: string[] = []
  afterAll(async () => {
    for (const path of made.flatMap((folder) => [folder, `${folder}-output`])) {
      await rm(path, { recursive: true, force: true })
    }
  })
  return async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), prefix)))
    made.push(folder)
    return folder
  }
}
