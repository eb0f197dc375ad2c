import { join } from 'node:path'
import { type Clock, systemClock } from '@hermes/contracts'
import { applyChanges, type MemoryChange } from './changes.js'
import { joinEntries, parseEntries } from './entries.js'
import { mergeHandEdit } from './hand-edits.js'
import { type MemoryRecord, readHistory, writeHistory } from './history.js'
import { readMemoryFile, replaceMemoryFile, writtenAtMs } from './memory-files.js'
import { loadChecks, objectionTo } from './objection.js'
import { BETWEEN, BY_HAND, isOwn, markUndone, takeBack } from './take-back.js'
import type { MemoryTarget } from './target.js'

/** A store as it is. */
export interface MemoryState {
  readonly target: MemoryTarget
  readonly entries: readonly string[]
  /** Characters that the entries take together. */
  readonly chars: number
  readonly limit: number
}

/** What an attempt to change a store came to. */
export type MemoryOutcome =
  | { readonly type: 'changed' | 'unchanged'; readonly state: MemoryState }
  /** Nothing was written; one line says what to do instead. */
  | { readonly type: 'refused'; readonly reason: string; readonly state: MemoryState }

/** Two small stores that an agent keeps across sessions. */
export interface Memory {
  /** @throws HermesError `memory.unreadable` */
  read(target: MemoryTarget): Promise<MemoryState>
  /**
   * All changes or none. Safe beside other processes and people with editors: the file is read, changed and written under a lock.
   * @throws HermesError `memory.unreadable`, `memory.not_writable`
   */
  change(target: MemoryTarget, changes: readonly MemoryChange[], origin: string): Promise<MemoryOutcome>
  /** The changes made here, oldest first; at most a hundred. */
  history(): Promise<readonly MemoryRecord[]>
  /**
   * Takes the newest change that was made here back and leaves alone what was written by hand before or since; `null` when there is none,
   * `edited` when what it wrote was changed by hand: then nothing is written.
   * @throws HermesError `memory.unreadable`, `memory.not_writable`
   */
  undo(): Promise<{ readonly type: 'undone' | 'edited'; readonly record: MemoryRecord } | null>
}

/** Takes a lock on a file that is there for nothing else; resolves with how to release it. */
export type TakeLock = (file: string) => Promise<() => void>

/** Where the stores are and what they may hold. */
export interface MemoryOptions {
  /** Holds MEMORY.md, USER.md and the history; made when missing. */
  readonly directory: string
  /** Characters of each store. Default 2,200 for `memory`, 1,375 for `user`. */
  readonly limits?: Partial<Readonly<Record<MemoryTarget, number>>>
  /** Between processes. Default: changes are only kept apart within this process. */
  readonly lock?: TakeLock
  /** Takes registered secrets out of a text; what it changes is refused. Default: there are none. */
  readonly redact?: (text: string) => string
  readonly clock?: Clock
}

const FILES: Readonly<Record<MemoryTarget, string>> = { memory: 'MEMORY.md', user: 'USER.md' }
const LIMITS: Readonly<Record<MemoryTarget, number>> = { memory: 2_200, user: 1_375 }

/** Opens the stores of a directory. Touches nothing before the first call. */
export function openMemory(options: MemoryOptions): Memory {
  return new FileMemory(options)
}

type NewRecord = Omit<MemoryRecord, 'atMs'>

class FileMemory implements Memory {
  readonly #options: MemoryOptions
  readonly #clock: Clock
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: MemoryOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async read(target: MemoryTarget): Promise<MemoryState> {
    return this.#state(target, parseEntries(await readMemoryFile(this.#file(target))))
  }

