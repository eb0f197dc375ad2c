import type { TextPart } from '@hermes/contracts/conversation'
import { fenceRecalled, withoutRecallFence } from '@hermes/safety'

const MAX_CHARS = 4_000
const MAX_ENTRY_CHARS = 800

/** What was recalled, fenced, for the user's newest message; `null` when there is nothing. @see 001 section 9.3 */
export function recalledBlock(texts: readonly string[]): TextPart | null {
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
