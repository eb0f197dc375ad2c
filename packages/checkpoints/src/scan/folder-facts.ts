// What is remembered of a folder, so that the next look at it tells which names are as they were.
import { randomUUID } from 'node:crypto'
import { constants, type Stats, statfsSync } from 'node:fs'
import { systemClock } from '@hermes/contracts'
import type { SkipReason, TreeEntry } from '../objects/tree.js'
import type { CachedFolder } from './stat-cache.js'

/** Times of files have steps; a change within one step of the last look cannot be seen. */
const RACY_MS = 50

// Neither can be in a name.
const FIELD_END = '\0'
/** Comes after the facts of a name. */
export const NAME_END = '/'
/** Stands between values. */
export const VALUE_END = '\0'

/** A name of a folder as it was found. */
export interface Found {
  readonly name: string
  readonly stats: Stats
  /** Stays equal for as long as nothing about it changed that a snapshot keeps. */
  readonly facts: string
}

/** Never the time of a folder. */
export const UNKNOWN_TIME = '-'

// Magic numbers of statfs(2): ext, xfs, btrfs, tmpfs, overlayfs, f2fs, zfs.
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
])

const SKIP_REASONS: readonly string[] = ['excluded', 'too-large', 'special', 'unreadable'] satisfies SkipReason[]

/** Whether a value tells why something is left out. */
export function isSkipReason(value: string): value is SkipReason {
  return SKIP_REASONS.includes(value)
}

/** What is remembered of an entry beside its facts. */
export function cachedValue(entry: TreeEntry): string {
  switch (entry.type) {
    case 'file':
    case 'folder':
      return entry.hash
    case 'link':
      return entry.target
    case 'skipped':
      return entry.reason
    default:
      return entry satisfies never
  }
}

/** The values of a folder, in the order of its names. */
export function valuesOf({ values }: CachedFolder): readonly string[] {
  return values === '' ? [] : values.split(VALUE_END)
}

/** Whether every folder inside is what it was. */
export function sameChildren(
  found: readonly Found[],
  values: readonly string[],
  children: ReadonlyMap<string, string>,
): boolean {
  return (
    children.size === 0 || found.every(({ name }, index) => (children.get(name) ?? values[index]) === values[index])
  )
}

/** The names of a folder whose names last changed then; `null` when they are to be read anew. */
export function knownNames(before: CachedFolder | undefined, changed: string): readonly string[] | null {
  if (before === undefined || changed === UNKNOWN_TIME || before.namesChanged !== changed) return null
  return before.facts
    .split(NAME_END)
    .slice(0, -1)
    .map((text) => text.slice(0, text.indexOf(FIELD_END)))
}

/** What is known by the facts of one name. */
export function remembered(folder: CachedFolder | undefined): ReadonlyMap<string, string> {
  if (!folder) return new Map()
  const facts = folder.facts.split(NAME_END)
  return new Map(valuesOf(folder).map((value, index) => [facts[index]!, value]))
}

/**
 * Of a folder only name and mode: what is in it has its own facts. Of anything else the time at which the inode was changed, which goes
 * with every change of content, mode or owner and cannot be set.
 */
export function factsOf(name: string, { mode, ctimeMs, size, ino }: Stats, racyFromMs: number): string {
  if ((mode & constants.S_IFMT) === constants.S_IFDIR) return name + FIELD_END + mode
  // A word that never comes again, so that the file is read again next time.
  const changedMs = ctimeMs >= racyFromMs ? randomUUID() : ctimeMs
  return name + FIELD_END + changedMs + FIELD_END + size + FIELD_END + ino
}

/** Whether the time of a folder on this file system goes with every name that comes or goes. Some of other machines do not keep it. */
export function keepsFolderTimes(root: string): boolean {
  return process.platform === 'linux' && LOCAL_FILE_SYSTEMS.has(statfsSync(root).type)
}

/** When the names of a folder last changed; {@link UNKNOWN_TIME} when that cannot be told from now. */
export function namesChanged({ ctimeMs, ino }: Stats, racyFromMs: number): string {
  return ctimeMs >= racyFromMs ? UNKNOWN_TIME : ctimeMs + FIELD_END + ino
}

/** What changed from then on may change again without its time telling. Times are those of the machine, whatever clock the program goes by. */
export function racyFromMs(): number {
  return systemClock.now() - RACY_MS
}
