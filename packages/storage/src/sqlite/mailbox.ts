import type { Clock } from '@hermes/contracts'
import { HermesError, type JsonObject } from '@hermes/contracts'
import type { Letter, Mailbox } from '@hermes/contracts/store'
import { hasEnded } from '../shared/process-identity.js'
import { unknownSession } from '../shared/unknown-session.js'
import type { Connection } from './connection.js'

const DEFAULT_TTL_MS = 120_000

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
const WAITING = `
  SELECT key, session_id, kind, body, holder, held_until_ms FROM hermes_mailbox
  WHERE session_id = ? AND body IS NOT NULL ORDER BY id`
const GET = `SELECT key, session_id, kind, body, holder, held_until_ms FROM hermes_mailbox
  WHERE key = ? AND session_id = ? AND body IS NOT NULL`
const TAKE = 'UPDATE hermes_mailbox SET body = NULL, holder = NULL, held_until_ms = NULL WHERE key = ?'

interface Row {
  readonly key: string
  readonly session_id: string
  readonly kind: string
  readonly body: string
  readonly holder: string | null
  readonly held_until_ms: number | null
}

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
      const rows = this.#connection.statement(WAITING).all(sessionId) as Row[]
      return rows.filter((row) => !this.#isHeld(row)).map(toLetter)
    })
  }

  /** Inside a transaction. @throws HermesError `store.letter_taken`. */
  take(sessionId: string, keys: readonly string[]): void {
    for (const key of keys) {
      const row = this.#exists() ? (this.#connection.statement(GET).get(key, sessionId) as Row | undefined) : undefined
      if (!row || this.#isHeld(row))
        throw new HermesError(`Letter ${key} to session ${sessionId} is not waiting: it was taken already.`, {
          code: 'store.letter_taken',
          details: { sessionId, key },
        })
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

  #isHeld({ holder, held_until_ms }: Row): boolean {
    return holder !== null && this.#clock.now() < (held_until_ms ?? 0) && !hasEnded(holder)
  }

  #exists(): boolean {
    return this.#isMade || this.#connection.statement(EXISTS).get() !== undefined
  }
}

function toLetter({ key, session_id: sessionId, kind, body }: Row): Letter {
  return { key, sessionId, kind, body: JSON.parse(body) as JsonObject }
}
