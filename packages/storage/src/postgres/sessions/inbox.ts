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
import type { Connection } from '../server/connection.js'
import { ofKnownSession } from '../server/postgres-error.js'
import { numbered, type Statements } from '../server/statements.js'

// What is held goes only to its holder's end; what was delivered stays as it is.
const PUT = `
  INSERT INTO hermes_mailbox (key, session_id, kind, body, holder, held_until_ms) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, body = excluded.body, holder = excluded.holder,
    held_until_ms = excluded.held_until_ms
  WHERE hermes_mailbox.holder IS NOT NULL`
const GET = `SELECT ${INBOX_COLUMNS} FROM hermes_mailbox WHERE key = $1 AND session_id = $2 AND body IS NOT NULL FOR UPDATE`

/** Inbox messages on PostgreSQL. */
export class StoredInbox implements Inbox {
  readonly #connection: Connection
  readonly #clock: Pick<Clock, 'now'>
  readonly #process: string

  constructor(connection: Connection, options: { readonly clock: Pick<Clock, 'now'>; readonly process: string }) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
  }

  setWill(inboxMessage: InboxMessage, { ttlMs = DEFAULT_TTL_MS }: { readonly ttlMs?: number } = {}): Promise<boolean> {
    return this.#put(inboxMessage, this.#process, this.#clock.now() + ttlMs)
  }

  send(inboxMessage: InboxMessage): Promise<boolean> {
    return this.#put(inboxMessage, null, null)
  }

  waiting(sessionId: string): Promise<readonly InboxMessage[]> {
    return this.#connection.read(async (statements) => {
      const rows = await statements.all<InboxRow>(numbered(WAITING), sessionId)
      return rows.filter((row) => !isWill(row, this.#clock.now())).map(toInboxMessage)
    })
  }

  /** Inside a transaction. @throws HermesError `store.inbox_message_taken`. */
  async take(statements: Statements, sessionId: string, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const row = await statements.first<InboxRow>(GET, key, sessionId)
      if (!row || isWill(row, this.#clock.now())) throw inboxMessageTaken(sessionId, key)
      await statements.run(numbered(TAKE), key)
    }
  }

  #put(inboxMessage: InboxMessage, holder: string | null, willUntilMs: number | null): Promise<boolean> {
    const { key, sessionId, kind, body } = inboxMessage
    return this.#connection.writeOne(`session ${sessionId}`, async (statements) => {
      const put = statements.run(PUT, key, sessionId, kind, JSON.stringify(body), holder, willUntilMs)
      return (await ofKnownSession(sessionId, put)) === 1
    })
  }
}
