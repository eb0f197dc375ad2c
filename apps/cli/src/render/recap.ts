import { type Entry, liveEntries, messageText } from '@hermes/contracts/conversation'
import type { Output } from '../io.js'
import { clip, createStyle } from './style.js'

/** The end of a session that is being continued, a line per message: the last `exchanges` of the person and what was answered. */
export function createRecap(entries: readonly Entry[], exchanges: number, output: Output): string {
  const style = createStyle(output)
  const lines: { readonly role: string; readonly line: string }[] = []
  for (const entry of liveEntries(entries)) {
    if (entry.type !== 'message') continue
    const { role } = entry.message
    const text = messageText(entry.message)
    if ((role === 'user' || role === 'assistant') && text.trim() !== '') {
      lines.push({ role, line: clip(`${role === 'user' ? style.prompt : ' '} ${text}`, output.columns()) })
    }
  }
  if (exchanges < 1) return ''
  const starts = lines.flatMap(({ role }, index) => (role === 'user' ? [index] : []))
  return lines
    .slice(starts.at(-exchanges) ?? 0)
    .map(({ line }) => `${style.dim(line)}\n`)
    .join('')
}
