// Synchronous on purpose: by the thread pool, looking at hundreds of files takes several times as long.
import { readdirSync, type Stats, statSync } from 'node:fs'
import { sep } from 'node:path'
import { SKILL_FILE } from '../format/skill.js'

/** What tells that a file is as it was: some of it changes whenever the file is written or another one takes its place. */
type FileFacts = Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'>

/** A folder with a SKILL.md, and the facts of that file. */
export interface FoundFolder extends Readonly<FileFacts> {
  /** Absolute. */
  readonly folder: string
  readonly name: string
}

/** What comes after them is not looked at. */
export const MAX_FOUND = 2_000
/** Categories may have categories. */
const MAX_DEPTH = 3

/** The skills below `root`, by path; none where there is no such folder. Folders of a skill are not looked into. Never throws. */
export function findSkillFolders(root: string): readonly FoundFolder[] {
  const found: FoundFolder[] = []
  look(root, 1, found)
  return found
}

function look(folder: string, depth: number, found: FoundFolder[]): void {
  for (const name of namesIn(folder)) {
    if (found.length >= MAX_FOUND || name.startsWith('.') || name === 'node_modules') continue
    // A few hundred of these are most of a look: nothing is put in form that is already.
    const path = `${folder}${sep}${name}`
    const info = statOf(`${path}${sep}${SKILL_FILE}`)
    if (info?.isFile()) {
      const { size, mtimeMs, ctimeMs, ino } = info
      found.push({ folder: path, name, size, mtimeMs, ctimeMs, ino })
    }
    if (info === null && depth < MAX_DEPTH) look(path, depth + 1, found)
  }
}

/** Whether a folder has the same SKILL.md as before. */
export function isUnchanged(before: FoundFolder, now: FoundFolder): boolean {
  return (
    before.mtimeMs === now.mtimeMs &&
    before.ctimeMs === now.ctimeMs &&
    before.size === now.size &&
    before.ino === now.ino &&
    before.folder === now.folder
  )
}

/** The facts as one text. */
export function stateOf(info: FileFacts): string {
  return `${info.size} ${info.mtimeMs} ${info.ctimeMs} ${info.ino}`
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

const NO_ENTRY = { throwIfNoEntry: false } as const

function statOf(path: string): Stats | null {
  try {
    return statSync(path, NO_ENTRY) ?? null
  } catch {
    return null
  }
}
