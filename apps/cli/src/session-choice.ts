import { realpathSync } from 'node:fs'
import type { workspaceRoot } from '@hermes/checkpoints'
import { describeSessions, findSession } from '@hermes/commands'
import type { SessionInfo } from '@hermes/contracts/store'
import type { Storage } from '@hermes/storage'
import { UsageError } from './errors.js'
import type { Io } from './io.js'
import { homeOf } from './open-cli.js'

/** The session that `-r` or `-c` means; `null` when neither was given, and where one may be made that is not there. */
export async function chooseSession(
  io: Pick<Io, 'cwd' | 'userHome' | 'env'>,
  storage: Storage,
  options: {
    readonly resume?: string
    readonly continue?: boolean
    readonly any?: boolean
    readonly createIfMissing?: boolean
  },
): Promise<SessionInfo | null> {
  if (options.resume !== undefined) {
    if (options.createIfMissing && (await isMissing(storage, options.resume))) return null
    return findSession(storage, options.resume)
  }
  if (options.createIfMissing) throw new UsageError('--create-if-missing goes with -r TITLE.')
  if (!options.continue) {
    if (options.any) throw new UsageError('--any goes with -c: the newest session of any folder.')
    return null
  }
  const { sessions } = storage
  // What is archived comes back when somebody goes on with it.
  const latest =
    (await sessions.latest({ person: null })) ?? (await sessions.latest({ person: null, includeArchived: true }))
  if (!latest) throw new UsageError('There is no session to continue yet. Start one with: hermes')
  if (options.any) return latest
  const here = await latestOfProject(io, storage)
  if (here) return here
  const newest = `The newest is ${describeSessions([latest])}${latest.cwd === null ? '' : ` in ${latest.cwd}`}`
  throw new UsageError(`There is no session of this folder to continue. ${newest}: hermes -c --any goes on with it.`)
}

async function isMissing({ sessions }: Storage, title: string): Promise<boolean> {
  if (title.trim() === '' || title === 'latest') return false
  return (await sessions.resolve(title)).type === 'none'
}

/** The newest session that began in the project of this folder, its other folders included. */
async function latestOfProject(
  io: Pick<Io, 'cwd' | 'userHome' | 'env'>,
  storage: Storage,
): Promise<SessionInfo | null> {
  const project = projectFinder(io, (await import('@hermes/checkpoints')).workspaceRoot)
  const own = project(io.cwd)
  for (const includeArchived of [false, true]) {
    const folders = await storage.sessions.folders({ includeArchived })
    const folder = folders.find((candidate) => project(candidate) === own)
    if (folder !== undefined) return storage.sessions.latest({ cwd: folder, person: null, includeArchived })
  }
  return null
}

/** What project a folder belongs to; one that is no workspace stands for itself. */
function projectFinder(
  { userHome, env }: Pick<Io, 'userHome' | 'env'>,
  rootOf: typeof workspaceRoot,
): (folder: string) => string {
  const home = homeOf({ userHome, env })
  const known = new Map<string, string>()
  return (folder) => {
    const project = known.get(folder) ?? rootOf(folder, { userHome, home }) ?? realPath(folder)
    known.set(folder, project)
    return project
  }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
