import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { ActingSkill, StartedLine } from '@hermes/contracts/policy'
import type { ToolState } from '@hermes/contracts/tool'
import { pathsInCommand } from '@hermes/safety'
import { BUNDLED } from './bundled.js'
import { SkillRecords } from './curator/skill-records.js'
import { SKILL_FILE, type Skill } from './format/skill.js'
import { HeadCache } from './index/head-cache.js'
import { withLinks } from './index/linked-skills.js'
import { type PlaceOfOthers, placesOfOthers, skillRoots } from './index/places.js'
import { findSkill, type Grounds, type Look, type SkillIndex, SkillIndexer } from './index/skill-index.js'
import { SkillLock, sha256 } from './install/lock.js'
import { skillPrograms } from './install/skill-programs.js'
import { SkillHistory } from './learning/skill-history.js'
import type { SkillsHome } from './skills-home.js'
import { SkillUsage } from './usage.js'

/** A line that starts so soon after it was decided about is held by the same look. */
const SHARED_MS = 2_000

/** Where skills are looked for, and what is not right about that. */
export interface SkillPlaces {
  readonly look: Look
  readonly problems: readonly string[]
}

const withProblems = ({ skills, problems }: SkillIndex, places: SkillPlaces): SkillIndex => ({
  skills,
  problems: [...places.problems, ...problems],
})

/** The skills of a home: which there are for a folder, and how often they are used. Nothing is read before the first is asked for. */
export class SkillLibrary {
  readonly home: SkillsHome
  readonly lock: SkillLock
  readonly usage: SkillUsage
  readonly records: SkillRecords
  readonly history: SkillHistory
  readonly #indexer: SkillIndexer
  /** Goes up when sessions have to look anew. */
  #generation = 0
  readonly #disabled: Set<string>
  /** What lines were decided by, until they start. */
  readonly #decided = new Map<string, { readonly skills: Promise<readonly ActingSkill[]>; readonly atMs: number }>()

  constructor(home: SkillsHome) {
    this.home = home
    this.lock = new SkillLock(join(home.directory, '.hub'))
    this.usage = new SkillUsage(join(home.directory, '.usage.json'), home.logger)
    this.records = new SkillRecords(join(home.directory, '.curator.json'))
    this.history = new SkillHistory(home.directory)
    this.#indexer = new SkillIndexer(new HeadCache(home.cacheFile, home.logger), home.os, home.clock)
    this.#disabled = new Set(home.settings.disabled)
  }

  /** Names that are switched off. */
  get disabled(): ReadonlySet<string> {
    return this.#disabled
  }

  /** The skills for who works in `cwd`, as they are now. Never rejects. */
  async index(cwd: string): Promise<SkillIndex> {
    return this.indexOf(await this.places(cwd))
  }

  /**
   * The same at a glance: which there are is as it is now, what each is for as it was read last ({@link SkillLibrary.isAsRead}). Never rejects.
   */
  async glance(cwd: string): Promise<SkillIndex> {
    return this.glanceOf(await this.places(cwd))
  }

