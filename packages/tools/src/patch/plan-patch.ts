import { errorLine, HermesError, isAbort } from '@hermes/contracts'
import type { ToolContext } from '@hermes/contracts/tool'
import { misplaced } from '../files/file-access.js'
import { staleNote } from '../files/file-ledger.js'
import { missingFile } from '../files/similar-names.js'
import { newFileFormat, type TextFormat } from '../files/text-format.js'
import type { ToolSettings } from '../settings.js'
import { applyHunks } from './apply-hunks.js'
import { openTextFile } from './open-text-file.js'
import type { PatchOperation } from './parse-patch.js'
import { giveUpAdvice } from './replace.js'
import { refuseText } from './write-checked.js'

/** One change of the disk. Paths are absolute. */
export type PatchStep =
  | {
      readonly type: 'write'
      readonly path: string
      /** `null` for a new file. */
      readonly before: string | null
      readonly text: string
      readonly format: TextFormat
      /** The version the text was made from; `null` when an earlier step makes the file. */
      readonly version: string | null
      readonly notes: readonly string[]
    }
  | { readonly type: 'remove'; readonly path: string }
  | { readonly type: 'rename'; readonly from: string; readonly to: string }

/** What a patch will do, or everything that is in its way. */
type PatchPlan =
  | { readonly type: 'planned'; readonly steps: readonly PatchStep[]; readonly notes: readonly string[] }
  | { readonly type: 'refused'; readonly problems: readonly string[] }

/** What a path holds once the steps so far are done, where that differs from the disk. */
type Pending =
  | { readonly type: 'gone' }
  | { readonly type: 'text'; readonly text: string; readonly format: TextFormat }
  | { readonly type: 'moved'; readonly from: string }

/**
 * Goes through all operations without changing anything, each on what those before it would leave.
 * @throws HermesError `policy.denied` for a file that must not be read.
 */
export async function planPatch(
  operations: readonly PatchOperation[],
  context: ToolContext,
  settings: ToolSettings,
): Promise<PatchPlan> {
  const planner = new Planner(context, settings)
  const problems: string[] = []
  for (const operation of operations) {
    context.signal.throwIfAborted()
    const problem = await planner.add(operation)
    if (problem !== null) problems.push(problem)
  }
  const { steps, notes } = planner
  return problems.length > 0 ? { type: 'refused', problems } : { type: 'planned', steps, notes }
}

class Planner {
  readonly steps: PatchStep[] = []
  readonly notes: string[] = []
  readonly #context: ToolContext
  readonly #settings: ToolSettings
  readonly #pending = new Map<string, Pending>()

  constructor(context: ToolContext, settings: ToolSettings) {
    this.#context = context
    this.#settings = settings
  }

  /** Adds the steps of an operation; says what is in its way. */
  async add(operation: PatchOperation): Promise<string | null> {
    try {
      return await this.#add(operation)
    } catch (error) {
      // A denial ends the whole call; whatever else keeps a file from being looked at keeps it from being changed.
      const isDenied = HermesError.isInstance(error) && error.code === 'policy.denied'
      if (isAbort(error) || this.#context.signal.aborted || isDenied) throw error
      return errorLine(error)
    }
  }

  async #add(operation: PatchOperation): Promise<string | null> {
    const { environment } = this.#context
    switch (operation.type) {
      case 'update':
        return this.#update(environment.resolve(operation.path), operation)
      case 'add':
        return (
          (await misplaced(this.#context, operation.path)) ??
          this.#create(environment.resolve(operation.path), operation.content)
        )
      case 'delete':
        return this.#remove(environment.resolve(operation.path))
      case 'move':
        return (
          (await misplaced(this.#context, operation.to)) ??
          this.#move(environment.resolve(operation.from), environment.resolve(operation.to))
        )
      default:
        return operation satisfies never
    }
  }

  async #update(path: string, { hunks }: Extract<PatchOperation, { type: 'update' }>): Promise<string | null> {
    const file = await this.#open(path)
    if (typeof file === 'string') return file
    const outcome = await applyHunks(path, file.text, hunks)
    if (outcome.type === 'refused') return outcome.problem + giveUpAdvice(this.#context, file.real)
    const refusal = refuseText(outcome.text, file.text, this.#settings.redactionMarker, path)
    if (refusal) return refusal
    const notes = [...outcome.notes, ...(file.stale ? [`${file.stale}.`] : [])]
    if (outcome.text === file.text) {
      this.notes.push(...notes.map((note) => `${path}: ${note}`))
      return null
    }
    const { text: before, format, version } = file
    this.steps.push({ type: 'write', path, before, text: outcome.text, format, version, notes })
    this.#pending.set(path, { type: 'text', text: outcome.text, format })
    return null
  }

  async #create(path: string, content: string): Promise<string | null> {
    if (await this.#exists(path)) return `${path} exists already; use Update File, or delete it first.`
    const refusal = refuseText(content, '', this.#settings.redactionMarker, path)
    if (refusal) return refusal
    const format = newFileFormat
    this.steps.push({ type: 'write', path, before: null, text: content, format, version: null, notes: [] })
    this.#pending.set(path, { type: 'text', text: content, format })
    return null
  }

  async #remove(path: string): Promise<string | null> {
    const problem = await this.#missing(path)
    if (problem) return problem
    this.steps.push({ type: 'remove', path })
    this.#pending.set(path, { type: 'gone' })
    return null
  }

  async #move(from: string, to: string): Promise<string | null> {
    const problem = await this.#missing(from)
    if (problem) return problem
    if (await this.#exists(to)) return `${to} exists already, so ${from} cannot be moved there.`
    this.steps.push({ type: 'rename', from, to })
    this.#pending.set(to, this.#pending.get(from) ?? { type: 'moved', from })
    this.#pending.set(from, { type: 'gone' })
    return null
  }

  async #open(path: string) {
    const pending = this.#pending.get(path)
    switch (pending?.type) {
      case 'gone':
        return `${path} is gone after an earlier part of this patch.`
      case 'text':
        return { ...pending, real: path, version: null, stale: null }
      case 'moved':
      case undefined: {
        const file = await openTextFile(pending?.from ?? path, this.#context)
        if (typeof file === 'string') return file
        const { real, text, format, stat } = file
        const stale = staleNote(this.#context, this.#settings.sharedFiles, { real, version: stat.version })
        return { real, text, format, version: pending ? null : stat.version, stale }
      }
      default:
        return pending satisfies never
    }
  }

  async #exists(path: string): Promise<boolean> {
    const pending = this.#pending.get(path)
    return pending ? pending.type !== 'gone' : (await this.#context.environment.stat(path)) !== null
  }

  /** Why there is no file to take away; `null` when there is one. */
  async #missing(path: string): Promise<string | null> {
    const pending = this.#pending.get(path)
    if (pending) return pending.type === 'gone' ? `${path} is gone after an earlier part of this patch.` : null
    const stat = await this.#context.environment.stat(path)
    if (!stat) return missingFile(this.#context.environment, path)
    return stat.type === 'file' ? null : `${path} is not a regular file; a patch does not move or delete it.`
  }
}
