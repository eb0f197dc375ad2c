import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { FileChange, RememberedFiles } from '@hermes/contracts/environment'
import { realIfThere } from '../isolation/paths.js'

/** Of so many what is in them is kept; of further ones only how they look from outside. */
const MOST_FILES = 500
/** Where there are more, a further one may have been there before. */
const MOST_SEEN = 20_000
/** A larger one is told of and stays as the command left it. */
const MOST_BYTES = 1_048_576

interface Kept {
  readonly stamp: string
  readonly mode: number
  /** What was in it, or where the link led; `null` where that is too much. */
  readonly content: Buffer | string | null
}

/** Which files of a workspace are remembered, by their path from its root, with slashes. */
interface Selection {
  readonly holds: (path: string) => boolean
  /** Whether a folder may have some. */
  readonly enters: (folder: string) => boolean
}

/** Remembers the selected files of `root` as they are now, with their contents. `aside` names a new file for what stands in the place of one. */
export function rememberFiles(root: string, selection: Selection, aside: () => string): RememberedFiles {
  const before = filesIn(root, selection)
  const textOf = (file: Kept | undefined) => (file?.content == null ? null : file.content.toString('utf8'))
  return {
    changes: () => {
      const found: FileChange[] = []
      for (const [path, file] of filesIn(root, selection)) {
        const old = before.get(path)
        if (old?.stamp === file.stamp || (old === undefined && before.size >= MOST_SEEN)) continue
        const isSame =
          old && old.content !== null && file.content !== null && String(old.content) === String(file.content)
        if (!isSame) found.push({ path: join(root, path), before: textOf(old), after: textOf(file) })
      }
      return found
    },
    putBack: (full) => {
      const old = before.get(full.slice(root.length + 1))
      // A link that came meanwhile in place of a folder leads elsewhere.
      if (realIfThere(dirname(full)) !== dirname(full) || old?.content === null) return { isBack: false, aside: null }
      let kept: string | null = null
      try {
        kept = setAside(full, aside)
        if (old === undefined) rmSync(full, { force: true })
        else replace(full, old)
        return { isBack: true, aside: kept }
      } catch {
        return { isBack: false, aside: kept }
      }
    },
  }
}

/** The person may have saved it just then. `null` for what is no file, is large, or is gone. */
function setAside(path: string, aside: () => string): string | null {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return null
  }
  try {
    const info = fstatSync(descriptor)
    if (!info.isFile() || info.size > MOST_BYTES) return null
    const kept = aside()
    mkdirSync(dirname(kept), { recursive: true, mode: 0o700 })
    writeFileSync(kept, readFileSync(descriptor), { mode: 0o600, flag: 'wx' })
    return kept
  } finally {
    closeSync(descriptor)
  }
}

/** The folder is never without the file. */
function replace(path: string, { content, mode }: Kept): void {
  const made = `${path}.hermes-${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  rmSync(made, { force: true })
  if (typeof content === 'string') symlinkSync(content, made)
  else writeFileSync(made, content!, { mode, flag: 'wx' })
  renameSync(made, path)
}

function filesIn(root: string, selection: Selection): ReadonlyMap<string, Kept> {
  const found = new Map<string, Kept>()
  const walk = (folder: string) => {
    for (const entry of entriesOf(join(root, folder))) {
      if (found.size >= MOST_SEEN) return
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (selection.enters(path)) walk(path)
      } else if (selection.holds(path) || (entry.isSymbolicLink() && selection.enters(path))) {
        const file = keptAt(join(root, path), found.size < MOST_FILES)
        if (file !== null) found.set(path, file)
      }
    }
  }
  walk('')
  return found
}

function keptAt(path: string, withContent: boolean): Kept | null {
  try {
    const { ino, size, mtimeNs, ctimeNs, mode } = lstatSync(path, { bigint: true })
    const stamp = `${ino} ${size} ${mtimeNs} ${ctimeNs}`
    const isLink = (Number(mode) & 0o170000) === 0o120000
    if (isLink) return { stamp, mode: Number(mode), content: readlinkSync(path) }
    const isFile = (Number(mode) & 0o170000) === 0o100000
    if (!isFile) return null
    return {
      stamp,
      mode: Number(mode) & 0o7777,
      content: withContent && size <= MOST_BYTES ? readFileSync(path) : null,
    }
  } catch {
    return null
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
