// Synchronous on purpose: by the thread pool, looking at hundreds of files takes several times as long.
import { readdirSync, type Stats, statSync } from 'node:fs'
import { sep } from 'node:path'
import { SKILL_FILE } from '../format/skill.js'

/** A folder with a SKILL.md, and the facts of that file. */
export interface FoundFolder {
  /** Absolute. */
  readonly folder: string
  readonly name: string
  readonly size: number
  /** Changes whenever the file is written or another one takes its place. */
  readonly state: string
}

const MAX_FOUND = 2_000
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
    if (info?.isFile()) found.push({ folder: path, name, size: info.size, state: stateOf(info) })
    else if (info === null && depth < MAX_DEPTH) look(path, depth + 1, found)
  }
}

/** What tells that a file is as it was. */
export function stateOf(info: Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino'>): string {
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
