import { type Entry, messageText, turnStarts } from '@hermes/contracts/conversation'
import { seenFiles } from '@hermes/contracts/tool'
import type { SessionLog } from './session.js'

/** What to take back: turns of the user, by default one, or all from an entry on, and files that went back with it. */
export type UndoOptions = { readonly turns?: number } | { readonly fromSeq: number; readonly files?: readonly string[] }

/** What was taken back of a conversation. */
export interface Undone {
  /** Messages that no longer count. */
  readonly messages: number
  /** What the user had said first of it; empty when it was no text. */
  readonly text: string
}

/** Appends what takes the newest turns back; `null` when there is nothing to take back. The session has to be open. */
export async function undo(session: SessionLog, wanted: UndoOptions): Promise<Undone | null> {
  const starts = turnStarts(session.entries)
  const fromSeq = 'fromSeq' in wanted ? wanted.fromSeq : (starts.at(-(wanted.turns ?? 1)) ?? starts[0])
  if (fromSeq === undefined) return null
  const taken = session.entries.filter(isMessage).filter(({ seq }) => seq >= fromSeq)
  if (taken.length === 0) return null
  await session.append({ type: 'undo', fromSeq })
  for (const path of ('files' in wanted && wanted.files) || []) seenFiles(session.state).delete(path)
  const text = taken.find(({ message }) => message.role === 'user')
  return { messages: taken.length, text: text ? messageText(text.message) : '' }
}

function isMessage(entry: Entry): entry is Entry & { readonly type: 'message' } {
  return entry.type === 'message'
}
