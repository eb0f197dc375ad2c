import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isWithin, realIfThere } from './paths.js'

/** A file of git that names a folder is one line. */
const MAX_BYTES = 8_192

/** What git needs to write for one working tree. */
interface GitFolders {
  /** The working tree around the directory, if there is one. */
  readonly tree: string | null
  /** The folders of its repository; those within the tree may be missing. */
  readonly folders: readonly string[]
}

const NONE: GitFolders = { tree: null, folders: [] }

/**
 * The working tree around `cwd` and the folders that git writes to for it; `cwd` and `home` without links. A tree around the home
 * directory does not count.
 *
 * Content of a workspace names folders here, so that each has to agree: a `.git` file counts only when it leads to a `worktrees/N` or
 * `modules/N` that names this very tree as its own and has the same owner. Nothing counts that `isOffLimits`, nor what a program held to
 * `writable` could have prepared to reach further.
 */
export function gitFolders(
  cwd: string,
  bounds: {
    readonly home: string
    /** Where programs may write already. */
    readonly writable: readonly string[]
    /** Whether a folder is, holds or lies in a hidden place, or holds the home directory. */
    readonly isOffLimits: (folder: string) => boolean
  },
): GitFolders {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, '.git')
    const found = statIfThere(path)
    if (found !== null) {
      if (!isTrusted(found, folder)) return NONE
      const tree = isWithin(bounds.home, folder) ? null : folder
      if (found.isDirectory()) return { tree, folders: [path] }
      const named = found.isFile() ? linkedFolders(folder, readShort(path), bounds) : []
      return { tree, folders: named }
    }
    if (dirname(folder) === folder) return NONE
  }
}

/** Somebody else's `.git` above a folder says nothing about it. */
function isTrusted(found: BigIntStats, folder: string): boolean {
  return found.uid === BigInt(process.getuid?.() ?? -1) || found.uid === statIfThere(folder)?.uid
}

/** The folders that the `.git` file of `tree`, whose text is `text`, leads to. */
function linkedFolders(tree: string, text: string, bounds: Parameters<typeof gitFolders>[1]): readonly string[] {
  const named = /^gitdir: (.+?)\r?\n?$/.exec(text)?.[1]
  const own = named === undefined ? null : realIfThere(resolve(tree, named))
  if (own === null || !statIfThere(own)?.isDirectory()) return []
  const around = dirname(dirname(own))
  if (bounds.isOffLimits(own) || bounds.isOffLimits(around)) return []
  if (statIfThere(own)?.uid !== statIfThere(tree)?.uid) return []
  const isPrepared = (path: string) => [tree, ...bounds.writable].some((folder) => isWithin(path, folder))
  if (basename(dirname(own)) === 'worktrees') {
    if (!isNamedBack(resolve(own, firstLine(join(own, 'gitdir'))), join(tree, '.git'))) return []
    if (!isRepository(around) || (isPrepared(own) && !isPrepared(around))) return []
    // A linked working tree keeps its own state in a folder of the repository, and everything else beside that.
    return [own, around]
  }
  const isModule = own.split('/').slice(0, -1).includes('modules') && isRepository(own)
  return isModule && worktreesOf(own).some((path) => isNamedBack(resolve(own, path), tree)) ? [own] : []
}

/** Whether `path` leads to `expected`, a path without links: the same one, not one that looks like it. */
function isNamedBack(path: string, expected: string): boolean {
  const [real, there] = [realIfThere(dirname(path)), statIfThere(path)]
  const here = statIfThere(expected)
  if (real === null || there === null || here === null) return false
  return join(real, basename(path)) === expected && there.dev === here.dev && there.ino === here.ino
}

function isRepository(folder: string): boolean {
  return (
    statIfThere(join(folder, 'HEAD'))?.isFile() === true &&
    ['objects', 'refs'].every((name) => statIfThere(join(folder, name))?.isDirectory())
  )
}

/** What `core.worktree` says in the configuration of a repository. */
function worktreesOf(repository: string): readonly string[] {
  return ['config', 'config.worktree'].flatMap((name) => {
    let section = ''
    return readShort(join(repository, name))
      .split('\n')
      .flatMap((line) => {
        section = /^\s*\[\s*([\w.-]+)\s*\]/.exec(line)?.[1]?.toLowerCase() ?? (/^\s*\[/.test(line) ? '' : section)
        const value = section === 'core' ? /^\s*worktree\s*=\s*(.*?)\s*$/i.exec(line)?.[1] : undefined
        return value === undefined ? [] : [value.replace(/^"(.*)"$/, '$1')]
      })
  })
}

function firstLine(path: string): string {
  return readShort(path).split('\n')[0]!.replace(/\r$/, '')
}

/** The text of a small regular file; empty for everything else. What lies there may be a pipe that nobody writes to. */
function readShort(path: string): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size } = fstatSync(file)
      return fstatSync(file).isFile() && size <= MAX_BYTES ? readFileSync(file, 'utf8') : ''
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

function statIfThere(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true })
  } catch {
    return null
  }
}
