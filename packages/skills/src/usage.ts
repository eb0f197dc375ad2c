import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { errorLine, isJsonObject, type Logger } from '@hermes/contracts'
import { withLock, writePrivate } from '@hermes/files'
import { stateAt } from './index/find-skill-folders.js'

/** What came of a skill so far. */
export interface SkillUse {
  /** How often it was loaded. */
  readonly used: number
  /** Unix milliseconds; 0 for never. */
  readonly lastUsedMs: number
  /** Turns that it was loaded in, and that came to an answer. */
  readonly completed: number
  /** Those of them that the person corrected afterwards. */
  readonly corrected: number
}

const NONE: SkillUse = { used: 0, lastUsedMs: 0, completed: 0, corrected: 0 }

/** Counts what comes of skills, in a file of the home. A count that cannot be written is lost, nothing else. */
export class SkillUsage {
  readonly #file: string
  readonly #logger: Logger
  #pending: ReadonlyMap<string, SkillUse> = new Map()
  /** What the file will say once it is written, while that is under way: whether it does already, nobody can tell. */
  #written: ReadonlyMap<string, SkillUse> | null = null

  constructor(file: string, logger: Logger) {
    this.#file = file
    this.#logger = logger
  }

  /** Notes a use; {@link SkillUsage.flush} writes it. */
  note(name: string, atMs: number): void {
    this.#add(name, { ...NONE, used: 1, lastUsedMs: atMs })
  }

  /** Notes what came of a turn that had it. */
  noteOutcome(name: string, outcome: 'completed' | 'corrected'): void {
    this.#add(name, { ...NONE, [outcome]: 1 })
  }

  #add(name: string, use: SkillUse): void {
    this.#pending = added(this.#pending, [[name, use]])
  }

  /** What was counted, by name, in this process too. */
  all(): ReadonlyMap<string, SkillUse> {
    return added(this.#written ?? readUses(this.#file), this.#pending)
  }

  /** What tells that nothing was counted since; `null` while something waits to be written. Never throws. */
  state(): string | null {
    if (this.#pending.size > 0 || this.#written !== null) return null
    return stateAt(this.#file)
  }

  /** Writes what was noted. Never rejects. */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return
    try {
      await withLock(`${this.#file}.lock`, { busy: `Another process writes ${this.#file}.` }, async () => {
        this.#written = added(readUses(this.#file), this.#pending)
        this.#pending = new Map()
        await writePrivate(this.#file, toText(this.#written))
      })
    } catch (error) {
      this.#logger.warn('The use of skills could not be counted.', { error: errorLine(error) })
    } finally {
      this.#written = null
    }
  }

  /** Forgets a skill that is gone. */
  async forget(name: string): Promise<void> {
    this.#pending = new Map([...this.#pending].filter(([known]) => known !== name))
    const text = await readFile(this.#file, 'utf8').catch(() => null)
    if (text === null || !text.includes(JSON.stringify(name))) return
    await withLock(`${this.#file}.lock`, { busy: `Another process writes ${this.#file}.` }, async () => {
      const uses = readUses(this.#file)
      uses.delete(name)
      await writePrivate(this.#file, toText(uses))
    })
  }
}

const toText = (uses: ReadonlyMap<string, SkillUse>) => `${JSON.stringify(Object.fromEntries(uses), null, 2)}\n`

function added(
  uses: ReadonlyMap<string, SkillUse>,
  more: Iterable<readonly [string, SkillUse]>,
): ReadonlyMap<string, SkillUse> {
  const all = new Map(uses)
  for (const [name, use] of more) all.set(name, sum(all.get(name) ?? NONE, use))
  return all
}

function sum(left: SkillUse, right: SkillUse): SkillUse {
  return {
    used: left.used + right.used,
    lastUsedMs: Math.max(left.lastUsedMs, right.lastUsedMs),
    completed: left.completed + right.completed,
    corrected: left.corrected + right.corrected,
  }
}

function readUses(file: string): Map<string, SkillUse> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return new Map(isJsonObject(value) ? Object.entries(value).map(([name, use]) => [name, toUse(use)]) : [])
  } catch {
    return new Map()
  }
}

/** The file may be older, damaged, or edited by hand. */
function toUse(value: unknown): SkillUse {
  const count = (key: keyof SkillUse) => {
    const number = isJsonObject(value) ? value[key] : 0
    return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : 0
  }
  return {
    used: count('used'),
    lastUsedMs: count('lastUsedMs'),
    completed: count('completed'),
    corrected: count('corrected'),
  }
}
