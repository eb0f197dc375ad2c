import type { SkillLibrary } from '../skill-library.js'
import { lineDiff } from './line-diff.js'
import { makeChange, type PlannedChange, planChange, type SkillChange } from './skill-changes.js'
import { type StagedChange, StagedChanges } from './staged-changes.js'

/** Who wants a change. */
interface Wanting {
  /** Where they work. Absolute. */
  readonly cwd: string
  readonly sessionId: string
  /** Names of text from outside that was read before. */
  readonly taintedBy: readonly string[]
}

/** What came of a change that was asked for. */
export type ChangeOutcome =
  /** `kept`: where the copy of what went is. */
  | { readonly type: 'made'; readonly planned: PlannedChange; readonly kept: string | null }
  | { readonly type: 'staged'; readonly staged: StagedChange }

/** Changes skills of one's own, now or when a person has said yes. */
export class SkillWriter {
  readonly staged: StagedChanges
  readonly #library: SkillLibrary

  constructor(library: SkillLibrary) {
    this.#library = library
    this.staged = new StagedChanges(library.home.pendingDirectory)
  }

  /**
   * Makes what an agent asks for. After text from outside was read it waits for a person, as that text may have asked for it; so it does where
   * `skills.write_approval` says so. Rejects with one line for what cannot be done.
   */
  async request(change: SkillChange, { cwd, sessionId, taintedBy }: Wanting): Promise<ChangeOutcome> {
    const planned = await this.plan(change, cwd)
    const { settings, clock } = this.#library.home
    const why =
      taintedBy.length > 0
        ? `text from outside was read: ${taintedBy.slice(0, 3).join(', ')}`
        : settings.write_approval
          ? 'skills.write_approval is on'
          : null
    if (why === null) return this.#make(planned)
    return { type: 'staged', staged: await this.staged.add({ atMs: clock.now(), sessionId, why, change }) }
  }

  /** Makes what a person asks for. */
  async make(change: SkillChange, cwd: string): Promise<ChangeOutcome & { readonly type: 'made' }> {
    return this.#make(await this.plan(change, cwd))
  }

  /** Makes a change that waited, as it comes out now. */
  async approve({ id, change }: StagedChange, cwd: string): Promise<ChangeOutcome & { readonly type: 'made' }> {
    const made = await this.make(change.action === 'create' ? { ...change, force: true } : change, cwd)
    await this.staged.remove(id)
    return made
  }

  async diff({ change }: StagedChange, cwd: string): Promise<string> {
    const { before, after } = await this.plan(change.action === 'create' ? { ...change, force: true } : change, cwd)
    return lineDiff(before ?? '', after ?? '')
  }

  async plan(change: SkillChange, cwd: string): Promise<PlannedChange> {
    const { home } = this.#library
    const index = await this.#library.index(cwd)
    return planChange(change, { directory: home.directory, index, redact: (text) => home.redact(text) })
  }

  async #make(planned: PlannedChange): Promise<ChangeOutcome & { readonly type: 'made' }> {
    const { home, usage } = this.#library
    const kept = await makeChange(planned, { directory: home.directory, nowMs: home.clock.now() })
    if (planned.change.action === 'delete') await usage.forget(planned.change.name)
    this.#library.reload()
    return { type: 'made', planned, kept }
  }
}

/** One line about a change, for a person. */
export function describeChange(change: SkillChange): string {
  switch (change.action) {
    case 'create':
      return `create ${change.name}: ${change.description.slice(0, 100)}`
    case 'edit':
    case 'delete':
      return `${change.action} ${change.name}`
    case 'patch':
    case 'write_file':
    case 'remove_file':
      return `${change.action.replace('_', ' ')} ${change.name}/${change.path}`
    default:
      return change satisfies never
  }
}
