// Undoing what we did and keeping what others did is a three-way question for each path. The time since the checkpoint is cut into
// spans of our work, each with the state before and after it. Newest first, each span is taken back:
//
//   as our work left it      ─▶ as it was before
//   as it was before already ─▶ stays
//   anything else            ─▶ edited since: both changes in one text, or a conflict that is named and left alone

import { parentName } from '../objects/file-name.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { PackWriter } from '../objects/pack-writer.js'
import type { Slices } from '../objects/slices.js'
import { hashOf, type TreeEntry } from '../objects/tree.js'
import type { Checkpoint } from '../records/record.js'
import { differences, entryAt, isSameEntry } from '../scan/compare.js'
import type { mergeText } from './merge-text.js'

/** What is asked for. */
interface PlanOptions {
  readonly store: ObjectStore
  /** Takes merged texts. */
  readonly writer: PackWriter
  readonly target: Checkpoint
  /** All of the workspace, oldest first. */
  readonly records: readonly Checkpoint[]
  /** The state now. */
  readonly now: string
  /** Only these paths and what is below them. Empty: everything. */
  readonly paths: readonly string[]
  /** The exact state of the checkpoint, whoever changed it since. */
  readonly force: boolean
  /** The run that is under way: what changed since its checkpoint is its own doing. */
  readonly liveRunId: string | null
  readonly merge: typeof mergeText
  readonly slices: Slices
}

/** A path and what is to be done there. */
export interface PlannedChange {
  readonly from: TreeEntry | undefined
  readonly to: TreeEntry | undefined
}

/** What a restore would do. */
export interface RestorePlan {
  readonly changes: ReadonlyMap<string, PlannedChange>
  /** Paths that get our change taken back and keep an edit. */
  readonly merged: readonly string[]
  /** Paths left alone because they were edited since. */
  readonly conflicts: readonly string[]
  /** Paths that differ from the checkpoint because somebody else changed them; they stay. */
  readonly edited: readonly string[]
  /** Paths that were there and were never kept: too large, or excluded. */
  readonly unavailable: readonly string[]
}

/** Works out a restore; writes nothing but merged texts into the store. */
export async function planRestore(options: PlanOptions): Promise<RestorePlan> {
  const planner = new Planner(options)
  if (options.force) await planner.takeBack({ before: options.target.tree, after: options.now })
  else for (const span of spansSince(options).reverse()) await planner.takeBack(span)
  return planner.plan()
}

/** A stretch of our work; `after` is `null` when we were killed in it. */
interface Span {
  readonly before: string
  readonly after: string | null
}

/** Checkpoints that lie within a span are part of it. */
function spansSince({ target, records, now, liveRunId }: PlanOptions): Span[] {
  const spans: Span[] = []
  let next = target.number
  for (const record of records) {
    if (record.number < next) continue
    const isLive = record.after === null && record.runId !== null && record.runId === liveRunId
    spans.push({ before: record.tree, after: isLive ? now : (record.after?.tree ?? null) })
    next = isLive ? Number.POSITIVE_INFINITY : (record.after?.nextNumber ?? record.number + 1)
  }
  return spans
}

class Planner {
  readonly #options: PlanOptions
  /** What each path shall be, as far as it was looked at. */
  readonly #wanted = new Map<string, TreeEntry | undefined>()
  readonly #merged = new Set<string>()
  readonly #conflicts = new Set<string>()
  readonly #unavailable = new Set<string>()
  /** Merged texts, which the store does not have yet. */
  readonly #texts = new Map<string, Buffer>()

  constructor(options: PlanOptions) {
    this.#options = options
  }

