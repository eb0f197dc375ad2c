import { posix } from 'node:path'
import type { ToolContext } from '@hermes/contracts/tool'

/** More files than this are ordered by name: asking for the age of each would take too long. */
const MAX_DATED = 5000
const AT_ONCE = 32

/** Orders files by time of change, newest first, then by name. */
export async function byNewest(
  paths: readonly string[],
  root: string,
  { environment, signal }: ToolContext,
): Promise<readonly string[]> {
  const named = [...paths].sort()
  if (named.length > MAX_DATED) return named
  const dated: { readonly path: string; readonly modifiedMs: number }[] = []
  for (let start = 0; start < named.length; start += AT_ONCE) {
    signal.throwIfAborted()
    const batch = named.slice(start, start + AT_ONCE).map(async (path) => {
      const stat = await environment.stat(posix.join(root, path))
      return { path, modifiedMs: stat?.modifiedMs ?? 0 }
    })
    dated.push(...(await Promise.all(batch)))
  }
  return dated.sort((a, b) => b.modifiedMs - a.modifiedMs).map(({ path }) => path)
}
