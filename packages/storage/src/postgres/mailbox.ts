import type { Clock } from '@hermes/contracts'
import type { Letter, Mailbox } from '@hermes/contracts/store'
import {
  DEFAULT_TTL_MS,
  isHeld,
  LETTER_COLUMNS,
  type LetterRow,
  letterTaken,
  toLetter,
} from '../shared/letter-rules.js'
import type { Connection } from './connection.js'
import { ofKnownSession } from './postgres-error.js'
import type { Statements } from './statements.js'

// What is held goes only to its holder's end; what was delivered stays as it is. Rows stay when they were taken, without their body.
const PUT = `
  INSERT INTO hermes_mailbox (key, session_id, kind, body, holder, held_until_ms) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, body = excluded.body, holder = excluded.holder,
    held_until_ms = excluded.held_until_ms
  WHERE hermes_mailbox.holder IS NOT NULL`
const WAITING = `SELECT ${LETTER_COLUMNS} FROM hermes_mailbox WHERE session_id = $1 AND body IS NOT NULL ORDER BY id`
const GET = `SELECT ${LETTER_COLUMNS} FROM hermes_mailbox WHERE key = $1 AND session_id = $2 AND body IS NOT NULL FOR UPDATE`
const TAKE = 'UPDATE hermes_mailbox SET body = NULL, holder = NULL, held_until_ms = NULL WHERE key = $1'

/** Letters on PostgreSQL. */
export class StoredMailbox implements Mailbox {
  readonly #connection: Connection
  readonly #clock: Pick<Clock, 'now'>
  readonly #process: string

  constructor(connection: Connection, options: { readonly clock: Pick<Clock, 'now'>; readonly process: string }) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
  }

  hold(letter: Letter, { ttlMs = DEFAULT_TTL_MS }: { readonly ttlMs?: number } = {}): Promise<boolean> {
    return this.#put(letter, this.#process, this.#clock.now() + ttlMs)
  }

  send(letter: Letter): Promise<boolean> {
    return this.#put(letter, null, null)
  }

  waiting(sessionId: string): Promise<readonly Letter[]> {
    return this.#connection.read(async (statements) => {
      const rows = await statements.all<LetterRow>(WAITING, sessionId)
      return rows.filter((row) => !isHeld(row, this.#clock.now())).map(toLetter)
    })
  }

  /** Inside a transaction. @throws HermesError `store.letter_taken`. */
  async take(statements: Statements, sessionId: string, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const row = await statements.first<LetterRow>(GET, key, sessionId)
      if (!row || isHeld(row, this.#clock.now())) throw letterTaken(sessionId, key)
      await statements.run(TAKE, key)
    }
  }

  #put(letter: Letter, holder: string | null, heldUntilMs: number | null): Promise<boolean> {
    const { key, sessionId, kind, body } = letter
    return this.#connection.writeOne(`session ${sessionId}`, async (statements) => {
      const put = statements.run(PUT, key, sessionId, kind, JSON.stringify(body), holder, heldUntilMs)
      return (await ofKnownSession(sessionId, put)) === 1
    })
  }
}
