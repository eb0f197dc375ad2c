import { readFileSync } from 'node:fs'
import { isJsonObject, type JsonObject } from '@hermes/contracts'
import { withLock, writePrivate } from '@hermes/files'

/** What is known of a skill of the home beside what it says. */
export interface SkillRecord {
  /** An agent wrote it by itself: it is on trial until it has proved itself. */
  readonly isSelfWritten: boolean
  /** SHA-256 of the SKILL.md that an agent wrote last: one that is another by now is the person's own. `null` where nobody knows. */
  readonly sha256: string | null
  /** Unix milliseconds of when it was made. */
  readonly sinceMs: number
  /** The curator leaves it alone. */
  readonly isPinned: boolean
}

/** What the curator keeps between its runs. */
interface CuratorState {
  readonly isPaused: boolean
  /** Unix milliseconds; `null` before the first look. */
  readonly lastRunMs: number | null
  readonly skills: Readonly<Record<string, SkillRecord>>
  /** Learnings that have become a pitfall of a skill, by their numbers. */
  readonly pitfalls: readonly number[]
  /** Bytes that skills and all tools gave to models. */
  readonly skillBytes: number
  readonly resultBytes: number
}

/** What is known of a skill that nothing was noted of. */
export const NO_RECORD: SkillRecord = { isSelfWritten: false, sha256: null, sinceMs: 0, isPinned: false }

const EMPTY: CuratorState = {
  isPaused: false,
  lastRunMs: null,
  skills: {},
  pitfalls: [],
  skillBytes: 0,
  resultBytes: 0,
}

/** Keeps the curator's state in a file of the home. */
export class SkillRecords {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  /** As it is now; what is damaged counts as never written. */
  read(): CuratorState {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file, 'utf8'))
      return isJsonObject(value) ? toState(value) : EMPTY
    } catch {
      return EMPTY
    }
  }

  /** @throws HermesError `files.*` when the file cannot be written. */
  async change(make: (state: CuratorState) => Partial<CuratorState>): Promise<void> {
    await withLock(`${this.#file}.lock`, { busy: `Another process writes ${this.#file}.` }, async () => {
      const state = this.read()
      await writePrivate(this.#file, `${JSON.stringify({ ...state, ...make(state) }, null, 2)}\n`)
    })
  }

  /** Notes facts of one skill; `null` forgets it. @throws HermesError `files.*` */
  async changeSkill(name: string, change: Partial<SkillRecord> | null): Promise<void> {
    await this.change(({ skills }) => {
      const { [name]: known = NO_RECORD, ...others } = skills
      return { skills: change === null ? others : { ...others, [name]: { ...known, ...change } } }
    })
  }
}

function toState(value: JsonObject): CuratorState {
  const { isPaused, lastRunMs, skills, pitfalls } = value
  return {
    isPaused: isPaused === true,
    lastRunMs: typeof lastRunMs === 'number' ? lastRunMs : null,
    skills: isJsonObject(skills)
      ? Object.fromEntries(Object.entries(skills).map(([name, one]) => [name, toRecord(one)]))
      : {},
    pitfalls: Array.isArray(pitfalls) ? pitfalls.filter((id) => typeof id === 'number') : [],
    skillBytes: countOf(value['skillBytes']),
    resultBytes: countOf(value['resultBytes']),
  }
}

function toRecord(value: unknown): SkillRecord {
  const { isSelfWritten, sha256, sinceMs, isPinned } = isJsonObject(value) ? value : ({} as JsonObject)
  return {
    isSelfWritten: isSelfWritten === true,
    sha256: typeof sha256 === 'string' ? sha256 : null,
    sinceMs: countOf(sinceMs),
    isPinned: isPinned === true,
  }
}

const countOf = (value: unknown) => (typeof value === 'number' && value > 0 ? value : 0)
