import type { Clock } from '@hermes/contracts'
import type { Inbox, InboxMessage } from '@hermes/contracts/store'
import {
  DEFAULT_TTL_MS,
  INBOX_COLUMNS,
  type InboxRow,
  inboxMessageTaken,
  isWill,
  TAKE,
  toInboxMessage,
  WAITING,
} from '../../shared/inbox-rules.js'
import { unknownSession } from '../../shared/session-errors.js'
import { SESSION_EXISTS } from '../../shared/session-row.js'
import type { Connection } from '../file/connection.js'

// Made by the first message.
const CREATE = `CREATE TABLE IF NOT EXISTS hermes_mailbox (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    body TEXT,
    holder TEXT,
    held_until_ms INTEGER
  )`
const CREATE_INDEX =
  'CREATE INDEX IF NOT EXISTS hermes_mailbox_waiting ON hermes_mailbox(session_id) WHERE body IS NOT NULL'
const EXISTS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hermes_mailbox'"
// What is held goes only to its holder's end; what was delivered stays as it is.
const PUT = `
  INSERT INTO hermes_mailbox (key, session_id, kind, body, holder, held_until_ms)
  VALUES (:key, :sessionId, :kind, :body, :holder, :willUntilMs)
  ON CONFLICT (key) DO UPDATE SET kind = :kind, body = :body, holder = :holder, held_until_ms = :willUntilMs
  WHERE hermes_mailbox.holder IS NOT NULL`
const GET = `SELECT ${INBOX_COLUMNS} FROM hermes_mailbox WHERE key = ? AND session_id = ? AND body IS NOT NULL`

/** Inbox messages on SQLite. */
export class StoredInbox implements Inbox {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #process: string
  #isMade = false

  constructor(connection: Connection, options: { readonly clock: Clock; readonly process: string }) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
  }

  setWill(inboxMessage: InboxMessage, { ttlMs = DEFAULT_TTL_MS }: { readonly ttlMs?: number } = {}): Promise<boolean> {
    return this.#put(inboxMessage, { holder: this.#process, willUntilMs: this.#clock.now() + ttlMs })
  }

  send(inboxMessage: InboxMessage): Promise<boolean> {
    return this.#put(inboxMessage, { holder: null, willUntilMs: null })
  }

  waiting(sessionId: string): Promise<readonly InboxMessage[]> {
    return this.#connection.read(() => {
      if (!this.#exists()) return []
      const rows = this.#connection.statement(WAITING).all(sessionId) as InboxRow[]
      return rows.filter((row) => !isWill(row, this.#clock.now())).map(toInboxMessage)
    })
  }

  /** Inside a transaction. @throws HermesError `store.inbox_message_taken`. */
  take(sessionId: string, keys: readonly string[]): void {
    for (const key of keys) {
      const row = this.#exists() ? this.#connection.statement(GET).get(key, sessionId) : undefined
      if (!row || isWill(row as InboxRow, this.#clock.now())) throw inboxMessageTaken(sessionId, key)
      this.#connection.statement(TAKE).run(key)
    }
  }

  #put(
    { key, sessionId, kind, body }: InboxMessage,
    will: { readonly holder: string | null; readonly willUntilMs: number | null },
  ): Promise<boolean> {
    return this.#connection.write(() => {
      if (!this.#connection.statement(SESSION_EXISTS).get(sessionId)) throw unknownSession(sessionId)
      if (!this.#isMade) for (const sql of [CREATE, CREATE_INDEX]) this.#connection.statement(sql).run()
      this.#isMade = true
      const bound = { key, sessionId, kind, body: JSON.stringify(body), ...will }
      return this.#connection.statement(PUT).run(bound).changes === 1
    })
  }

  #exists(): boolean {
    return this.#isMade || this.#connection.statement(EXISTS).get() !== undefined
  }
}
