import type { Entry, TextPart, UserPart } from '@hermes/contracts/conversation'
import type { HookEvent, InputParts } from '@hermes/contracts/extension'
import { fenceRecalled, withoutRecallFence } from '@hermes/safety'
import type { AgentMemory } from './agent-memory.js'

/** Asks the memory about the person's words: what is recalled goes before them, a reminder after them. Rejects with an abort only. */
export async function messageMemory(
  context: HookEvent,
  message: string | readonly UserPart[],
  memory: AgentMemory,
): Promise<InputParts> {
  const nudge = memoryNudge(context, memory.nudgeAfter ?? 0)
  const after: UserPart[] = nudge === null ? [] : [{ type: 'text', text: nudge, origin: 'reminder' }]
  // What is asked for leaves the machine where memory is kept elsewhere.
  const words = context.session.redact(ownWords(message))
  if (!memory.recall || words.trim() === '') return { before: [], after }
  const { signal, session } = context
  const recalled = await memory.recall(words, { signal, sessionId: session.id })
  const block = recalledBlock(await harmless(context, recalled))
  return { before: block === null ? [] : [block], after }
}

/** What the person wrote, without what was attached. */
export function ownWords(message: string | readonly UserPart[]): string {
  if (typeof message === 'string') return message
  return message
    .flatMap((part) => (part.type === 'text' && (part.origin ?? 'user') === 'user' ? [part.text] : []))
    .join('\n')
}

/** Whoever can write there could also give orders there. */
async function harmless(context: HookEvent, texts: readonly string[]): Promise<readonly string[]> {
  if (texts.length === 0) return texts
  const { scanContext } = await import('@hermes/safety/scan')
  const rules = new Set<string>()
  const kept = texts.filter((text) => {
    const found = scanContext(text)
    for (const { rule } of found) rules.add(rule)
    return found.length === 0
  })
  if (rules.size > 0) {
    const text = `Some of what was recalled was left out, it may try to take over the agent: ${[...rules].join(', ')}.`
    context.notice(text)
  }
  return kept
}

/** A line for the end of a message once it is time to think of what to keep; `null` before that. */
function memoryNudge({ session }: HookEvent, every: number): string | null {
  if (every <= 0 || !session.prompt()?.tools.some(({ name }) => name === 'memory')) return null
  const messages = messagesSinceSaving(session.entries) + 1
  if (messages % every !== 0) return null
  return `[${messages} messages and nothing saved to memory. If the user told or corrected something that later sessions should know, save it with memory first. If not, say nothing of this.]`
}

function messagesSinceSaving(entries: readonly Entry[]): number {
  let count = 0
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index]!
    if (entry.type !== 'message') continue
    const { message } = entry
    if (message.role === 'tool' && message.toolName === 'memory') return count
    if (message.role === 'user' && message.content.some((part) => (part.origin ?? 'user') === 'user')) count++
  }
  return count
}

const MAX_CHARS = 4_000
const MAX_ENTRY_CHARS = 800

/** What was recalled, fenced, for the user's newest message; `null` when there is nothing. @see 001 section 9.3 */
function recalledBlock(texts: readonly string[]): TextPart | null {
  const lines: string[] = []
  let left = MAX_CHARS
  for (const text of texts) {
    const line = `- ${oneLine(text)}`
    if (line.length < 3 || line.length > left) continue
    left -= line.length
    lines.push(line)
  }
  if (lines.length === 0) return null
  return { type: 'text', text: fenceRecalled(lines), origin: 'memory' }
}

function oneLine(text: string): string {
  const line = withoutRecallFence(text.replace(/\s+/g, ' ')).trim()
  return line.length <= MAX_ENTRY_CHARS ? line : `${line.slice(0, MAX_ENTRY_CHARS).toWellFormed()}…`
}
