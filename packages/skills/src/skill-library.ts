import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import type { ToolState } from '@hermes/contracts/tool'
import { BUNDLED } from './bundled.js'
import { SkillRecords } from './curator/skill-records.js'
import { SKILL_FILE, type Skill } from './format/skill.js'
import { HeadCache } from './index/head-cache.js'
import { skillRoots } from './index/places.js'
import { findSkill, type SkillIndex, SkillIndexer } from './index/skill-index.js'
import { SkillLock, sha256 } from './install/lock.js'
import { SkillHistory } from './learning/skill-history.js'
import type { SkillsHome } from './skills-home.js'
import { SkillUsage } from './usage.js'

/** How long after a start a session belongs to it. */
const AT_ONCE_MS = 2_000

type Places = Awaited<ReturnType<typeof skillRoots>>

/** A look that a start took. */
interface Started {
  readonly index: Promise<SkillIndex>
  readonly cwd: string
  readonly generation: number
  readonly startedMs: number
  readonly state: string
}

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
  #started: Started | null = null

  constructor(home: SkillsHome) {
    this.home = home
    this.lock = new SkillLock(join(home.directory, '.hub'))
    this.usage = new SkillUsage(join(home.directory, '.usage.json'), home.logger)
    this.records = new SkillRecords(join(home.directory, '.curator.json'))
    this.history = new SkillHistory(home.directory)
    this.#indexer = new SkillIndexer(new HeadCache(home.cacheFile, home.logger), home.os)
    this.#disabled = new Set(home.settings.disabled)
  }

  /** Names that are switched off. */
  get disabled(): ReadonlySet<string> {
    return this.#disabled
  }

  /** The skills for who works in `cwd`, as they are now. Never rejects. */
  async index(cwd: string): Promise<SkillIndex> {
    return this.#look(await this.#places(cwd))
  }

  /** The same as a process starts: the first session begins with it where it begins at once. Never rejects. */
  async atStart(cwd: string): Promise<SkillIndex> {
    const { generation, startedMs } = { generation: this.#generation, startedMs: this.home.clock.now() }
    const places = await this.#places(cwd)
    const index = this.#look(places)
    this.#started = { ...{ cwd, generation, startedMs, index }, state: stateOfRoots(places.roots) }
    return index
  }

  /**
   * Those that a session begins with. A start that goes on into a session looks once: what is written into a SKILL.md in between is seen by the
   * next session, a folder that comes or goes at once. Never rejects.
   */
  async ofNewSession(cwd: string): Promise<SkillIndex> {
    const started = this.#started
    this.#started = null
    const places = await this.#places(cwd)
    const isOfNow =
      started?.cwd === cwd &&
      started.generation === this.#generation &&
      this.home.clock.now() - started.startedMs < AT_ONCE_MS &&
      started.state === stateOfRoots(places.roots)
    return isOfNow ? started.index : this.#look(places)
  }

  #places(cwd: string): Promise<Places> {
    return skillRoots(this.home, cwd)
  }

  async #look({ roots, problems }: Places): Promise<SkillIndex> {
    const installed = this.home.isSafe ? { skills: [], problems: [] } : await this.lock.sound()
    const others = [...installed.skills, ...BUNDLED]
    const index = await this.#indexer.look({ roots, others, disabled: [...this.#disabled] })
    return { skills: index.skills, problems: [...problems, ...index.problems, ...installed.problems] }
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

/** Another one where a folder came or went directly in one of them. */
const stateOfRoots = (roots: Places['roots']) =>
  roots.map(({ folder }) => `${folder} ${statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0}`).join('\n')
