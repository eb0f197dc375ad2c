import {
  closeSync,
  constants,
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
import { NamedFiles, NO_NAMED_FILES } from './named-files.js'

/** Of plain folders the nearest to the root; what lies deeper in a larger project is not looked at. */
const MOST_FOLDERS = 1_000
/** Of folders that are known for such files, so that a program that makes more of them holds nobody up. */
const MOST_SPECIAL = 10_000
/** A folder that changed within this time may change again without its times showing it. */
const SETTLED_MS = 100
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
  /** Whether a link in place of a folder counts as one of them. */
  readonly holdsLink: (path: string) => boolean
  /** Whether a file names further ones, by its path. */
  readonly namesOthers: (path: string) => boolean
  /** Those that its text names, as patterns of paths from the root. `folder` is that of the file with which the row began. */
  readonly named: (text: string, folder: string) => readonly string[]
}

/** What is selected of a folder, as it was read: paths from the root. */
interface Listed {
  readonly stamp: string
  readonly isSettled: boolean
  readonly folders: readonly string[]
  readonly files: readonly string[]
  /** Those that name further ones. */
  readonly naming: readonly string[]
}

interface Walked {
  readonly files: ReadonlyMap<string, Kept>
  /** By their path from the root. */
  readonly folders: ReadonlyMap<string, Listed>
  /** Files that others name. */
  readonly named: NamedFiles
  /** Whether nothing was left out. */
  readonly isWhole: boolean
}

const NOTHING_READ: Walked = { files: new Map(), folders: new Map(), named: NO_NAMED_FILES, isWhole: true }

/** Folders that wait to be looked into. */
class Line {
  readonly paths: string[] = []
  /** How many of them were. */
  #taken = 0
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** Whether some wait that nobody looks into. */
  get isCut(): boolean {
    return this.paths.length > this.#most
  }

  next(): string | undefined {
    return this.#taken < Math.min(this.paths.length, this.#most) ? this.paths[this.#taken++] : undefined
  }
}

/** Remembers files of one workspace. What did not change since the last time is not read again. */
export class FileMemory {
  readonly #root: string
  #last = NOTHING_READ
  /** What was written with leave, by its path from the root, and after how many such writes. */
  readonly #permitted = new Map<string, { readonly file: Kept | undefined; readonly at: number }>()
  #writes = 0
  #selection: Selection | null = null

  constructor(root: string) {
    this.#root = root
  }

