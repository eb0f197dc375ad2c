import { basename, join } from 'node:path'
import { HermesError } from '@hermes/contracts'
import { SKILL_FILE } from '../format/skill.js'
import { sha256 } from '../install/lock.js'
import type { ChangedBy, SkillRecordedChange } from '../learning/skill-history.js'
import type { SkillLibrary } from '../skill-library.js'
import { lineDiff } from './line-diff.js'
import { makeChange, type PlannedChange, planChange, type SkillChange, shownFindings } from './skill-changes.js'
import { type Absorbed, type StagedChange, StagedChanges } from './staged-changes.js'

/** Who wants a change. */
interface Wanting {
  /** Where they work. Absolute. */
  readonly cwd: string
  readonly sessionId: string
  /** Names of text from outside that was read before. */
  readonly taintedBy: readonly string[]
  /** Default: `agent`. */
  readonly by?: Exclude<ChangedBy, 'person'>
}

/** A change that is only proposed. */
interface Proposal {
  readonly cwd: string
  readonly sessionId: string
  readonly by: Exclude<ChangedBy, 'person'>
  /** For a person. */
  readonly why: string
  /** Names of text from outside that was read before; the person is told. Default: none. */
  readonly taintedBy?: readonly string[]
  /** The whole file that the change was worked out on. Default: as it is now. */
  readonly before?: string
  /** Skills that go into `.archive` with it, since it says what they say. Default: none. */
  readonly absorbs?: readonly Absorbed[]
}

/** What came of a change that was asked for. */
type ChangeOutcome =
  /** `kept`: where the copy of what went is. */
  | { readonly type: 'made'; readonly planned: PlannedChange; readonly kept: string | null }
  | { readonly type: 'staged'; readonly staged: StagedChange }

type Made = ChangeOutcome & { readonly type: 'made' }

interface Maker {
  readonly by: ChangedBy
  readonly sessionId: string | null
  readonly why?: string
}

