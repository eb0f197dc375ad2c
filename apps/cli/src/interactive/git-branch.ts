import { lstatSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'

const MAX_BYTES = 4_096

/** The branch that is checked out around a folder of this machine, or the beginning of a commit; `null` where there is no repository. Never throws. */
export function gitBranch(folder: string): string | null {
  if (!isAbsolute(folder)) return null
  try {
    for (let directory = folder; ; directory = dirname(directory)) {
      const stat = lstatSync(join(directory, '.git'), { throwIfNoEntry: false })
      if (stat) return branchOf(stat.isFile() ? linked(directory) : join(directory, '.git'))
      if (directory === dirname(directory)) return null
    }
  } catch {
    return null
  }
}

/** Worktrees and submodules keep theirs elsewhere. */
function linked(directory: string): string {
  const [, path = ''] = /^gitdir: (.*)/.exec(small(join(directory, '.git'))) ?? []
  return resolve(directory, path.trim())
}

function branchOf(gitFolder: string): string | null {
  const head = small(join(gitFolder, 'HEAD')).trim()
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(head) ?? []
  return branch ?? (/^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 8) : null)
}

/** A plain file of a line or two; what is none is not waited for. */
function small(path: string): string {
  const stat = lstatSync(path)
  return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(path, 'utf8') : ''
}
