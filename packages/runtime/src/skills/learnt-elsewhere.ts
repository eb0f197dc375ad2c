import { createHash } from 'node:crypto'
import { MEMORY_TARGETS, type MemoryTarget, sourcesOf } from '@hermes/memory'
import type { SkillsHome } from '@hermes/skills'
import type { Storage } from '@hermes/storage'
import { OUTSIDE_TAG } from '@hermes/storage/extension'
import type { HomeMemory } from '../memory/home-memory.js'

/** What of the home learns beside its skills: failures that were met, and notes. */
export function learntElsewhere(parts: {
  readonly storage: () => Promise<Storage>
  /** Of the owner; `null` where memory is off. */
  readonly memory: () => HomeMemory | null
}): SkillsHome['learnt'] {
  const { storage, memory } = parts
  return {
    often: async (times) =>
      (await learningsOf(storage))
        .filter(({ timesUsed }) => timesUsed >= times)
        .map(({ id, pattern, fix, context, tags }) => ({
          ...{ id, pattern, fix, subject: context },
          taintedBy: tags.includes(OUTSIDE_TAG) ? ['a failure of a session that read text from outside'] : [],
        })),
    list: async () => [
      ...(await learningsOf(storage)).map(({ id, createdAtMs, pattern, fix, context, timesUsed }) => ({
        id: `l${id}`,
        atMs: createdAtMs,
        kind: 'failure' as const,
        what: `${pattern} → ${fix}`,
        from: `${context || 'a failure'}, met ${timesUsed + 1}×`,
      })),
      ...(await notesOf(memory())).map(({ id, atMs, entry, origin }) => ({
        ...{ id, atMs, kind: 'note' as const, what: entry.replace(/\s+/g, ' '), from: origin },
      })),
    ],
    undo: async (id) => {
      if (/^l\d+$/.test(id)) {
        const isGone = await (await storage()).learnings.remove(Number(id.slice(1)), { person: null })
        return isGone ? `Forgotten: ${id}` : null
      }
      const note = (await notesOf(memory())).find((one) => one.id === id)
      if (!note) return null
      const change = { action: 'remove', oldText: note.entry } as const
      const outcome = await (await memory()!.open(note.target)).change(note.target, [change], 'undone by the user')
      return outcome.type === 'refused' ? null : `Forgotten: ${note.entry.replace(/\s+/g, ' ')}`
    },
  }
}

const MOST = 1_000

async function learningsOf(storage: () => Promise<Storage>) {
  return (await storage()).learnings.find({ person: null, limit: MOST })
}

interface Note {
  readonly id: string
  readonly target: MemoryTarget
  readonly entry: string
  readonly atMs: number
  readonly origin: string
}

/** Notes whose origin is still known. */
async function notesOf(memory: HomeMemory | null): Promise<readonly Note[]> {
  const targets = MEMORY_TARGETS.filter((target) => memory?.isOn(target))
  const notes = await Promise.all(
    targets.map(async (target) => {
      const store = await memory!.open(target)
      const [state, history] = await Promise.all([store.read(target), store.history()])
      return sourcesOf(state, history).map(({ entry, atMs, origin }) => ({
        id: idOf(entry),
        target,
        entry,
        atMs,
        origin,
      }))
    }),
  )
  return notes.flat()
}

/** Stays the same as long as the entry does. */
const idOf = (entry: string) => `m${createHash('sha256').update(entry).digest('hex').slice(0, 6)}`