  change(target: MemoryTarget, changes: readonly MemoryChange[], origin: string): Promise<MemoryOutcome> {
    return this.#locked(async () => {
      const checks = await loadChecks(this.#options.redact ?? ((text) => text))
      const rules = { limit: this.#limit(target), objection: (content: string) => objectionTo(content, checks) }
      const file = this.#file(target)
      let expected = await readMemoryFile(file)
      let found = expected
      let type: 'changed' | 'unchanged' = 'unchanged'
      for (;;) {
        const { text, byHand } = await this.#withHandEdits(target, found)
        const entries = parseEntries(text)
        const applied = applyChanges(entries, changes, rules)
        if (applied.type === 'refused') return { ...applied, state: this.#state(target, entries) }
        const after = `${joinEntries(applied.entries)}\n`
        const state = this.#state(target, applied.entries)
        const isThere = joinEntries(parseEntries(expected)) === joinEntries(applied.entries)
        if (isThere && type === 'unchanged') return { type, state }
        const replaced = isThere ? { type: 'done' as const } : await replaceMemoryFile(file, after, expected)
        // Only what is in the file counts as known: a try that came to nothing leaves no trace. One that was overtaken was there for a moment.
        const record = { target, origin, before: text, after: isThere ? expected : after }
        if (replaced.type !== 'changed')
          await this.#note(...byHand, replaced.type === 'done' ? record : { ...record, origin: BETWEEN })
        if (replaced.type === 'done') return { type: 'changed', state }
        if (replaced.type === 'overtaken') type = 'changed'
        expected = replaced.type === 'overtaken' ? after : await readMemoryFile(file)
        found = replaced.type === 'overtaken' ? replaced.text : expected
      }
    })
  }

  /** The text with what an editor that was open too long took away, and the record of what was done by hand. */
  async #withHandEdits(
    target: MemoryTarget,
    text: string,
  ): Promise<{ readonly text: string; readonly byHand: readonly NewRecord[] }> {
    const records = (await readHistory(this.#historyFile)).filter((record) => record.target === target)
    const newest = records.at(-1)
    if (!newest || newest.after === text) return { text, byHand: [] }
    const savedAtMs = (await writtenAtMs(this.#file(target))) ?? this.#clock.now()
    const { entries, restored } = mergeHandEdit(text, records, savedAtMs)
    const byHand = { target, origin: BY_HAND, before: newest.after, after: text }
    if (restored.length === 0) return { text, byHand: [byHand] }
    const merged = `${joinEntries(entries)}\n`
    return { text: merged, byHand: [byHand, { target, origin: BETWEEN, before: text, after: merged }] }
  }

  async #note(...records: readonly NewRecord[]): Promise<void> {
    const atMs = this.#clock.now()
    const known = await readHistory(this.#historyFile)
    await writeHistory(this.#historyFile, [...known, ...records.map((record) => ({ atMs, ...record }))])
  }

  history(): Promise<readonly MemoryRecord[]> {
    return readHistory(this.#historyFile)
  }

  undo(): ReturnType<Memory['undo']> {
    return this.#locked(async () => {
      const records = await readHistory(this.#historyFile)
      const index = records.findLastIndex(isOwn)
      const record = records[index]
      if (!record) return null
      const file = this.#file(record.target)
      let expected = await readMemoryFile(file)
      for (let found = expected; ; ) {
        const text = takeBack(record, found)
        if (text === null && found === expected) return { type: 'edited', record }
        // What somebody was still writing while the file was replaced goes back as they left it.
        const replaced = await replaceMemoryFile(file, text ?? found, expected)
        if (replaced.type === 'done') {
          if (text === null) return { type: 'edited', record }
          const change = { atMs: this.#clock.now(), before: found, after: text }
          await writeHistory(this.#historyFile, markUndone(records, index, change))
          return { type: 'undone', record }
        }
        expected = replaced.type === 'overtaken' ? (text ?? found) : await readMemoryFile(file)
        found = replaced.type === 'overtaken' ? replaced.text : expected
      }
    })
  }

  #state(target: MemoryTarget, entries: readonly string[]): MemoryState {
    return { target, entries, chars: joinEntries(entries).length, limit: this.#limit(target) }
  }

  #limit(target: MemoryTarget): number {
    return this.#options.limits?.[target] ?? LIMITS[target]
  }

  #file(target: MemoryTarget): string {
    return join(this.#options.directory, FILES[target])
  }

  get #historyFile(): string {
    return join(this.#options.directory, '.history.jsonl')
  }

  /** One after the other in this process, and alone among others. */
  #locked<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      const release = await this.#options.lock?.(join(this.#options.directory, '.lock'))
      try {
        return await work()
      } finally {
        release?.()
      }
    })
    this.#last = done.catch(() => undefined)
    return done
  }
}
