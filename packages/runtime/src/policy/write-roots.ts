import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Variables } from '@hermes/config'

/**
 * The folders of `HERMES_WRITE_SAFE_ROOT`, a list with colons between: no tool writes a file outside of them. Each as it is written and,
 * as paths are judged with their links followed too, as it is. None where the variable says nothing.
 */
export async function writeRootsOf(
  variables: Variables,
  { userHome, cwd }: { readonly userHome: string; readonly cwd: string },
): Promise<readonly string[]> {
  const named = (variables['HERMES_WRITE_SAFE_ROOT'] ?? '').split(':').map((root) => root.trim())
  const roots = named.filter((root) => root !== '').map((root) => resolve(cwd, root.replace(/^~(?=\/|$)/, userHome)))
  const real = await Promise.all(roots.map((root) => realpath(root).catch(() => root)))
  return [...new Set([...roots, ...real])]
}
