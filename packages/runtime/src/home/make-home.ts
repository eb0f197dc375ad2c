import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'

const MODE = 0o700

/**
 * Makes the home and the folders above it, one by one: Node's own recursive way never returns on file systems that refuse new folders
 * with "not found", such as /proc.
 * @throws HermesError `runtime.bad_home` with a line that names the folder.
 */
export async function makeHome(home: string): Promise<void> {
  const missing: string[] = []
  for (let folder = home; !(await exists(folder)); folder = dirname(folder)) {
    missing.unshift(folder)
    if (folder === dirname(folder)) break
  }
  for (const folder of missing) {
    try {
      await mkdir(folder, { mode: MODE })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      throw new HermesError(
        `Cannot make the Hermes home ${home}: ${errorLine(error)}. Set HERMES_HOME to a folder you can write to.`,
        {
          code: 'runtime.bad_home',
          cause: error,
        },
      )
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
