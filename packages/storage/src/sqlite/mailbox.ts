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
import { unknownSession } from '../shared/session-errors.js'
import type { Connection } from './connection.js'

// Made by the first letter. Rows stay when they were taken, without their body: a key counts once for as long as its session exists.
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
  VALUES (:key, :sessionId, :kind, :body, :holder, :heldUntilMs)
  ON CONFLICT (key) DO UPDATE SET kind = :kind, body = :body, holder = :holder, held_until_ms = :heldUntilMs
  WHERE hermes_mailbox.holder IS NOT NULL`
const WAITING = `SELECT ${LETTER_COLUMNS} FROM hermes_mailbox WHERE session_id = ? AND body IS NOT NULL ORDER BY id`
const GET = `SELECT ${LETTER_COLUMNS} FROM hermes_mailbox WHERE key = ? AND session_id = ? AND body IS NOT NULL`
const TAKE = 'UPDATE hermes_mailbox SET body = NULL, holder = NULL, held_until_ms = NULL WHERE key = ?'

/** Letters on SQLite. */
export class StoredMailbox implements Mailbox {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #process: string
  #isMade = false

  constructor(connection: Connection, options: { readonly clock: Clock; readonly process: string }) {
    this.#connection = connection
    this.#clock = options.clock
    this.#process = options.process
  }

  hold(letter: Letter, { ttlMs = DEFAULT_TTL_MS }: { readonly ttlMs?: number } = {}): Promise<boolean> {
    return this.#put(letter, { holder: this.#process, heldUntilMs: this.#clock.now() + ttlMs })
  }

  send(letter: Letter): Promise<boolean> {
    return this.#put(letter, { holder: null, heldUntilMs: null })
  }

  waiting(sessionId: string): Promise<readonly Letter[]> {
    return this.#connection.read(() => {
      if (!this.#exists()) return []
      const rows = this.#connection.statement(WAITING).all(sessionId) as LetterRow[]
      return rows.filter((row) => !isHeld(row, this.#clock.now())).map(toLetter)
    })
  }

  /** Inside a transaction. @throws HermesError `store.letter_taken`. */
  take(sessionId: string, keys: readonly string[]): void {
    for (const key of keys) {
      const row = this.#exists() ? this.#connection.statement(GET).get(key, sessionId) : undefined
      if (!row || isHeld(row as LetterRow, this.#clock.now())) throw letterTaken(sessionId, key)
      this.#connection.statement(TAKE).run(key)
    }
  }

  #put(
    { key, sessionId, kind, body }: Letter,
    held: { readonly holder: string | null; readonly heldUntilMs: number | null },
  ): Promise<boolean> {
    return this.#connection.write(() => {
      if (!this.#connection.statement('SELECT 1 FROM sessions WHERE id = ?').get(sessionId))
        throw unknownSession(sessionId)
      if (!this.#isMade) for (const sql of [CREATE, CREATE_INDEX]) this.#connection.statement(sql).run()
      this.#isMade = true
      const bound = { key, sessionId, kind, body: JSON.stringify(body), ...held }
      return this.#connection.statement(PUT).run(bound).changes === 1
    })
  }

  #exists(): boolean {
    return this.#isMade || this.#connection.statement(EXISTS).get() !== undefined
  }
}
