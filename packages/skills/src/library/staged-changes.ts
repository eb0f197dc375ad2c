import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { PendingFiles } from '@hermes/files'
import { isTexts } from '../format/skill.js'
import type { ChangedBy } from '../learning/skill-history.js'
import type { SkillChange } from './skill-changes.js'

/** A change that waits for a person. */
export interface StagedChange {
  readonly id: string
  readonly atMs: number
  readonly sessionId: string
  readonly by: Exclude<ChangedBy, 'person'>
  /** Why it waits, for a person. */
  readonly why: string
  readonly change: SkillChange
  /** SHA-256 of the file that the change puts another in place of, as it was then. Absent for what makes a skill, and for a patch, which finds its words anew. */
  readonly base?: string
  /** Rules of the scanner that the new text breaks, which the person is told of. Default: none. */
  readonly rules?: readonly string[]
  /** Skills that go into `.archive` with it. */
  readonly absorbs?: readonly Absorbed[]
}

/** A skill whose content another one has taken over. */
export interface Absorbed {
  readonly name: string
  /** SHA-256 of its SKILL.md as it was taken over. */
  readonly base: string
}

/** Changes that wait, a file each. */
export class StagedChanges extends PendingFiles<StagedChange> {
  constructor(directory: string) {
    super(directory, {
      read,
      tooMany: (most) =>
        new HermesError(`${most} changes of skills wait already; answer some: hermes skills pending`, {
          code: 'skills.too_many_staged',
        }),
      unknown: (word, open) =>
        new HermesError(`There is no staged change ${word}. ${open}`, { code: 'skills.unknown' }),
    })
  }
}

function read(value: JsonObject, id: string): StagedChange | null {
  const { atMs, sessionId, why, change, base, rules, absorbs } = value
  const by = value['by'] === 'look back' || value['by'] === 'curator' ? value['by'] : 'agent'
  if (!isChange(change) || typeof atMs !== 'number') return null
  if (typeof sessionId !== 'string' || typeof why !== 'string') return null
  const more = {
    ...(typeof base === 'string' ? { base } : {}),
    ...(isTexts(rules) ? { rules } : {}),
    ...(areAbsorbed(absorbs) ? { absorbs } : {}),
  }
  return { id, atMs, sessionId, by, why, change, ...more }
}

function areAbsorbed(value: unknown): value is readonly Absorbed[] {
  const isOne = (one: unknown) => isJsonObject(one) && isTexts([one['name'], one['base']])
  return Array.isArray(value) && value.every(isOne)
}

/** The texts of each change. */
const TEXTS: Readonly<Record<SkillChange['action'], readonly string[]>> = {
  create: ['description', 'content'],
  edit: ['content'],
  patch: ['path', 'oldText', 'newText'],
  delete: [],
  write_file: ['path', 'content'],
  remove_file: ['path'],
}

function isChange(value: unknown): value is SkillChange & JsonObject {
  if (!isJsonObject(value)) return false
  const { action, name, description = '', force = false, replaceAll = false } = value
  return (
    typeof action === 'string' &&
    Object.hasOwn(TEXTS, action) &&
    TEXTS[action as SkillChange['action']].every((key) => typeof value[key] === 'string') &&
    [name, description].every((text) => typeof text === 'string') &&
    [force, replaceAll].every((flag) => typeof flag === 'boolean')
  )
}
