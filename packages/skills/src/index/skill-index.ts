import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { errorLine, nearestName } from '@hermes/contracts'
import { readSkill } from '../format/read-skill.js'
import { MAX_SKILL_BYTES, SKILL_FILE, type Skill, type SkillSource } from '../format/skill.js'
import { type FoundFolder, findSkillFolders, isUnchanged, MAX_FOUND, stateOf } from './find-skill-folders.js'
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
interface Look {
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

/** Makes the index of a home. While a look finds what the last one found, the index is that one's. */
export class SkillIndexer {
  readonly #cache: HeadCache
  readonly #os: string
  #last: (Found & { readonly index: SkillIndex }) | null = null

  /** `os`: `linux`, `macos` or `windows`. */
  constructor(cache: HeadCache, os: string) {
    this.#cache = cache
    this.#os = os
  }

  /** Looks at every SKILL.md of the roots, and reads those that were written since. Never rejects. */
  async look(look: Look): Promise<SkillIndex> {
    const found = { ...look, folders: look.roots.map(({ folder }) => findSkillFolders(folder)) }
    if (this.#last !== null && isSame(this.#last, found)) return this.#last.index
    const index = await makeIndex(found, { cache: this.#cache, os: this.#os })
    this.#last = { ...found, index }
    return index
  }
}

function isSame(before: Found, now: Found): boolean {
  return (
    areSame(before.disabled, now.disabled) &&
    areSame(before.others, now.others) &&
    areSame(before.roots, now.roots, isSameRoot) &&
    areSame(before.folders, now.folders, (some, others) => areSame(some, others, isUnchanged))
  )
}

const isSameRoot = (one: SkillRoot, other: SkillRoot) =>
  one.source === other.source && one.folder === other.folder && one.origin === other.origin

function areSame<T>(some: readonly T[], others: readonly T[], isOne: (one: T, other: T) => boolean = Object.is) {
  return some.length === others.length && some.every((one, at) => isOne(one, others[at]!))
}

async function makeIndex(
  { roots, folders, others, disabled }: Found,
  { cache, os }: { readonly cache: HeadCache; readonly os: string },
): Promise<SkillIndex> {
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
  await cache.open()
  const found = roots.flatMap(({ folder: _, ...root }, at) =>
    folders[at]!.map((one) => ({ root, one, known: cache.get(one.folder, stateOf(one)) })),
  )
  const unread = found.filter(({ known }) => known === undefined)
  const read = unread.length === 0 ? new Map<FoundFolder, CachedHead>() : await readHeads(unread, cache)
  for (const { root, one, known = read.get(one)! } of found) {
    if (known.head === null) problems.push(`Skill ${one.folder} is left out: ${known.why}.`)
    else fromFolders.push({ ...known.head, ...root, folder: one.folder, rule: known.rule })
  }
  for (const [at, { folder }] of roots.entries())
    if (folders[at]!.length >= MAX_FOUND)
      problems.push(`Of the skills in ${folder} the first ${MAX_FOUND} count, the others are left out: take some away.`)
  await cache.save()
  // The model is told that those of Hermes are built in: nobody but the person puts another one in their place.
  const all = [...fromFolders.filter(isOwn), ...others.filter(isBundled), ...fromFolders, ...others]
  for (const skill of new Set(all)) add(skill)
  for (const name of disabled) skills.delete(name)
  return { skills, problems }
}

const isOwn = ({ source }: Skill) => source === 'user'
const isBundled = ({ source }: Skill) => source === 'bundled'

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
