import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Whether `path` is `folder` or lies in it; both absolute, without links. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

/** `path` with its links followed; `null` when there is nothing. */
export function realIfThere(path: string): string | null {
  try {
    // The other one looks at each part of the path by itself, and a home has dozens of entries.
    return realpathSync.native(path)
  } catch {
    return null
  }
}

/** `path` with the links of what exists of it followed. */
export function realOfExisting(path: string): string {
  const real = realIfThere(path)
  if (real !== null || dirname(path) === path) return real ?? path
  return join(realOfExisting(dirname(path)), basename(path))
}
