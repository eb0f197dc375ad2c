import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'

/** Where a path of a plugin leads, links followed; `null` for what is not there, or not in the plugin. */
export async function insidePath(root: string, path: string): Promise<string | null> {
  const [folder, real] = await Promise.all([realpath(root), realpath(resolve(root, path)).catch(() => null)])
  return real !== null && isInside(folder, real) ? real : null
}

/** Whether a path is a folder, or below it; both without links. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
