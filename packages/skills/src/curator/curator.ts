// Looks after the skills of the home: what was not used for long is stale, what an agent wrote has to prove itself, and nothing is deleted.
//
//   skill of an agent ── five runs, most of them no help ──▶ .archive, once the session is left
//        │                unused for archive_after_days ───▶ .archive
//        └─ five runs that it helped ─▶ kept
//   skill of a person ── unused for stale_after_days ─▶ stale: named, never moved
//   pinned ─▶ left alone;  alike ─▶ a proposal to merge them, which waits for the person
import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'
import { SKILL_FILE, type Skill } from '../format/skill.js'
import type { SkillWriter } from '../library/skill-writer.js'
import type { SkillLibrary } from '../skill-library.js'
import type { SkillUse } from '../usage.js'
import { proposeMerges } from './merge-proposals.js'
import { NO_RECORD, type SkillRecord } from './skill-records.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** In so many runs that came to an answer a skill of an agent has to prove itself, however often it was loaded in each. */
const TRIAL_RUNS = 5

/** How a skill of the home stands. */
type SkillState = 'pinned' | 'trial' | 'kept' | 'active' | 'stale'

/** A skill of the home, as the curator sees it. */
interface CuratedSkill {
  readonly name: string
  readonly state: SkillState
  readonly use: SkillUse
  readonly isSelfWritten: boolean
  /** Why it is to go into `.archive`; `null` where it stays. */
  readonly archive: string | null
}

/** What a run came to, or would. */
export interface CuratorRun {
  readonly stale: readonly string[]
  readonly archived: readonly { readonly name: string; readonly why: string }[]
  /** Ids of proposals to merge skills. */
  readonly proposed: readonly string[]
  /** What went wrong, a line each. */
  readonly problems: readonly string[]
}

/** Keeps the skills of a home in order. */
export class Curator {
  readonly #library: SkillLibrary
  readonly #writer: SkillWriter

  constructor(library: SkillLibrary, writer: SkillWriter) {
    this.#library = library
    this.#writer = writer
  }

  /** The skills of the home, by name. Never rejects. */
  async skills(): Promise<readonly CuratedSkill[]> {
    const { home, usage, records } = this.#library
    const { skills } = await this.#library.index(home.cwd)
    const uses = usage.all()
    const known = records.read().skills
    const own = [...skills.values()].filter(({ source }) => source === 'user')
    return Promise.all(
      own.map(async (skill) => {
        const isSelfWritten = await this.#library.isSelfWritten(skill)
        const record = { ...(known[skill.name] ?? NO_RECORD), isSelfWritten }
        const use = uses.get(skill.name) ?? { used: 0, lastUsedMs: 0, completed: 0, corrected: 0 }
        return this.#curated(skill.name, { record, use, sinceMs: record.sinceMs || (await writtenMs(skill)) })
      }),
    )
  }

