import { HermesError, type JsonObject } from '@hermes/contracts'
import type { InboxMessage } from '@hermes/contracts/store'
import { hasEnded } from './process-identity.js'

/** How long an inbox message is held where nobody says. */
export const DEFAULT_TTL_MS = 120_000

/** The columns of {@link InboxRow}. */
export const INBOX_COLUMNS = 'key, session_id, kind, body, holder, held_until_ms'

/** What waits for a session. */
export const WAITING = `SELECT ${INBOX_COLUMNS} FROM hermes_mailbox WHERE session_id = ? AND body IS NOT NULL ORDER BY id`

/** Rows stay when they were taken, without their body: a key counts once for as long as its session exists. */
export const TAKE = 'UPDATE hermes_mailbox SET body = NULL, holder = NULL, held_until_ms = NULL WHERE key = ?'

/** An inbox message that is not taken yet, as its table has it. */
export interface InboxRow {
  readonly key: string
  readonly session_id: string
  readonly kind: string
  readonly body: string
  readonly holder: string | null
  readonly held_until_ms: number | null
}

/** Whether somebody alive still has it in hand. */
export function isWill({ holder, held_until_ms }: InboxRow, nowMs: number): boolean {
  return holder !== null && nowMs < (held_until_ms ?? 0) && !hasEnded(holder)
}

export function toInboxMessage({ key, session_id: sessionId, kind, body }: InboxRow): InboxMessage {
  return { key, sessionId, kind, body: JSON.parse(body) as JsonObject }
}

export function inboxMessageTaken(sessionId: string, key: string): HermesError {
  return new HermesError(`Inbox message ${key} to session ${sessionId} is not waiting: it was taken already.`, {
    code: 'store.inbox_message_taken',
    details: { sessionId, key },
  })
}
