import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, errorLine, nearestName } from '@hermes/contracts'
import { readSkill } from '../format/read-skill.js'
import { MAX_SKILL_BYTES, SKILL_FILE, type Skill, type SkillHead, type SkillSource } from '../format/skill.js'
import {
  type FoundFolder,
  isAsLooked,
  isUnchanged,
  isWrittenAs,
  type LookedFolder,
  lookBelow,
  MAX_FOUND,
  stateOf,
} from './find-skill-folders.js'
import type { CachedHead, HeadCache } from './head-cache.js'
import { scanDescriptions } from './scan-descriptions.js'

/** The skills there are for a folder that is worked in, as they were when it was made. */
export interface SkillIndex {
  /** By name; one for each name. */
  readonly skills: ReadonlyMap<string, Skill>
  /** What is not a skill and should be, and which of two of one name counts; a line each. */
  readonly problems: readonly string[]
}

/** A folder with skills. */
export interface SkillRoot {
  readonly source: SkillSource
  /** Absolute. */
  readonly folder: string
  /** Of what a plugin brings: its name. */
  readonly origin?: string
}

/** What an index is made of. */
export interface Look {
  /** In the order in which names are settled. */
  readonly roots: readonly SkillRoot[]
  /** Those that are no folder of the roots: installed and bundled ones. They come last. */
  readonly others: readonly Skill[]
  /** Names that the person switched off. */
  readonly disabled: readonly string[]
}

/** What a look found: of each root its folders. */
interface Found extends Look {
  readonly folders: readonly (readonly FoundFolder[])[]
}

/** What a glance went by, and came to. */
interface Glanced extends Look {
  readonly version: number
  readonly index: SkillIndex
  /** Folders of which no skill counts. */
  readonly left: readonly ReadFolder[]
}

/** A folder with a SKILL.md, and what that says. */
interface ReadFolder {
  readonly folder: string
  readonly known: CachedHead
}

/** What an index was made from, as far as a start looks at it again: folders, skills that do not count, and those that are shown. */
export interface Grounds {
  readonly looked: readonly LookedFolder[]
  /** Folders of skills, each with the facts of its SKILL.md. */
  readonly written: readonly (readonly [folder: string, state: string])[]
}

/** A folder of a skill, and what its SKILL.md says; `null` for nothing that can be read. */
interface HeadBelow {
  readonly folder: string
  readonly head: SkillHead | null
}

/** Whether all is as it was. Never throws. */
export function stillHolds({ looked, written }: Grounds): boolean {
  return isAsLooked(looked) && written.every(([folder, state]) => isWrittenAs(folder, state))
}

/** Makes the index of a home. While a look finds what the last one found, the index is that one's. */
export class SkillIndexer {
  readonly #cache: HeadCache
  readonly #os: string
  readonly #clock: Clock
  #last: (Found & { readonly index: SkillIndex }) | null = null
  #glanced: Glanced | null = null
  /** By folder, what was found below it last. */
  readonly #below = new Map<string, Grounds & { readonly heads: readonly HeadBelow[] }>()
  /** By the skills of an index: what was seen where it was made. Another look may see something else before that is asked for. */
  readonly #seen = new WeakMap<SkillIndex['skills'], () => Grounds>()

  /** `os`: `linux`, `macos` or `windows`. */
  constructor(cache: HeadCache, os: string, clock: Clock) {
    this.#cache = cache
    this.#os = os
    this.#clock = clock
  }

