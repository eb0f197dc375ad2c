import { type Dirent, readdirSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import {
  CREDENTIAL_PLACES,
  HARMLESS_PLACES,
  homePlaceOf,
  isCredentialName,
  isPrivateName,
  vouchedFor,
} from '@hermes/safety/credentials'
import { beginsLikeKeys } from './begins-like-keys.js'
import type { DeepKeys } from './deep-keys.js'

/** What of a home directory is out of sight, and what in there is not; absolute, links followed. */
export interface HiddenHome {
  /** Named places of credentials: hidden whoever works there. */
  readonly named: readonly string[]
  /** Hidden because nothing vouches for it. */
  readonly unknown: readonly string[]
  /** Harmless, in a folder of `unknown`. */
  readonly shown: readonly string[]
}

/** Of the system: a link to it in a home directory says nothing about it. */
const SYSTEM = /^\/(?:usr|bin|sbin|lib\w*|etc|nix|gnu|opt|proc|sys|dev|run|tmp|var|snap|System|Applications)(?:\/|$)/

/**
 * Looks at the names in the home directory, some milliseconds. `path` is the `PATH` the environment was opened with, never one that a command
 * has set; `roots` are the folders that are worked in.
 */
export function hiddenHome({
  home,
  path,
  roots,
  deep,
}: {
  readonly home: string
  readonly path: string
  readonly roots: readonly string[]
  /** Looks through harmless folders for files of keys further down. */
  readonly deep: DeepKeys
}): HiddenHome {
  const isMacOs = home.startsWith('/Users/')
  const programs = programFolders(home, path)
  const isNeeded = (real: string) => SYSTEM.test(real) || [home, ...roots].some((root) => isIn(root, real))
  const unknown: string[] = []
  const harmless: string[] = []
  const shown: string[] = []
  for (const entry of entriesOf(home)) {
    const real = realOf(join(home, entry.name))
    if (real === null) continue
    if (!isPrivateName(entry.name, isMacOs)) {
      if (entry.isFile() && isCredentialName(entry.name) && !roots.some((root) => isIn(real, root))) unknown.push(real)
      continue
    }
    if (vouchedFor(entry.name) === 'harmless') {
      unknown.push(...keysIn(real, programs))
      harmless.push(real)
      continue
    }
    if (entry.isSymbolicLink() && (isNeeded(real) || roots.some((root) => isIn(real, root)))) continue
    unknown.push(real)
    for (const one of HARMLESS_PLACES) if (one.startsWith(`${entry.name}/`)) shown.push(...shownOf(join(home, one)))
  }
  for (const folder of shown) unknown.push(...keysIn(folder, programs))
  const isProgram = (folder: string) => programs.some((one) => isIn(one, folder) || isIn(folder, one))
  unknown.push(...deep.find([...harmless, ...shown].filter((folder) => !isProgram(folder))))
  shown.push(...programs.filter((folder) => unknown.some((one) => isIn(folder, one))))
  return { named: namedPlaces(home), unknown, shown: [...new Set(shown)] }
}

function namedPlaces(home: string): string[] {
  // To find that a path is not there takes far longer than to know that the folder it begins with is not.
  const names = new Set(entriesOf(home).map(({ name }) => name.toLowerCase()))
  return CREDENTIAL_PLACES.flatMap(({ path, when }) => {
    if (!names.has(path.split('/', 1)[0]!.toLowerCase())) return []
    const real = realOf(join(home, path))
    return real === null || (when === 'holds-keys' && !beginsLikeKeys(real)) ? [] : [real]
  })
}

function shownOf(path: string): string[] {
  const real = realOf(path)
  return real === null ? [] : [real]
}

/** Files of keys directly in a folder that is harmless otherwise. */
function keysIn(folder: string, programs: readonly string[]): string[] {
  if (programs.includes(folder) || /\/bin$/.test(folder)) return []
  return entriesOf(folder).flatMap((entry) =>
    entry.isFile() && isCredentialName(entry.name) ? [join(folder, entry.name)] : [],
  )
}

/** The folders of `PATH` in the home directory, each with the toolchain around it: `~/.tool` for `~/.tool/bin`. */
function programFolders(home: string, path: string): string[] {
  const folders = path.split(':').flatMap((folder) => {
    const real = folder.startsWith('/') ? realOf(folder) : null
    if (real === null || !isIn(real, home) || real === home) return []
    const around = real.replace(/\/(?:s?bin|shims|scripts)$/, '')
    return around === real ? [real] : [real, around]
  })
  return [...new Set(folders)].filter((folder) => {
    const inHome = relative(home, folder)
    return inHome !== '' && homePlaceOf(inHome).type !== 'credential' && vouchedFor(inHome) !== 'around'
  })
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function realOf(path: string): string | null {
  try {
    // The other one looks at each part of the path by itself, and a home has dozens of entries.
    return realpathSync.native(path)
  } catch {
    return null
  }
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}
