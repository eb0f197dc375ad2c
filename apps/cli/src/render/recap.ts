import { type Entry, liveEntries, messageText } from '@hermes/contracts/conversation'
import type { Output } from '../io.js'
import { clip, createStyle } from './style.js'

const LAST_MESSAGES = 6

/** The end of a session that is being continued, a line per message. */
export function createRecap(entries: readonly Entry[], output: Output): string {
  const style = createStyle(output)
  const lines: string[] = []
  for (const entry of liveEntries(entries)) {
    if (entry.type !== 'message') continue
    const { role } = entry.message
    const text = messageText(entry.message)
    if ((role === 'user' || role === 'assistant') && text.trim() !== '') {
      lines.push(clip(`${role === 'user' ? '>' : ' '} ${text}`, output.columns()))
    }
  }
  return lines
    .slice(-LAST_MESSAGES)
    .map((line) => `${style.dim(line)}\n`)
    .join('')
}
