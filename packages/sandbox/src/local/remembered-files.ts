import {
  type Dirent,
  lstatSync,
  mkdirSync,
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

const MOST_FILES = 500
/** A larger one is told of and stays as the command left it. */
const MOST_BYTES = 1_048_576

interface Kept {
  readonly stamp: string
  readonly mode: number
  /** What was in it, or where the link led; `null` where that is too much. */
  readonly content: Buffer | string | null
}

/** Which files of a workspace are remembered, by their path from its root, with slashes. */
export interface Selection {
  readonly holds: (path: string) => boolean
  /** Whether a folder may have some. */
  readonly enters: (folder: string) => boolean
}

/** Remembers the selected files of `root` as they are now, with their contents. */
export function rememberFiles(root: string, selection: Selection): RememberedFiles {
  const before = filesIn(root, selection)
  const textOf = (file: Kept | undefined) => (file?.content == null ? null : file.content.toString('utf8'))
  return {
    changes: () => {
      const found: FileChange[] = []
      for (const [path, file] of filesIn(root, selection)) {
        const old = before.get(path)
        if (old?.stamp === file.stamp) continue
        const isSame =
          old && old.content !== null && file.content !== null && String(old.content) === String(file.content)
        if (!isSame) found.push({ path: join(root, path), before: textOf(old), after: textOf(file) })
      }
      return found
    },
    putBack: (full) => {
      const path = full.slice(root.length + 1)
      const old = before.get(path)
      // A link that came meanwhile in place of a folder leads elsewhere.
      if (realIfThere(dirname(full)) !== dirname(full) || old?.content === null) return false
      if (old === undefined) rmSync(full, { force: true })
      else replace(full, old)
      return true
    },
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
      if (found.size >= MOST_FILES) return
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (selection.enters(path)) walk(path)
      } else if (selection.holds(path) || (entry.isSymbolicLink() && selection.enters(path))) {
        const file = keptAt(join(root, path))
        if (file !== null) found.set(path, file)
      }
    }
  }
  walk('')
  return found
}

function keptAt(path: string): Kept | null {
  try {
    const { ino, size, mtimeNs, ctimeNs, mode } = lstatSync(path, { bigint: true })
    const stamp = `${ino} ${size} ${mtimeNs} ${ctimeNs}`
    const isLink = (Number(mode) & 0o170000) === 0o120000
    if (isLink) return { stamp, mode: Number(mode), content: readlinkSync(path) }
    const isFile = (Number(mode) & 0o170000) === 0o100000
    if (!isFile) return null
    return { stamp, mode: Number(mode) & 0o7777, content: size > MOST_BYTES ? null : readFileSync(path) }
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
