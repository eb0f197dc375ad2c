import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, parse } from 'node:path'

/** What is never a workspace. */
interface WorkspaceRootOptions {
  /** The person's home folder, absolute: too much, and not a project. */
  readonly userHome: string
  /** The Hermes home, absolute: it keeps itself. */
  readonly home: string
}

/** A folder that holds one of these is the top of a project. */
const MARKERS = ['.git', '.hg', '.svn', '.jj']

/**
 * The folder of which a checkpoint is taken before something in `folder` is changed: the project it is in, else the folder itself, links
 * followed. `null` for what is no workspace: `/`, folders right below it, the person's home and above, the Hermes home, and what is
 * not there.
 */
export function workspaceRoot(folder: string, { userHome, home }: WorkspaceRootOptions): string | null {
  const start = realFolder(folder)
  if (start === null) return null
  const [people, hermes] = [realPrefix(userHome), realPrefix(home)]
  const isRefused = (path: string) =>
    dirname(path) === parse(path).root || path === parse(path).root || isWithin(people, path) || isWithin(path, hermes)
  if (isRefused(start)) return null
  for (let path = start; !isRefused(path); path = dirname(path)) {
    if (MARKERS.some((marker) => lstatSync(`${path}/${marker}`, { throwIfNoEntry: false }))) return path
  }
  return start
}

/** The nearest folder of `path` that is there, itself included, links followed. */
function realFolder(path: string): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      const real = realpathSync(folder)
      return statSync(real).isDirectory() ? real : dirname(real)
    } catch {
      if (dirname(folder) === folder) return null
    }
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** The path with links followed as far as it is there. */
export function realPrefix(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : `${realPrefix(dirname(path))}/${path.slice(path.lastIndexOf('/') + 1)}`
  }
}
