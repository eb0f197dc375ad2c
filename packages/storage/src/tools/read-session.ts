import type { SessionInfo } from '@hermes/contracts/store'
import type { ToolResult } from '@hermes/contracts/tool'
import type { Storage } from '../storage.js'
import { messageText, sessionLine } from './session-text.js'

const FIRST = 20
const LAST = 10

/** The beginning and the end of a session, and what a long one was about. */
export async function readSession(storage: Storage, session: SessionInfo): Promise<ToolResult> {
  const texts = (await storage.log.entries(session.id)).map(messageText).filter((text) => text !== null)
  const left = texts.length - FIRST - LAST
  const shown =
    left <= 0 ? texts : [...texts.slice(0, FIRST), `… ${left} messages; read them with around …`, ...texts.slice(-LAST)]
  const summary = left <= 0 ? null : await storage.summaries.get(session.id)
  const about = summary === null ? [] : [`Summary: ${summary.text}`]
  return { text: [sessionLine(session), ...about, ...shown].join('\n'), external: true }
}

/** The messages on both sides of one; `null` when the session has no such message. */
export async function readAround(
  storage: Storage,
  session: SessionInfo,
  { seq, window }: { readonly seq: number; readonly window: number },
): Promise<ToolResult | null> {
  const messages = (await storage.log.entries(session.id)).filter((entry) => entry.type === 'message')
  const at = messages.findIndex((entry) => entry.seq === seq)
  if (at === -1) return null
  const from = Math.max(0, at - window)
  const shown = messages.slice(from, at + window + 1)
  const [before, after] = [from, messages.length - from - shown.length]
  const counts = `  (${before} messages before, ${after} after)`
  return {
    text: [sessionLine(session) + counts, ...shown.map(messageText).filter((text) => text !== null)].join('\n'),
    external: true,
  }
}