  #curated(
    name: string,
    { record, use, sinceMs }: { readonly record: SkillRecord; readonly use: SkillUse; readonly sinceMs: number },
  ): CuratedSkill {
    const { clock, curator } = this.#library.home
    const idleDays = (clock.now() - Math.max(use.lastUsedMs, sinceMs)) / DAY_MS
    const { isSelfWritten, isPinned } = record
    const stands = { name, use, isSelfWritten }
    if (isPinned) return { ...stands, state: 'pinned', archive: null }
    const { completed } = use
    if (isSelfWritten && isNoHelp(use))
      return { ...stands, state: 'trial', archive: `it helped ${helpedIn(use)} of ${completed} times` }
    if (isSelfWritten && idleDays >= curator.archive_after_days)
      return { ...stands, state: 'stale', archive: `not used for ${Math.floor(idleDays)} days` }
    if (idleDays >= curator.stale_after_days) return { ...stands, state: 'stale', archive: null }
    if (!isSelfWritten) return { ...stands, state: 'active', archive: null }
    return { ...stands, state: completed >= TRIAL_RUNS ? 'kept' : 'trial', archive: null }
  }

  /** Archives what an agent wrote and was no help in the runs that it had to prove itself in. Asks no model. Never rejects. */
  async endTrials(): Promise<void> {
    const { home, usage, records } = this.#library
    // Most sessions end no trial: the skills are not looked at for that.
    if (!home.curator.enabled || records.read().isPaused || ![...usage.all().values()].some(isNoHelp)) return
    for (const { name, use, archive } of await this.skills()) {
      if (archive === null || !isNoHelp(use)) continue
      await this.archive(name, archive).catch((error: unknown) =>
        home.logger.warn('A skill could not be archived.', { skill: name, error: errorLine(error) }),
      )
    }
  }

  /** Whether it is time. The first look begins the count, so that nothing happens on the first day. */
  async isDue(): Promise<boolean> {
    const { home, records } = this.#library
    const { isPaused, lastRunMs } = records.read()
    if (!home.curator.enabled || isPaused) return false
    if (lastRunMs !== null) return home.clock.now() - lastRunMs >= home.curator.interval_hours * HOUR_MS
    await records.change(() => ({ lastRunMs: home.clock.now() }))
    return false
  }

  /** Puts the skills in order. With `isDry` nothing changes and no model is asked. Abort ends it. */
  async run({ isDry, signal }: { readonly isDry: boolean; readonly signal: AbortSignal }): Promise<CuratorRun> {
    const { records, home } = this.#library
    const skills = await this.skills()
    const problems: string[] = []
    const archived: { name: string; why: string }[] = []
    for (const { name, archive: why } of skills) {
      if (why === null) continue
      try {
        if (!isDry) await this.archive(name, why)
        archived.push({ name, why })
      } catch (error) {
        problems.push(errorLine(error))
      }
    }
    const stale = skills.filter(({ state, archive }) => state === 'stale' && archive === null).map(({ name }) => name)
    if (isDry) return { stale, archived, proposed: [], problems }
    await records.change(() => ({ lastRunMs: home.clock.now() }))
    const pinned = new Set(skills.filter(({ state }) => state === 'pinned').map(({ name }) => name))
    try {
      const proposed = await proposeMerges({ library: this.#library, writer: this.#writer, pinned, signal })
      return { stale, archived, proposed, problems }
    } catch (error) {
      signal.throwIfAborted()
      return {
        stale,
        archived,
        proposed: [],
        problems: [...problems, `Nobody looked for skills to merge: ${errorLine(error)}`],
      }
    }
  }

  /** Moves a skill of the home into `.archive`; `why` where it is not the person who wants it. Rejects with one line where that cannot be. */
  async archive(name: string, why: string | null = null): Promise<string> {
    const maker = {
      by: why === null ? 'person' : 'curator',
      sessionId: null,
      why: `archived${why === null ? '' : `: ${why}`}`,
    } as const
    const { kept } = await this.#writer.make({ action: 'delete', name }, this.#library.home.cwd, maker)
    return kept!
  }

  /** What lies in `.archive`, the newest of each name. */
  async archived(): Promise<ReadonlyMap<string, { readonly atMs: number; readonly folder: string }>> {
    const directory = join(this.#library.home.directory, '.archive')
    const names: readonly string[] = await readdir(directory).catch(() => [])
    const found = new Map<string, { atMs: number; folder: string }>()
    for (const entry of names) {
      const [, name, at] = /^([a-z0-9-]+)-(\d+)$/.exec(entry) ?? []
      if (name === undefined || (found.get(name)?.atMs ?? -1) >= Number(at)) continue
      found.set(name, { atMs: Number(at), folder: join(directory, entry) })
    }
    return found
  }

  /** Brings a skill back; from then on it is the person's own. @throws HermesError `skills.unknown`, `skills.bad_skill` */
  async restore(name: string): Promise<string> {
    const kept = (await this.archived()).get(name)
    if (!kept)
      throw new HermesError(`${name.slice(0, 64)} is not archived. What is: hermes curator list-archived`, {
        code: 'skills.unknown',
      })
    const { directory, clock, onChange } = this.#library.home
    const folder = join(directory, name)
    if ((await readdir(folder).catch(() => [])).length > 0)
      throw new HermesError(`${folder} is there. Move it away first.`, { code: 'skills.bad_skill' })
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 })
    await rename(kept.folder, folder)
    await this.#library.records.changeSkill(name, { isSelfWritten: false, sinceMs: clock.now() })
    this.#library.reload()
    onChange?.({ action: 'restore', skill: name, by: 'person', sessionId: null })
    return folder
  }

  /** @throws HermesError `skills.unknown` for what is no skill of the home. */
  async pin(name: string, isPinned: boolean): Promise<void> {
    const skill = this.#library.require(await this.#library.index(this.#library.home.cwd), name)
    if (skill.source !== 'user')
      throw new HermesError(`${name} is a ${skill.source} skill; the curator touches only those of the home.`, {
        code: 'skills.not_own',
      })
    await this.#library.records.changeSkill(skill.name, { isPinned })
  }

  async pause(isPaused: boolean): Promise<void> {
    await this.#library.records.change(() => ({ isPaused }))
  }
}

const helpedIn = ({ completed, corrected }: SkillUse) => Math.max(0, completed - corrected)

const isNoHelp = (use: SkillUse) => use.completed >= TRIAL_RUNS && helpedIn(use) * 2 < use.completed

async function writtenMs({ folder }: Skill): Promise<number> {
  return (await stat(join(folder!, SKILL_FILE)).catch(() => null))?.mtimeMs ?? 0
}
