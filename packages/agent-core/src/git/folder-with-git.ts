import { dirname, join } from 'node:path/posix'
import type { Environment } from '@hermes/contracts/environment'

/** The nearest folder from `cwd` up that a repository lies in. What its settings call its folder may be any, such as one of keys. */
export async function folderWithGit(environment: Environment, cwd: string): Promise<string | null> {
  for (let folder = await environment.realpath(cwd); ; folder = dirname(folder)) {
    if (await environment.stat(join(folder, '.git'))) return folder
    if (folder === '/') return null
  }
}
