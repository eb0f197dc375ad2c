import { accessSync, constants } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'

/** Where `name` is installed on this machine, by `PATH` and the folder of daemons next to each folder of it; `null` when nowhere. */
export function findProgram(name: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))
  const daemons = folders.filter((folder) => folder.endsWith('/bin')).map((folder) => folder.replace(/bin$/, 'sbin'))
  return [...folders, ...daemons].map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A line that names those of `names` that are not installed; `null` when all are. */
export function missingPrograms(...names: readonly string[]): string | null {
  const missing = names.filter((name) => findProgram(name) === null)
  return missing.length === 0 ? null : `not installed: ${missing.join(', ')}`
}

/** A loopback port that nobody uses now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('No port is free.')
  return address.port
}
