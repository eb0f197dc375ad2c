import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Clock, systemClock } from '@hermes/contracts'
import { withLock } from '@hermes/files'
import { applyChanges, type MemoryChange } from './changes.js'
import { joinEntries, parseEntries } from './entries.js'
import { mergeHandEdit, mergeLateWrite } from './hand-edits.js'
import { type MemoryRecord, readHistory, writeHistory } from './history.js'
import {
  dropReplaced,
  finishReplacing,
  MEMORY_TARGETS,
  type MemoryTarget,
  type ReplacedFile,
  readMemoryFile,
  replacedFiles,
  replaceMemoryFile,
  untilWritten,
  writtenAtMs,
} from './memory-files.js'
import { loadChecks, objectionTo } from './objection.js'
import { BETWEEN, BY_HAND, isOwn, markUndone, takeBack } from './take-back.js'
import { type Marks, markOf, readMarks, withMarks, writeMarks } from './unconfirmed.js'

/** A store as it is. */
export interface MemoryState {
  readonly target: MemoryTarget
  readonly entries: readonly string[]
  /** Characters that the entries take together. */
  readonly chars: number
  readonly limit: number
  /** Entries that a tainted session wrote and no person has confirmed since, each with what had tainted it. */
  readonly unconfirmed: readonly UnconfirmedEntry[]
}

/** See {@link MemoryState.unconfirmed}. */
export interface UnconfirmedEntry {
  readonly entry: string
  /** By names for a person. */
  readonly because: readonly string[]
}

/** What an attempt to change a store came to. */
type MemoryOutcome =
  | { readonly type: 'changed' | 'unchanged'; readonly state: MemoryState }
  /** Nothing was written; one line says what to do instead. `isFull` where it would not have fitted. */
  | { readonly type: 'refused'; readonly reason: string; readonly isFull: boolean; readonly state: MemoryState }

/** Two small stores that an agent keeps across sessions. */
export interface Memory {
  /** @throws HermesError `memory.unreadable` */
  read(target: MemoryTarget): Promise<MemoryState>
  /**
   * All changes or none. Safe beside other processes and people with editors: the file is read, changed and written under a lock. What is
   * new is unconfirmed where `taintedBy` names what had tainted the session; default nothing.
   * @throws HermesError `memory.unreadable`, `memory.not_writable`
   */
  change(
    target: MemoryTarget,
    changes: readonly MemoryChange[],
    origin: string,
    taintedBy?: readonly string[],
  ): Promise<MemoryOutcome>
  /** What `change` would refuse, without writing anything; `null` where it would be made. @throws HermesError `memory.unreadable` */
  refusalOf(
    target: MemoryTarget,
    changes: readonly MemoryChange[],
  ): Promise<(MemoryOutcome & { readonly type: 'refused' }) | null>
  /** Takes it that a person stands by these entries of either store. @throws HermesError `memory.unreadable`, `files.not_writable` */
  confirm(entries: readonly string[]): Promise<void>
  /** The changes made here, oldest first; at most a hundred. */
  history(): Promise<readonly MemoryRecord[]>
  /**
   * Takes the newest change that was made here back and leaves alone what was written by hand before or since; `null` when there is none,
   * `edited` when what it wrote was changed by hand: then nothing is written.
   * @throws HermesError `memory.unreadable`, `memory.not_writable`
   */
  undo(): Promise<{ readonly type: 'undone' | 'edited'; readonly record: MemoryRecord } | null>
}

/** Where the stores are and what they may hold. */
export interface MemoryOptions {
  /** Holds MEMORY.md, USER.md and the history; made when missing. */
  readonly directory: string
  /** Characters of each store. Default 2,200 for `memory`, 1,375 for `user`. */
  readonly limits?: Partial<Readonly<Record<MemoryTarget, number>>>
  /** Takes registered secrets out of a text; what it changes is refused. Default: there are none. */
  readonly redact?: (text: string) => string
  readonly clock?: Clock
}

const FILES: Readonly<Record<MemoryTarget, string>> = { memory: 'MEMORY.md', user: 'USER.md' }
const LIMITS: Readonly<Record<MemoryTarget, number>> = { memory: 2_200, user: 1_375 }

