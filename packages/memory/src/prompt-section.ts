import { joinEntries } from './entries.js'
import type { Memory, MemoryState, UnconfirmedEntry } from './memory.js'
import { MEMORY_TARGETS, type MemoryTarget } from './memory-files.js'

const TITLES: Readonly<Record<MemoryTarget, string>> = {
  memory: 'MEMORY, your own notes from earlier sessions',
  user: 'USER PROFILE, what you know about the user',
}

/** What a prompt shows of the stores. */
export interface MemorySection {
  /** Empty when nothing is remembered. */
  readonly text: string
  /** What was left out and why, and what waits for a person to confirm it, one line each. */
  readonly problems: readonly string[]
  /** Whether an entry that it shows waits for that. */
  readonly isUnconfirmed: boolean
}

/**
 * The part of a system text that shows what is remembered, as it is now. Entries that read like orders, put there by hand or by another
 * program, are left out and named.
 */
export async function memorySection(
  memory: Memory,
  targets: readonly MemoryTarget[] = MEMORY_TARGETS,
): Promise<MemorySection> {
  const problems: string[] = []
  const blocks: string[] = []
  let isUnconfirmed = false
  for (const target of targets) {
    try {
      const state = await memory.read(target)
      const { safe, rules } = await apart(state.entries)
      if (rules.length > 0)
        problems.push(
          `${rules.length === 1 ? 'One entry' : `${rules.length} entries`} of ${target} left out of the prompt, may try to take over the agent: ${rules.join(', ')}.`,
        )
      const waiting = state.unconfirmed.filter(({ entry }) => safe.includes(entry))
      isUnconfirmed ||= waiting.length > 0
      if (waiting.length > 0) problems.push(unconfirmedLine(target, waiting))
      if (safe.length > 0) blocks.push(`${TITLES[target]} [${describeUsage(state)}]\n${joinEntries(safe)}`)
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  return { text: blocks.join('\n\n'), problems, isUnconfirmed }
}

function unconfirmedLine(target: MemoryTarget, waiting: readonly UnconfirmedEntry[]): string {
  const names = [...new Set(waiting.flatMap(({ because }) => because))].slice(0, MOST_NAMED).join(', ')
  const what = waiting.length === 1 ? 'A note' : `${waiting.length} notes`
  return `${what} of ${target} came about after text from outside was read (${names}), so more is asked here until you confirm them: hermes memory confirm`
}

const MOST_NAMED = 3

/** How full a store is: `68%, 1,496 of 2,200 characters`. */
export function describeUsage({ chars, limit }: Pick<MemoryState, 'chars' | 'limit'>): string {
  const number = (value: number) => value.toLocaleString('en-US')
  return `${Math.round((100 * chars) / limit)}%, ${number(chars)} of ${number(limit)} characters`
}

/** The entries as a model may read them: those that read like orders, put there by other means than through here, are only named. */
export async function shownEntries(entries: readonly string[]): Promise<readonly string[]> {
  if (entries.length === 0) return []
  const { scanContext } = await import('@hermes/safety/scan')
  return entries.map((entry) => {
    const [finding] = scanContext(entry)
    return finding ? `(not shown, may try to take over the agent: ${finding.rule})` : entry
  })
}

async function apart(entries: readonly string[]): Promise<{ safe: string[]; rules: string[] }> {
  const rules: string[] = []
  if (entries.length === 0) return { safe: [], rules }
  const { scanContext } = await import('@hermes/safety/scan')
  const safe = entries.filter((entry) => {
    const [finding] = scanContext(entry)
    if (finding) rules.push(finding.rule)
    return !finding
  })
  return { safe, rules }
}