  /** Where skills for who works in `cwd` are looked for, without those that lie there. Installed ones were looked at. Never rejects. */
  async places(cwd: string): Promise<SkillPlaces> {
    const { roots, problems } = await skillRoots(this.home, cwd)
    const installed = this.home.isSafe ? { skills: [], problems: [] } : await this.lock.sound()
    const look = { roots, others: [...installed.skills, ...BUNDLED], disabled: [...this.#disabled] }
    return { look, problems: [...problems, ...installed.problems] }
  }

  /**
   * Every skill of others that commands may run programs of, for who works in `workspace`, as they are now: installed ones, and what lies in
   * folders of projects, plugins and the person; of folders below the workspace those that `line` leads to. One that is not loaded is among them,
   * and one that nobody vouches for has declared nothing. `isDecided`: what was decided about the line just now is taken once, without another
   * look. Never rejects.
   */
  async programs(
    workspace: string,
    line: StartedLine | null = null,
    { isDecided = false }: { readonly isDecided?: boolean } = {},
  ): Promise<readonly ActingSkill[]> {
    if (line === null) return this.#programs(workspace, null)
    const key = JSON.stringify([workspace, line.command, line.cwd])
    const known = this.#decided.get(key)
    this.#decided.delete(key)
    const now = this.home.clock.now()
    if (isDecided)
      return known !== undefined && now - known.atMs < SHARED_MS ? known.skills : this.#programs(workspace, line)
    for (const [old, { atMs }] of this.#decided) if (now - atMs >= SHARED_MS) this.#decided.delete(old)
    const skills = this.#programs(workspace, line)
    this.#decided.set(key, { skills, atMs: now })
    return skills
  }

  async #programs(workspace: string, line: StartedLine | null): Promise<readonly ActingSkill[]> {
    const paths = line === null ? [] : pathsInCommand(line, this.home.userHome)
    const [installed, places] = await Promise.all([
      skillPrograms(this.home.directory),
      placesOfOthers(this.home, workspace, paths),
    ])
    const others = await Promise.all(places.map((place) => this.#programsIn(place)))
    return withLinks([...installed, ...others.flat()], paths)
  }

  async #programsIn({ folder: place, isOpen, isTrusted }: PlaceOfOthers): Promise<readonly ActingSkill[]> {
    const heads = await this.#indexer.headsBelow(place)
    // Looking whether it is as it was agreed to takes a look at each of its files.
    const counts = heads.some(({ head }) => head !== null && head.capabilities.length > 0) && (await isTrusted())
    return heads.map(({ folder, head }) => {
      const { name = basename(folder), capabilities = [], variables = [] } = head ?? {}
      const declared = counts ? { capabilities, variables } : { capabilities: [], variables: [] }
      return { name, folder, ...declared, ...(isOpen ? { isOpen } : {}) }
    })
  }

  /** The index of these places. Never rejects. */
  async indexOf(places: SkillPlaces): Promise<SkillIndex> {
    return withProblems(await this.#indexer.look(places.look), places)
  }

  /** The index of these places at a glance. Never rejects. */
  async glanceOf(places: SkillPlaces): Promise<SkillIndex> {
    return withProblems(await this.#indexer.glance(places.look), places)
  }

  /** Whether this process has looked at any skill. */
  get hasLooked(): boolean {
    return this.#indexer.hasLooked
  }

  /** What shows later that this index of the library would be made again, with those of its skills that are shown; `null` for another one. Never throws. */
  groundsOf(index: SkillIndex, shown: readonly Skill[]): Grounds | null {
    return this.#indexer.groundsOf(index, shown)
  }

  /** Whether a skill says what it said when it was read last. Never throws. */
  isAsRead(skill: Pick<Skill, 'folder'>): boolean {
    return this.#indexer.isAsRead(skill)
  }

  /** Whether a skill of the home is an agent's: one that was written over by hand since is the person's. Never rejects. */
  async isSelfWritten({ name, folder }: Pick<Skill, 'name' | 'folder'>): Promise<boolean> {
    const record = this.records.read().skills[name]
    if (!record?.isSelfWritten || folder === null) return false
    const text = record.sha256 === null ? null : await readFile(join(folder, SKILL_FILE), 'utf8').catch(() => null)
    return text === null || sha256(text) === record.sha256
  }

  /** The skills of a session: those of its first look, until {@link SkillLibrary.reload}. */
  ofSession(state: ToolState, cwd: string): Promise<SkillIndex> {
    const seen = state.scratch<{ generation: number; index: Promise<SkillIndex> | null }>('skills.index', () => ({
      ...{ generation: -1, index: null },
    }))
    if (seen.index === null || seen.generation !== this.#generation) {
      seen.generation = this.#generation
      seen.index = this.index(cwd)
    }
    return seen.index
  }

  /** Has sessions look anew when they next need a skill. What they were told at their start stays. */
  reload(): void {
    this.#generation += 1
  }

  /**
   * The skill of that name.
   * @throws HermesError `skills.unknown`
   */
  require(index: SkillIndex, name: string): Skill {
    const found = findSkill(index, name)
    if (!('nearest' in found)) return found
    if (this.#disabled.has(name))
      throw new HermesError(`The skill ${name} is switched off. To switch it on: hermes skills config enable ${name}`, {
        code: 'skills.unknown',
      })
    const problem = index.problems.find((line) => line.includes(name.trim()) && name.trim() !== '')
    const hint =
      this.#shown(problem) ??
      (found.nearest === null ? 'skills_list, or hermes skills list, shows all.' : `Did you mean ${found.nearest}?`)
    throw new HermesError(`There is no skill ${JSON.stringify(name.slice(0, 64))}. ${hint}`, { code: 'skills.unknown' })
  }

  /** Problems of folders of others quote what lies there: a person sees those. */
  #shown(problem: string | undefined): string | undefined {
    if (problem === undefined) return undefined
    const isOwn =
      problem.startsWith(`Skill ${this.home.directory}/`) || /^Skill [a-z0-9-]+ is not loaded: /.test(problem)
    return isOwn ? problem : 'It is there and is not loaded; hermes doctor shows the user why.'
  }

  async setDisabled(name: string, isDisabled: boolean): Promise<void> {
    await this.home.setDisabled(name, isDisabled)
    if (isDisabled) this.#disabled.add(name)
    else this.#disabled.delete(name)
    this.reload()
  }
}