  async takeBack(span: Span): Promise<void> {
    const { store, now, slices } = this.#options
    const found = await differences(store, { before: span.before, after: span.after ?? now }, slices)
    for (const [path, { before, after }] of found) {
      if (slices.isOver()) await slices.pause()
      if (!this.#isRequested(path)) continue
      const current = this.#wanted.has(path) ? this.#wanted.get(path) : this.#now(path)
      if (isSameEntry(current, before)) continue
      if (before?.type === 'skipped') this.#notKept(path, current)
      else if (span.after !== null && isSameEntry(current, after)) this.#set(path, before)
      else if (span.after === null) this.#takeBackUnknown(path, before, current)
      else this.#reconcile(path, { before, after, current })
    }
  }

  async plan(): Promise<RestorePlan> {
    const changes = new Map<string, PlannedChange>()
    for (const [path, to] of this.#wanted) {
      if (this.#options.slices.isOver()) await this.#options.slices.pause()
      const from = this.#now(path)
      if (isSameEntry(from, to)) continue
      if (to !== undefined && this.#isBelowAFile(path)) this.#conflicts.add(path)
      else changes.set(path, { from, to })
    }
    const sorted = (paths: ReadonlySet<string>) => [...paths].sort()
    return {
      changes,
      merged: sorted(this.#merged).filter((path) => changes.has(path)),
      conflicts: sorted(this.#conflicts),
      edited: await this.#edited(),
      unavailable: sorted(this.#unavailable),
    }
  }

  /** What is other than in the checkpoint, and neither named as something else nor about to be changed. */
  async #edited(): Promise<readonly string[]> {
    const { store, now, target, slices } = this.#options
    const found = await differences(store, { before: target.tree, after: now }, slices)
    return [...found]
      .filter(([path, { before, after }]) => {
        const isNamed = this.#conflicts.has(path) || this.#unavailable.has(path) || this.#merged.has(path)
        if (isNamed || !this.#isRequested(path)) return false
        return !isSameEntry(this.#wanted.has(path) ? this.#wanted.get(path) : after, before)
      })
      .map(([path]) => path)
      .sort()
  }

  #now(path: string): TreeEntry | undefined {
    return entryAt(this.#options.store, this.#options.now, path)
  }

  /** Whether something that is no folder stays where a folder above `path` would have to be. */
  #isBelowAFile(path: string): boolean {
    for (let folder = parentName(path); folder !== ''; folder = parentName(folder)) {
      const entry = this.#wanted.has(folder) ? this.#wanted.get(folder) : this.#now(folder)
      if (entry !== undefined && entry.type !== 'folder') return true
    }
    return false
  }

  #isRequested(path: string): boolean {
    const { paths } = this.#options
    return paths.length === 0 || paths.some((requested) => path === requested || path.startsWith(`${requested}/`))
  }

  /** What is larger than we keep, or not ours to keep, is never replaced unless that was asked for. */
  #set(path: string, entry: TreeEntry | undefined): void {
    const now = this.#now(path)
    const isPrecious = now?.type === 'skipped' && now.reason !== 'unreadable'
    if (isPrecious && (entry === undefined || !this.#options.force)) {
      if (entry !== undefined) this.#conflicts.add(path)
    } else this.#wanted.set(path, entry)
  }

  #notKept(path: string, current: TreeEntry | undefined): void {
    if (current === undefined) this.#unavailable.add(path)
    else this.#conflicts.add(path)
  }

  /** Nobody can tell whether we or somebody else did it: what is gone comes back, what is there stays. */
  #takeBackUnknown(path: string, before: TreeEntry | undefined, current: TreeEntry | undefined): void {
    if (current === undefined) this.#set(path, before)
    else if (before !== undefined) this.#conflicts.add(path)
  }

  #reconcile(path: string, states: Readonly<Record<'before' | 'after' | 'current', TreeEntry | undefined>>): void {
    const merged = this.#mergedFile(states)
    if (!merged) {
      this.#conflicts.add(path)
      return
    }
    this.#merged.add(path)
    this.#set(path, merged)
  }

  #mergedFile({ before, after, current }: Readonly<Record<'before' | 'after' | 'current', TreeEntry | undefined>>) {
    if (before?.type !== 'file' || after?.type !== 'file' || current?.type !== 'file') return null
    const mode = current.mode === after.mode ? before.mode : current.mode
    if (current.hash === after.hash) return { ...before, mode }
    if (before.hash === after.hash) return { ...current, mode }
    const [base, ours, theirs] = [after, current, before].map(({ hash }) => this.#read(hash)) as [
      Buffer,
      Buffer,
      Buffer,
    ]
    const bytes = this.#options.merge({ base, ours, theirs })
    return bytes && { type: 'file' as const, mode, hash: this.#keep(bytes), size: bytes.length }
  }

  #read(hash: string): Buffer {
    return this.#texts.get(hash) ?? Buffer.from(this.#options.store.read(hash))
  }

  #keep(bytes: Buffer): string {
    const { store, writer } = this.#options
    const hash = hashOf(bytes)
    this.#texts.set(hash, bytes)
    if (!writer.has(hash) && !store.has(hash)) writer.add(hash, bytes)
    return hash
  }
}
