import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { errorLine, isJsonObject, type Logger } from '@hermes/contracts'
import { withLock, writePrivate } from '@hermes/files'

/** How often a skill was loaded, and when last, in Unix milliseconds. */
export interface SkillUse {
  readonly used: number
  readonly lastUsedMs: number
}

/** Counts how often skills are loaded, in a file of the home. A count that cannot be written is lost, nothing else. */
export class SkillUsage {
  readonly #file: string
  readonly #logger: Logger
  readonly #pending = new Map<string, { count: number; atMs: number }>()

  constructor(file: string, logger: Logger) {
    this.#file = file
    this.#logger = logger
  }

  /** Notes a use; {@link SkillUsage.flush} writes it. */
  note(name: string, atMs: number): void {
    const { count = 0 } = this.#pending.get(name) ?? {}
    this.#pending.set(name, { count: count + 1, atMs })
  }

  /** What was counted, by name, in this process too. */
  all(): ReadonlyMap<string, SkillUse> {
    const uses = readUses(this.#file)
    for (const [name, { count, atMs }] of this.#pending)
      uses.set(name, { used: (uses.get(name)?.used ?? 0) + count, lastUsedMs: atMs })
    return uses
  }

  /** Writes what was noted. Never rejects. */
  async flush(): Promise<void> {
    if (this.#pending.size === 0) return
    try {
      await withLock(`${this.#file}.lock`, { busy: `Another process writes ${this.#file}.` }, async () => {
        const uses = this.all()
        this.#pending.clear()
        await writePrivate(this.#file, `${JSON.stringify(Object.fromEntries(uses), null, 2)}\n`)
      })
    } catch (error) {
      this.#logger.warn('The use of skills could not be counted.', { error: errorLine(error) })
    }
  }

  /** Forgets a skill that is gone, or moves its count to another name. */
  async forget(name: string): Promise<void> {
    const text = await readFile(this.#file, 'utf8').catch(() => null)
    if (text === null || !text.includes(JSON.stringify(name))) return
    await withLock(`${this.#file}.lock`, { busy: `Another process writes ${this.#file}.` }, async () => {
      const uses = readUses(this.#file)
      uses.delete(name)
      await writePrivate(this.#file, `${JSON.stringify(Object.fromEntries(uses), null, 2)}\n`)
    })
  }
}

function readUses(file: string): Map<string, SkillUse> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return new Map(isJsonObject(value) ? Object.entries(value as unknown as Record<string, SkillUse>) : [])
  } catch {
    return new Map()
  }
}