  /** Notes that `path`, absolute, has just become what was permitted: it counts as no change, whoever looks. */
  permitted(path: string): void {
    const name = path.slice(this.#root.length + 1)
    if (!path.startsWith(`${this.#root}/`) || !(this.#selection?.holds(name) || this.#last.named.holds(name))) return
    this.#note(name)
  }

  #note(name: string): void {
    this.#permitted.set(name, { file: keptAt(join(this.#root, name), true) ?? undefined, at: ++this.#writes })
  }

  /** The selected files as they are now, with their contents. `aside` names a new file for what stands in the place of one. */
  remember(selection: Selection, aside: () => string): RememberedFiles {
    const root = this.#root
    if (this.#selection !== selection) this.#last = NOTHING_READ
    this.#selection = selection
    const before = this.#walk(selection)
    const writes = this.#writes
    let { isWhole } = before
    const permittedSince = (path: string) => {
      const permitted = this.#permitted.get(path)
      return permitted !== undefined && permitted.at > writes ? permitted : null
    }
    const oldOf = (path: string) => {
      const permitted = permittedSince(path)
      return permitted === null ? before.files.get(path) : permitted.file
    }
    const textOf = (file: Kept | undefined) => (file?.content == null ? null : file.content.toString('utf8'))
    return {
      changes: () => {
        const found: FileChange[] = []
        const now = this.#walk(selection, before)
        isWhole = before.isWhole && now.isWhole
        for (const [path, file] of now.files) {
          const old = oldOf(path)
          if (old?.stamp === file.stamp) continue
          if (old === undefined && permittedSince(path) === null && mayHaveBeenThere(path, before)) continue
          const isSame =
            old && old.content !== null && file.content !== null && String(old.content) === String(file.content)
          if (!isSame) found.push({ path: join(root, path), before: textOf(old), after: textOf(file) })
        }
        return found
      },
      isWhole: () => isWhole,
      isNamed: (path) => path.startsWith(`${root}/`) && before.named.holds(path.slice(root.length + 1)),
      putBack: (full) => {
        const old = oldOf(full.slice(root.length + 1))
        // A link that came meanwhile in place of a folder leads elsewhere.
        if (realIfThere(dirname(full)) !== dirname(full) || old?.content === null) return { isBack: false, aside: null }
        let kept: string | null = null
        try {
          kept = setAside(full, aside)
          if (old === undefined) rmSync(full, { force: true })
          else replace(full, old)
          // Whoever remembered the files in between goes by what is there now.
          this.#note(full.slice(root.length + 1))
          return { isBack: true, aside: kept }
        } catch {
          return { isBack: false, aside: kept }
        }
      },
    }
  }

  /**
   * Those nearest to the root first, but before all others those of `before` and then the ones that are known for such files: however many
   * folders came since, these are looked at.
   */
  #walk(selection: Selection, before: Walked = NOTHING_READ): Walked {
    const { files: known, folders: read } = this.#last
    const [files, folders] = [new Map<string, Kept>(), new Map<string, Listed>()]
    const former = new Line(Number.POSITIVE_INFINITY)
    const keep = (path: string) => {
      const file = keptAt(join(this.#root, path), files.size < MOST_FILES, known.get(path))
      if (file !== null) files.set(path, file)
    }
    const [special, plain] = [new Line(MOST_SPECIAL), new Line(MOST_FOLDERS)]
    const next = () => former.next() ?? special.next() ?? plain.next()
    const naming: string[] = []
    let isWhole = true
    former.paths.push('')
    for (let folder = next(); folder !== undefined; folder = next()) {
      const listed = this.#list(folder, selection, read.get(folder))
      if (listed === null) continue
      folders.set(folder, listed)
      naming.push(...listed.naming)
      for (const path of listed.folders)
        (before.folders.has(path) ? former : selection.holdsLink(path) ? special : plain).paths.push(path)
      for (const path of listed.files) {
        if (files.size >= MOST_SEEN) isWhole = false
        else keep(path)
      }
    }
    // Those that were named before: a file that was there and is named only now has not changed.
    const named = before === NOTHING_READ ? NamedFiles.of(this.#root, naming, selection) : before.named
    for (const path of named.present()) if (!files.has(path)) keep(path)
    this.#last = { files, folders, named, isWhole: isWhole && !special.isCut && !plain.isCut }
    return this.#last
  }

  #list(
    folder: string,
    { enters, holds, holdsLink, namesOthers }: Selection,
    known: Listed | undefined,
  ): Listed | null {
    const path = join(this.#root, folder)
    try {
      const { ino, mtimeMs, ctimeMs } = lstatSync(path)
      const stamp = `${ino} ${mtimeMs} ${ctimeMs}`
      if (known?.isSettled && known.stamp === stamp) return known
      const isSettled = Math.abs(Date.now() - ctimeMs) > SETTLED_MS
      const [folders, files, naming]: [string[], string[], string[]] = [[], [], []]
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        const at = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (entry.isDirectory()) {
          if (enters(at)) folders.push(at)
        } else if (holds(at) || (entry.isSymbolicLink() && holdsLink(at))) files.push(at)
        if (!entry.isDirectory() && namesOthers(at)) naming.push(at)
      }
      return { stamp, isSettled, folders, files, naming }
    } catch {
      return null
    }
  }
}

/** Whether a file may only have been out of sight, in a workspace of more than is looked at. */
function mayHaveBeenThere(path: string, before: Walked): boolean {
  if (before.isWhole) return false
  for (let folder = path; folder !== ''; ) {
    const above = folder.includes('/') ? dirname(folder) : ''
    const listed = before.folders.get(above)
    if (listed !== undefined) return [...listed.folders, ...listed.files].includes(folder)
    folder = above
  }
  return true
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

/** What is `known` of it is taken over where it looks the same. */
function keptAt(path: string, withContent: boolean, known?: Kept): Kept | null {
  try {
    const { ino, size, mtimeNs, ctimeNs, mode } = lstatSync(path, { bigint: true })
    const stamp = `${ino} ${size} ${mtimeNs} ${ctimeNs}`
    if (known?.stamp === stamp && (known.content !== null || !withContent)) return known
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
