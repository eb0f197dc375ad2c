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

/** What lies below a folder with skills. */
interface FoundBelow {
  /** By path. */
  readonly skills: readonly FoundFolder[]
  /** The folders that were looked into, none of a skill. */
  readonly looked: readonly LookedFolder[]
}

/** A folder that was looked into, and its facts then: while those are the same, nothing came into it or went. Its files may say something else. */
export type LookedFolder = readonly [folder: string, state: string]

/** Times of files tell no moments apart that are closer than this: what was written just now may be written again unseen. */
const APART_MS = 2_000

/** The skills below `root`, by path; none where there is no such folder. Folders of a skill are not looked into. Never throws. */
export const findSkillFolders = (root: string): readonly FoundFolder[] => lookBelow(root, 0).skills

/** The same with the folders that were looked into. `nowMs`: Unix milliseconds. Never throws. */
export function lookBelow(root: string, nowMs: number): FoundBelow {
  const [skills, looked]: [FoundFolder[], LookedFolder[]] = [[], []]
  look(root, 1, { skills, looked, nowMs })
  return { skills, looked }
}

/** Whether no folder has other entries than when it was looked into. Never throws. */
export function isAsLooked(looked: readonly LookedFolder[]): boolean {
  return looked.every(([folder, state]) => state !== UNSURE && stateAt(folder) === state)
}

/** Whether all of them can be known again. */
export const isSure = (looked: readonly LookedFolder[]): boolean => looked.every(([, state]) => state !== UNSURE)

const UNSURE = ''
const NOTHING = 'nothing'

/** What was looked into where there was no such folder. */
export const nothingAt = (folder: string): readonly LookedFolder[] => [[folder, NOTHING]]

/** The facts of what lies at a path, as one text. Never throws. */
export function stateAt(path: string): string {
  const info = statOf(path)
  return info === null ? NOTHING : stateOf(info)
}

/** Whether the SKILL.md of a folder has these facts. Never throws. */
export function isWrittenAs(folder: string, state: string): boolean {
  return stateAt(`${folder}${sep}${SKILL_FILE}`) === state
}

interface Below {
  readonly skills: FoundFolder[]
  readonly looked: LookedFolder[]
  readonly nowMs: number
}

function look(folder: string, depth: number, below: Below): void {
  const { skills: found, looked, nowMs } = below
  // Asked first: what comes meanwhile makes it another one.
  looked.push(lookedNow(folder, nowMs))
  for (const name of foldersIn(folder)) {
    if (found.length >= MAX_FOUND || name.startsWith('.') || name === 'node_modules') continue
    // A few hundred of these are most of a look: nothing is put in form that is already.
    const path = `${folder}${sep}${name}`
    const info = statOf(`${path}${sep}${SKILL_FILE}`)
    if (info?.isFile()) {
      const { size, mtimeMs, ctimeMs, ino } = info
      found.push({ folder: path, name, size, mtimeMs, ctimeMs, ino })
    }
    if (info === null && depth < MAX_DEPTH) look(path, depth + 1, below)
    // A SKILL.md may come there.
    else if (!info?.isFile()) looked.push(lookedNow(path, nowMs))
  }
}

function lookedNow(folder: string, nowMs: number): LookedFolder {
  const info = statOf(folder)
  const isSure = info === null || nowMs - info.ctimeMs > APART_MS
  return [folder, !isSure ? UNSURE : info === null ? NOTHING : stateOf(info)]
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

/** What is or may be a folder: where a file lies, no skill can come without the folder around it changing. */
function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isFile() ? [] : [entry.name])).sort()
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
