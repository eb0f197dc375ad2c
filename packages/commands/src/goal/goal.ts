import type { JsonObject } from '@hermes/contracts'
import type { Entry } from '@hermes/contracts/conversation'

const KIND = 'goal'

/** What a session works towards by itself. */
export interface Goal {
  readonly text: string
  /** What has to hold besides. */
  readonly criteria: readonly string[]
  readonly state: 'active' | 'paused' | 'done'
  /** Turns that began by themselves since it was set or taken up again. */
  readonly turns: number
  /** Judgements in a row that failed. */
  readonly failures: number
  /** Why it is in this state: what the judge or the person said last, one line; empty for nothing. */
  readonly reason: string
}

/** The goal of a session by its log; `null` for none. Each note has all of it, so that the newest one counts. */
export function goalIn(entries: readonly Entry[]): Goal | null {
  const entry = entries.findLast((candidate) => candidate.type === 'note' && candidate.kind === KIND)
  if (entry?.type !== 'note' || entry.data['goal'] === null) return null
  return entry.data['goal'] as unknown as Goal
}

/** A new goal. */
export function newGoal(text: string): Goal {
  return { text, criteria: [], state: 'active', turns: 0, failures: 0, reason: '' }
}

/** Writes it down; `null` takes it away. */
export async function keepGoal(
  { note }: { note(kind: string, data: JsonObject): Promise<void> },
  goal: Goal | null,
): Promise<void> {
  await note(KIND, { goal: goal as unknown as JsonObject | null })
}

/** A goal with its criteria, for a model. */
export function describeGoal({ text, criteria }: Goal): string {
  const also = criteria.map((criterion, index) => `${index + 1}. ${criterion}`)
  return [text, ...(also.length === 0 ? [] : ['It also takes:', ...also])].join('\n')
}
