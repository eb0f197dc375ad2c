import type { AssistantMessage, Entry, Message, UndoEntry } from '@hermes/contracts/conversation'
import { messageText, toolCalls } from '@hermes/contracts/conversation'
import type { SessionInfo } from '@hermes/contracts/store'
import { clip } from '../render/style.js'
import { shownText } from './shown-text.js'

/** A session with its whole log. */
export interface ExportedSession {
  readonly session: SessionInfo & { readonly tags?: readonly string[] }
  readonly entries: readonly Entry[]
}

/** JSON lines: the session, then its entries as they are stored. */
export function exportJsonl({ session, entries }: ExportedSession): string {
  return [{ type: 'session', session }, ...entries].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** One JSON object: the session and its entries as they are stored. */
export function exportJson({ session, entries }: ExportedSession): string {
  return `${JSON.stringify({ session, entries }, null, 2)}\n`
}

/** A document for people: what was said, what was called and what came of it. */
export function exportMarkdown({ session, entries }: ExportedSession): string {
  const { id, title, model, provider, cwd, startedAtMs } = session
  const facts = [
    `- Session: \`${id}\``,
    `- Began: ${new Date(startedAtMs).toISOString()}`,
    ...(model ? [`- Model: ${model}${provider ? ` at ${provider}` : ''}`] : []),
    ...(cwd ? [`- Folder: \`${cwd}\``] : []),
  ]
  const parts = entries.flatMap((entry) => {
    if (entry.type === 'message') return section(entry.message)
    if (entry.type === 'undo') return [`*${undoLine(entries, entry)}*`]
    return entry.type === 'compaction' ? [`## Summary of what came before\n\n${entry.summary.trim()}`] : []
  })
  return `${[`# ${(title ?? session.preview).replace(/\s+/g, ' ').trim() || id}`, facts.join('\n'), ...parts].join('\n\n')}\n`
}

function section(message: Message): readonly string[] {
  const text = shownText(message).trim()
  switch (message.role) {
    case 'system':
      return []
    case 'user':
      return [`## User\n\n${text}`]
    case 'assistant':
      return [['## Assistant', ...(text === '' ? [] : [text]), ...calls(message)].join('\n\n')]
    case 'tool':
      return [`### Result of ${message.toolName}${message.isError ? ' (failed)' : ''}\n\n${fence(text)}`]
    default:
      return message satisfies never
  }
}

function calls(message: AssistantMessage): readonly string[] {
  return toolCalls(message).map((call) => `Calls \`${call.name}\`:\n\n${fence(call.rawArgs, 'json')}`)
}

/** A code block with a fence longer than any in the text. */
function fence(text: string, language = ''): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/^`+/gm), ([ticks]) => ticks.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}${language}\n${text}\n${ticks}`
}

const SHOWN_CHARS = 60

/** What an undo took back, for a reader of the whole log. */
export function undoLine(entries: readonly Entry[], { fromSeq }: UndoEntry): string {
  const first = entries.find((entry) => entry.type === 'message' && entry.seq >= fromSeq)
  const text = first?.type === 'message' ? clip(messageText(first.message), SHOWN_CHARS) : ''
  return `Taken back: everything from #${first?.seq ?? fromSeq}${text === '' ? '' : ` (“${text}”)`} up to here.`
}