const PERSON: Maker = { by: 'person', sessionId: null }

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
   * `skills.write_approval` says so, and where it may try to take over the agent: beside a conversation that is refused, as nobody is there to ask.
   * Rejects with one line for what cannot be done.
   */
  async request(change: SkillChange, { cwd, sessionId, taintedBy, by = 'agent' }: Wanting): Promise<ChangeOutcome> {
    const { settings, clock } = this.#library.home
    if (change.action === 'delete' && this.#library.records.read().skills[change.name]?.isPinned)
      throw new HermesError(
        `${change.name} is pinned by the user, so it stays. They can say: hermes curator unpin ${change.name}`,
        {
          code: 'skills.pinned',
        },
      )
    const planned = await this.plan(change, cwd)
    const { findings } = planned
    if (by !== 'agent') requireHarmless(planned)
    const reasons = [
      ...(findings.length > 0 ? [shownFindings(findings)] : []),
      ...(taintedBy.length > 0 ? [outside(taintedBy)] : []),
    ]
    if (reasons.length === 0 && settings.write_approval) reasons.push('skills.write_approval is on')
    if (reasons.length === 0) return this.#make(planned, { by, sessionId })
    const rules = findings.length > 0 ? { rules: findings.map(({ rule }) => rule) } : {}
    const why = reasons.join('; ')
    const waiting = { atMs: clock.now(), sessionId, by, why, change, ...rules, ...baseOf(planned) }
    return { type: 'staged', staged: await this.staged.add(waiting) }
  }

  /** Keeps a change for a person to say yes to. Rejects with one line for what cannot be done; `null` where it waits already. */
  async propose(
    change: SkillChange,
    { cwd, taintedBy = [], before, ...proposal }: Proposal,
  ): Promise<StagedChange | null> {
    const planned = await this.plan(change, cwd)
    requireHarmless(planned)
    if (await this.waits(change.name)) return null
    const why = taintedBy.length > 0 ? `${outside(taintedBy)}; ${proposal.why}` : proposal.why
    const base = baseOf(before === undefined ? planned : { ...planned, before })
    return this.staged.add({ atMs: this.#library.home.clock.now(), ...proposal, why, change, ...base })
  }

  /** Whether a change of the skill waits for a person. */
  async waits(name: string): Promise<boolean> {
    return (await this.staged.list()).some(({ change }) => change.name === name)
  }

  /** Makes what a person asks for. */
  async make(change: SkillChange, cwd: string, maker: Maker = PERSON): Promise<Made> {
    const planned = await this.plan(change, cwd)
    requireHarmless(planned)
    return this.#make(planned, maker)
  }

  /** Makes a change that waited, as it comes out now. @throws HermesError `skills.changed` where it would go over what was written since. */
  async approve(
    { id, change, by, sessionId, why, base, rules = [], absorbs = [] }: StagedChange,
    cwd: string,
  ): Promise<Made> {
    const maker = { by, sessionId, why }
    const planned = await this.plan(forced(change), cwd)
    // What was found since was not shown to whom the yes is from.
    requireHarmless(planned, rules)
    if (base !== undefined && baseOf(planned).base !== base) throw changedSince(change.name)
    // All of it is looked at before anything is made: half a merge could be neither approved again nor taken back as one.
    const gone = await Promise.all(absorbs.map(({ name }) => this.plan({ action: 'delete', name }, cwd)))
    for (const [index, one] of gone.entries())
      if (baseOf(one).base !== absorbs[index]!.base) throw changedSince(one.change.name)
    const made = await this.#make(planned, maker)
    for (const one of gone) await this.#make(one, { ...maker, why: `now part of ${change.name}` })
    await this.staged.remove(id)
    return made
  }

  /** Takes back a change that was made. @throws HermesError as {@link SkillHistory.undo} does */
  async undo(change: SkillRecordedChange): Promise<void> {
    const { home, usage, records, history } = this.#library
    const { name, file, before, after, kept } = change
    await history.undo(change, home.clock.now())
    if (kept === null && basename(file) === SKILL_FILE) {
      if (before !== null) await this.#rewrote(name, after, before)
      else {
        await usage.forget(name)
        await records.changeSkill(name, null)
      }
    }
    this.#library.reload()
    home.onChange?.({ action: 'undo', skill: name, by: 'person', sessionId: null })
  }

  async diff({ change, absorbs = [] }: StagedChange, cwd: string): Promise<string> {
    const { before, after } = await this.plan(forced(change), cwd)
    const gone = absorbs.map(({ name }) => `-(the skill ${name} goes into .archive)`)
    return [...gone, lineDiff(before ?? '', after ?? '')].join('\n')
  }

  async plan(change: SkillChange, cwd: string): Promise<PlannedChange> {
    const { home } = this.#library
    const index = await this.#library.index(cwd)
    if (change.action !== 'create') this.#library.require(index, change.name)
    return planChange(change, { directory: home.directory, index, redact: (text) => home.redact(text) })
  }

  async #make(planned: PlannedChange, maker: Maker): Promise<Made> {
    const { home } = this.#library
    const kept = await makeChange(planned, { directory: home.directory, nowMs: home.clock.now() })
    await this.#record(planned, kept, maker)
    this.#library.reload()
    const { action, name } = planned.change
    home.onChange?.({ action, skill: name, by: maker.by, sessionId: maker.sessionId })
    return { type: 'made', planned, kept }
  }

  /** A SKILL.md of an agent is its own from one text to the next, unless the first was written by hand. */
  async #rewrote(name: string, before: string | null, after: string | null): Promise<void> {
    const { records } = this.#library
    const record = records.read().skills[name]
    if (!record?.isSelfWritten) return
    const isSelfWritten = record.sha256 === null || record.sha256 === sha256(before ?? '')
    await records.changeSkill(name, { isSelfWritten, sha256: isSelfWritten ? sha256(after ?? '') : null })
  }

  /** What an agent wrote is on trial; what a person wrote, or changed, is theirs. */
  async #record(
    { change, folder, file, before, after }: PlannedChange,
    kept: string | null,
    maker: Maker,
  ): Promise<void> {
    const { home, usage, records, history } = this.#library
    const { action, name } = change
    const atMs = home.clock.now()
    if (action === 'delete') {
      await usage.forget(name)
      await records.changeSkill(name, null)
    } else if (action === 'create') {
      const isSelfWritten = maker.by !== 'person'
      await records.changeSkill(name, { isSelfWritten, sha256: isSelfWritten ? sha256(after!) : null, sinceMs: atMs })
    } else if (maker.by === 'person') await records.changeSkill(name, { isSelfWritten: false, sha256: null })
    else if (file === join(folder, SKILL_FILE)) await this.#rewrote(name, before, after)
    const { by, sessionId, why } = maker
    const what = `${describeChange(change)}${why === undefined ? '' : ` (${why})`}`
    await history.add({ atMs, by, sessionId, what, name, file, before, after, kept })
  }
}

const outside = (names: readonly string[]) => `text from outside was read: ${names.slice(0, 3).join(', ')}`

/** What a change has to find again when it is made later. */
function baseOf({ change, before }: PlannedChange): Pick<StagedChange, 'base'> {
  return change.action === 'create' || change.action === 'patch' ? {} : { base: sha256(before ?? '') }
}

/** @throws HermesError `skills.bad_skill` for a text that breaks other rules of the scanner than these */
function requireHarmless({ findings }: PlannedChange, known: readonly string[] = []): void {
  const fresh = findings.filter(({ rule }) => !known.includes(rule))
  if (fresh.length === 0) return
  const message = `The skill cannot be written, it has ${shownFindings(fresh)}. Say what to do in plain words.`
  throw new HermesError(message, { code: 'skills.bad_skill' })
}

function changedSince(name: string): HermesError {
  const message = `${name} was changed since this was proposed; reject it, or look again.`
  return new HermesError(message, { code: 'skills.changed' })
}

/** That there is something like it was seen when it was asked for. */
function forced(change: SkillChange): SkillChange {
  return change.action === 'create' ? { ...change, force: true } : change
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
