import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import { changesLifecycle, surfaceOf } from '@hermes/safety'
import type { Checkpoints } from '../checkpoints.js'
import { insideRoot } from '../restore/restore-workspace.js'

/**
 * Asks, file by file, about what a restore would write of what runs or instructs later: an old `AGENTS.md` instructs as a new one does. Gives
 * the paths that are to be left as they are, from the root of the workspace, with why.
 */
export async function unpermitted(
  checkpoints: Checkpoints,
  root: string,
  requested: { readonly wanted: string; readonly paths: readonly string[] },
  context: ToolContext,
): Promise<ReadonlyMap<string, string>> {
  const wanted = requested.paths.map((path) => insideRoot(root, path))
  const isWanted = (path: string) =>
    wanted.length === 0 || wanted.some((one) => path === one || path.startsWith(`${one}/`))
  const left = new Map<string, string>()
  // What came since is removed, and instructs nobody then.
  const changes = await checkpoints.changes(root, requested.wanted, { signal: context.signal })
  for (const { path } of changes.filter(({ path, change }) => change !== 'added' && isWanted(path))) {
    // Names of folders above the workspace do not count, its own does.
    const isPlatform = surfaceOf(join(basename(root), path)) !== null
    const runsLater =
      !isPlatform &&
      basename(path) === 'package.json' &&
      (await changesScripts(checkpoints, root, requested.wanted, path))
    if (!isPlatform && !runsLater) continue
    const action = { type: 'write', path: join(root, path), operation: 'write', backend: 'local' } as const
    try {
      await context.permit(runsLater ? { ...action, runsLater } : action)
    } catch (error) {
      if (!HermesError.isInstance(error) || error.code !== 'policy.denied') throw error
      left.set(path, 'it runs or instructs later, and writing it is not permitted')
    }
  }
  return left
}

async function changesScripts(checkpoints: Checkpoints, root: string, wanted: string, path: string): Promise<boolean> {
  const then = await checkpoints.read(root, wanted, path)
  const now = await readFile(join(root, path), 'utf8').catch(() => '')
  return then !== null && changesLifecycle(now, Buffer.from(then).toString('utf8'))
}