/** An editor empties a file before it writes it anew. */
const LOOK_EVERY_MS = 20
const MAX_LOOKS = 5
const MAX_TRIES = 20

/** Opens the stores of a directory. Touches nothing before the first call. */
export function openMemory(options: MemoryOptions): Memory {
  return new FileMemory(options)
}

type NewRecord = Omit<MemoryRecord, 'atMs'>

function isBeingSaved(found: string, byHand: readonly NewRecord[]): boolean {
  return found === '' && byHand.length > 0
}

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

  confirm(entries: readonly string[]): Promise<void> {
    return this.#locked(async () => this.#mark(entries, []))
  }

  async refusalOf(target: MemoryTarget, changes: readonly MemoryChange[]) {
    const { entries } = await this.read(target)
    const applied = applyChanges(entries, changes, await this.#rules(target))
    return applied.type === 'refused' ? { ...applied, state: await this.#state(target, entries) } : null
  }

  async #rules(target: MemoryTarget) {
    const checks = await loadChecks(this.#options.redact ?? ((text) => text))
    return { limit: this.#limit(target), objection: (content: string) => objectionTo(content, checks) }
  }

  change(
    target: MemoryTarget,
    changes: readonly MemoryChange[],
    origin: string,
    taintedBy: readonly string[] = [],
  ): Promise<MemoryOutcome> {
    return this.#locked(async () => {
      const rules = await this.#rules(target)
      await this.#gatherLateWrites(target)
      for (let looks = 1; ; looks++) {
        const found = await readMemoryFile(this.#file(target))
        const { text, byHand } = await this.#withHandEdits(target, found)
        if (isBeingSaved(found, byHand) && looks < MAX_LOOKS) {
          await wait(LOOK_EVERY_MS)
          continue
        }
        const entries = parseEntries(text)
        const applied = applyChanges(entries, changes, rules)
        if (applied.type === 'refused') return { ...applied, state: await this.#state(target, entries) }
        if (joinEntries(parseEntries(found)) === joinEntries(applied.entries))
          return { type: 'unchanged', state: await this.#state(target, applied.entries) }
        const after = `${joinEntries(applied.entries)}\n`
        const records = [...byHand, { target, origin, before: text, after }]
        // Before the entry is there, so that no session ever sees it without its mark.
        await this.#mark(
          applied.entries.filter((entry) => !entries.includes(entry)),
          taintedBy,
        )
        // Whoever writes without end is gathered afterwards.
        if ((await this.#replace(looks < MAX_TRIES ? found : null, after, records)) === 'done')
          return { type: 'changed', state: await this.read(target) }
      }
    })
  }

  /**
   * Replaces the file; only what is in the file counts as known, so a try that came to nothing leaves no trace.
   * Then waits for those who are still writing into what was replaced.
   */
  async #replace(expected: string | null, after: string, records: readonly NewRecord[]): Promise<'done' | 'changed'> {
    const { target } = records.at(-1)!
    const file = this.#file(target)
    if ((await replaceMemoryFile(file, after, expected)) === 'changed') return 'changed'
    await this.#note(...records)
    await untilWritten(file)
    await this.#gatherLateWrites(target)
    return 'done'
  }

  /** Brings in what was written into files after they were replaced; what it does not come to is left for the next change. */
  async #gatherLateWrites(target: MemoryTarget): Promise<void> {
    const file = this.#file(target)
    await finishReplacing(file)
    for (let tries = 1; tries < MAX_TRIES; tries++) {
      const kept = await replacedFiles(file)
      const records = await this.#recordsOf(target)
      const late = await this.#lateWrite(kept, records)
      if (!late) return dropReplaced(kept)
      const found = await readMemoryFile(file)
      const { text, byHand } = await this.#withHandEdits(target, found)
      const entries = mergeLateWrite(parseEntries(text), late.text, { records, savedAtMs: late.savedAtMs })
      const after = `${joinEntries(entries)}\n`
      const isThere = joinEntries(parseEntries(found)) === joinEntries(entries)
      if (!isThere && (await replaceMemoryFile(file, after, found)) === 'changed') continue
      await this.#note(...byHand, { target, origin: BETWEEN, before: late.text, after: isThere ? found : after })
    }
  }

  /** The first text that no record knows; what is no text counts for nothing. */
  async #lateWrite(
    kept: readonly ReplacedFile[],
    records: readonly MemoryRecord[],
  ): Promise<{ readonly text: string; readonly savedAtMs: number } | null> {
    if (records.length === 0) return null
    for (const { path, writtenAtMs } of kept) {
      const text = await readMemoryFile(path).catch(() => null)
      if (text !== null && !records.some(({ before, after }) => before === text || after === text))
        return { text, savedAtMs: writtenAtMs }
    }
    return null
  }

  /** The text with what an editor that was open too long took away, and the record of what was done by hand. */
  async #withHandEdits(
    target: MemoryTarget,
    text: string,
  ): Promise<{ readonly text: string; readonly byHand: readonly NewRecord[] }> {
    const records = await this.#recordsOf(target)
    const newest = records.at(-1)
    if (!newest || newest.after === text) return { text, byHand: [] }
    const savedAtMs = (await writtenAtMs(this.#file(target))) ?? this.#clock.now()
    const { entries, restored } = mergeHandEdit(text, records, savedAtMs)
    const byHand = { target, origin: BY_HAND, before: newest.after, after: text }
    if (restored.length === 0) return { text, byHand: [byHand] }
    const merged = `${joinEntries(entries)}\n`
    return { text: merged, byHand: [byHand, { target, origin: BETWEEN, before: text, after: merged }] }
  }

  async #recordsOf(target: MemoryTarget): Promise<readonly MemoryRecord[]> {
    return (await readHistory(this.#historyFile)).filter((record) => record.target === target)
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
      const newest = (await this.history()).findLast(isOwn)
      if (!newest) return null
      await this.#gatherLateWrites(newest.target)
      const file = this.#file(newest.target)
      for (let tries = 1; ; tries++) {
        const records = await this.history()
        const index = records.findLastIndex(isOwn)
        const record = records[index]!
        const found = await readMemoryFile(file)
        const text = takeBack(record, found)
        if (text === null) return { type: 'edited', record }
        if ((await replaceMemoryFile(file, text, tries < MAX_TRIES ? found : null)) === 'changed') continue
        const change = { atMs: this.#clock.now(), before: found, after: text }
        await writeHistory(this.#historyFile, markUndone(records, index, change))
        await untilWritten(file)
        await this.#gatherLateWrites(record.target)
        return { type: 'undone', record }
      }
    })
  }

  async #state(target: MemoryTarget, entries: readonly string[]): Promise<MemoryState> {
    const marks = await this.#marks()
    const unconfirmed = entries.flatMap((entry) => {
      const because = markOf(marks, entry)
      return because ? [{ entry, because }] : []
    })
    return { target, entries, chars: joinEntries(entries).length, limit: this.#limit(target), unconfirmed }
  }

  #marks(): Promise<Marks> {
    return readMarks(this.#marksFile, async () => {
      const texts = await Promise.all(MEMORY_TARGETS.map((target) => readMemoryFile(this.#file(target))))
      return texts.flatMap(parseEntries)
    })
  }

  async #mark(entries: readonly string[], because: readonly string[]): Promise<void> {
    const marks = await this.#marks()
    if (because.length === 0 && !entries.some((entry) => markOf(marks, entry))) return
    await writeMarks(this.#marksFile, withMarks(marks, entries, because))
  }

  #limit(target: MemoryTarget): number {
    return this.#options.limits?.[target] ?? LIMITS[target]
  }

  #file(target: MemoryTarget): string {
    return join(this.#options.directory, FILES[target])
  }

  get #marksFile(): string {
    return join(this.#options.directory, '.unconfirmed.json')
  }

  get #historyFile(): string {
    return join(this.#options.directory, '.history.jsonl')
  }

  /** One after the other in this process, and alone among others. */
  #locked<T>(work: () => Promise<T>): Promise<T> {
    const { directory } = this.#options
    const busy = `Other processes keep ${directory} locked; try again.`
    const done = this.#last.then(() => withLock(join(directory, '.lock'), { busy }, work))
    this.#last = done.catch(() => undefined)
    return done
  }
}
