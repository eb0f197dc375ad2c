import { HermesError, isJsonObject, type JsonObject } from '@hermes/contracts'
import { PendingFiles } from '@hermes/files'
import type { MemoryChange } from './changes.js'
import { MEMORY_TARGETS, type MemoryTarget } from './memory-files.js'

/** What an agent wants to remember, and a person has not said yes to. */
export interface StagedNote {
  readonly id: string
  readonly atMs: number
  readonly sessionId: string
  /** Whose memory it is for; `null` for the owner of the home. */
  readonly person: string | null
  /** What text from outside was read before, by names for a person. */
  readonly taintedBy: readonly string[]
  readonly target: MemoryTarget
  readonly changes: readonly MemoryChange[]
}

/** Notes that wait, a file each. */
export class StagedNotes extends PendingFiles<StagedNote> {
  constructor(directory: string) {
    super(directory, {
      read,
      tooMany: (most) =>
        new HermesError(`${most} notes wait already; answer some: hermes memory pending`, {
          code: 'memory.too_many_staged',
        }),
      unknown: (word, open) => new HermesError(`No note ${word} waits. ${open}`, { code: 'memory.unknown_note' }),
    })
  }
}

/** One change as a person reads it: `+` what comes, `-` what goes by some of its words. */
export function describeNote({ target, changes }: Pick<StagedNote, 'target' | 'changes'>): string {
  const lines = changes.flatMap((change): readonly string[] => {
    switch (change.action) {
      case 'add':
        return [`+${change.content}`]
      case 'replace':
        return [`-… ${change.oldText} …`, `+${change.content}`]
      case 'remove':
        return [`-… ${change.oldText} …`]
      default:
        return change satisfies never
    }
  })
  return [` ${target}`, ...lines].join('\n')
}

function read(value: JsonObject, id: string): StagedNote | null {
  const { atMs, sessionId, person, taintedBy, changes } = value
  const target = MEMORY_TARGETS.find((known) => known === value['target'])
  if (!target || typeof atMs !== 'number' || typeof sessionId !== 'string') return null
  if ((person !== null && typeof person !== 'string') || !areTexts(taintedBy)) return null
  if (!Array.isArray(changes) || !changes.every(isChange)) return null
  return { id, atMs, sessionId, person, taintedBy, target, changes }
}

const areTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

function isChange(value: unknown): value is MemoryChange {
  if (!isJsonObject(value)) return false
  const { action, content, oldText } = value
  const [hasContent, hasOld] = [typeof content === 'string', typeof oldText === 'string']
  return (
    (action === 'add' && hasContent) ||
    (action === 'replace' && hasContent && hasOld) ||
    (action === 'remove' && hasOld)
  )
}