  /**
   * The index by folders alone: what came or went is seen; a skill may say something else by now than its head here
   * ({@link SkillIndexer.isAsRead}). Never rejects.
   */
  async glance(look: Look): Promise<SkillIndex> {
    this.#cache.open()
    const read: ReadFolder[][] = []
    const looked: LookedFolder[] = []
    for (const { folder } of look.roots) {
      const root = this.#cache.root(folder)
      const heads = root.skills.map((one) => ({ folder: one, known: this.#cache.last(one) }))
      if (!isAsLooked(root.looked) || !heads.every(isRead)) return this.look(look)
      read.push(heads)
      looked.push(...root.looked)
    }
    const { version } = this.#cache
    if (this.#glanced?.version !== version || !isSameLook(this.#glanced, look)) {
      const index = makeIndex(look, read, this.#os)
      const counting = new Set([...index.skills.values()].map(({ folder }) => folder))
      this.#glanced = { ...look, version, index, left: read.flat().filter(({ folder }) => !counting.has(folder)) }
    }
    const { index, left } = this.#glanced
    this.#seen.set(index.skills, () => ({ looked, written: read.flat().map((one) => [one.folder, one.known.state]) }))
    // One that does not count may have been mended.
    return left.every(({ folder, known }) => isWrittenAs(folder, known.state)) ? index : this.look(look)
  }

  /** Whether a skill of a folder says what it said when it was read last. Never throws. */
  isAsRead({ folder }: Pick<Skill, 'folder'>): boolean {
    const known = folder === null ? undefined : this.#cache.last(folder)
    return known === undefined || isWrittenAs(folder!, known.state)
  }

  /** Whether anything was looked at by this process. */
  get hasLooked(): boolean {
    return this.#cache.isOpen
  }

  /** What shows later that an index, which a look or a glance made, would be made again; `null` for another one. Never throws. */
  groundsOf({ skills }: SkillIndex, shown: readonly Pick<Skill, 'folder'>[]): Grounds | null {
    const seen = this.#seen.get(skills)?.()
    if (seen === undefined) return null
    const silent = new Set([...skills.values()].map(({ folder }) => folder))
    for (const { folder } of shown) silent.delete(folder)
    return { looked: seen.looked, written: seen.written.filter(([folder]) => !silent.has(folder)) }
  }

  /** The folders of skills below some folder, each with what its SKILL.md says by now; `null` for none. Never rejects. */
  async headsBelow(folder: string): Promise<readonly HeadBelow[]> {
    const known = this.#below.get(folder)
    if (known !== undefined && stillHolds(known)) return known.heads
    this.#cache.open()
    const { looked, skills } = lookBelow(folder, this.#clock.now())
    const [read = []] = await readFolders([skills], this.#cache)
    await this.#cache.save()
    const heads = read.map((one) => ({ folder: one.folder, head: one.known.head }))
    this.#below.set(folder, { looked, written: skills.map((one) => [one.folder, stateOf(one)]), heads })
    return heads
  }

  /** Looks at every SKILL.md of the roots, and reads those that were written since. Never rejects. */
  async look(look: Look): Promise<SkillIndex> {
    this.#cache.open()
    const below = look.roots.map(({ folder }) => lookBelow(folder, this.#clock.now()))
    const found = { ...look, folders: below.map(({ skills }) => skills) }
    for (const [at, { looked, skills }] of below.entries())
      this.#cache.setRoot(look.roots[at]!.folder, { looked, skills: skills.map(({ folder }) => folder) })
    const saw = ({ skills }: SkillIndex) =>
      this.#seen.set(skills, () => ({
        looked: below.flatMap(({ looked }) => looked),
        written: found.folders.flat().map((one) => [one.folder, stateOf(one)]),
      }))
    if (this.#last !== null && isSame(this.#last, found)) {
      const { index } = this.#last
      saw(index)
      await this.#cache.save()
      return index
    }
    const read = await readFolders(found.folders, this.#cache)
    await this.#cache.save()
    const index = makeIndex(look, read, this.#os)
    this.#last = { ...found, index }
    saw(index)
    return index
  }
}

const isRead = (one: { readonly folder: string; readonly known: CachedHead | undefined }): one is ReadFolder =>
  one.known !== undefined

const isSame = (before: Found, now: Found) =>
  isSameLook(before, now) && areSame(before.folders, now.folders, (some, others) => areSame(some, others, isUnchanged))

const isSameLook = (before: Look, now: Look) =>
  areSame(before.disabled, now.disabled) &&
  areSame(before.others, now.others) &&
  areSame(before.roots, now.roots, isSameRoot)

const isSameRoot = (one: SkillRoot, other: SkillRoot) =>
  one.source === other.source && one.folder === other.folder && one.origin === other.origin

function areSame<T>(some: readonly T[], others: readonly T[], isOne: (one: T, other: T) => boolean = Object.is) {
  return some.length === others.length && some.every((one, at) => isOne(one, others[at]!))
}

function makeIndex(
  { roots, others, disabled }: Look,
  read: readonly (readonly ReadFolder[])[],
  os: string,
): SkillIndex {
  const skills = new Map<string, Skill>()
  const problems: string[] = []
  const fromFolders: Skill[] = []
  const add = (skill: Skill) => {
    if (skill.platforms.length > 0 && !skill.platforms.includes(os)) return
    const first = skills.get(skill.name)
    if (first === undefined) skills.set(skill.name, skill)
    // A skill of one's own in place of one that comes with Hermes is what it was written for.
    else if (skill.source !== 'bundled')
      problems.push(
        `Two skills are called ${skill.name}: the ${first.source} one${first.folder === null ? '' : ` in ${first.folder}`} counts, the ${skill.source} one in ${skill.folder} does not. Rename one.`,
      )
  }
  for (const [at, { folder: root, ...whose }] of roots.entries()) {
    for (const { folder, known } of read[at]!) {
      if (known.head === null) problems.push(`Skill ${folder} is left out: ${known.why}.`)
      else fromFolders.push({ ...known.head, ...whose, folder, rule: known.rule })
    }
    if (read[at]!.length >= MAX_FOUND)
      problems.push(`Of the skills in ${root} the first ${MAX_FOUND} count, the others are left out: take some away.`)
  }
  // The model is told that those of Hermes are built in: nobody but the person puts another one in their place.
  const all = [...fromFolders.filter(isOwn), ...others.filter(isBundled), ...fromFolders, ...others]
  for (const skill of new Set(all)) add(skill)
  for (const name of disabled) skills.delete(name)
  return { skills, problems }
}

const isOwn = ({ source }: Skill) => source === 'user'
const isBundled = ({ source }: Skill) => source === 'bundled'

/** What the folders say, read anew where the cache does not know it. */
async function readFolders(
  folders: readonly (readonly FoundFolder[])[],
  cache: HeadCache,
): Promise<readonly (readonly ReadFolder[])[]> {
  const known = folders.map((found) => found.map((one) => ({ one, known: cache.get(one.folder, stateOf(one)) })))
  const unread = known.flat().filter((one) => one.known === undefined)
  const read = unread.length === 0 ? new Map<FoundFolder, CachedHead>() : await readHeads(unread, cache)
  return known.map((found) => found.map(({ one, known = read.get(one)! }) => ({ folder: one.folder, known })))
}

async function readHeads(
  unread: readonly { readonly one: FoundFolder }[],
  cache: HeadCache,
): Promise<ReadonlyMap<FoundFolder, CachedHead>> {
  const { default: yaml } = await import('yaml')
  const read = await Promise.all(unread.map(async ({ one }) => [one, await headOf(one, yaml.parse)] as const))
  const rules = await scanDescriptions(read.flatMap(([, { head }]) => head?.description ?? []))
  return new Map(
    read.map(([one, reading]) => {
      const head: CachedHead = { ...reading, rule: rules.get(reading.head?.description ?? '') ?? null }
      cache.set(one.folder, head)
      return [one, head]
    }),
  )
}

async function headOf(found: FoundFolder, parse: typeof import('yaml').parse): Promise<Omit<CachedHead, 'rule'>> {
  const { folder, name, size } = found
  const state = stateOf(found)
  // A file of gigabytes is not read to be told that it is too large.
  if (size > MAX_SKILL_BYTES)
    return {
      state,
      head: null,
      why: `SKILL.md has ${Math.ceil(size / 1024)} KB; at most ${MAX_SKILL_BYTES / 1024} KB are read`,
    }
  try {
    const reading = readSkill(await readFile(join(folder, SKILL_FILE)), basename(name), parse)
    return reading.type === 'skill' ? { state, head: reading.head, why: '' } : { state, head: null, why: reading.why }
  } catch (error) {
    return { state, head: null, why: `SKILL.md cannot be read (${errorLine(error)})` }
  }
}

/** The skill of that name; what was probably meant where there is none. */
export function findSkill({ skills }: SkillIndex, wanted: string): Skill | { readonly nearest: string | null } {
  const name = wanted.trim().toLowerCase().replace(/^\//, '')
  return skills.get(name) ?? { nearest: nearestName(name, [...skills.keys()]) ?? null }
}
