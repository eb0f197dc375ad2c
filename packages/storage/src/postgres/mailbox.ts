import { type Clock, HermesError, type JsonObject } from '@hermes/contracts'
import type { Letter, Mailbox } from '@hermes/contracts/store'
import { hasEnded } from '../shared/process-identity.js'
import { unknownSession } from '../shared/unknown-session.js'
import type { Connection } from './connection.js'
import { nativeCode } from './postgres-error.js'
import type { Statements } from './statements.js'

const DEFAULT_TTL_MS = 120_000

// What is held goes only to its holder's end; what was delivered stays as it is. Rows stay when they were taken, without their body.
const PUT = `
  INSERT INTO hermes_mailbox (key, session_id, kind, body, holder, held_until_ms) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, body = excluded.body, holder = excluded.holder,
    held_until_ms = excluded.held_until_ms
  WHERE hermes_mailbox.holder IS NOT NULL`
const COLUMNS = 'key, session_id, kind, body, holder, held_until_ms'
const WAITING = `SELECT ${COLUMNS} FROM hermes_mailbox WHERE session_id = $1 AND body IS NOT NULL ORDER BY id`
const GET = `SELECT ${COLUMNS} FROM hermes_mailbox WHERE key = $1 AND session_id = $2 AND body IS NOT NULL FOR UPDATE`
const TAKE = 'UPDATE hermes_mailbox SET body = NULL, holder = NULL, held_until_ms = NULL WHERE key = $1'
const NO_SUCH_ROW = '23503'

interface Row {
  readonly key: string
  readonly session_id: string
  readonly kind: string
  readonly body: string
  readonly holder: string | null
  readonly held_until_ms: number | null
}

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
      const rows = await statements.all<Row>(WAITING, sessionId)
      return rows.filter((row) => !this.#isHeld(row)).map(toLetter)
    })
  }

  /** Inside a transaction. @throws HermesError `store.letter_taken`. */
  async take(statements: Statements, sessionId: string, keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      const row = await statements.first<Row>(GET, key, sessionId)
      if (!row || this.#isHeld(row)) {
        throw new HermesError(`Letter ${key} to session ${sessionId} is not waiting: it was taken already.`, {
          code: 'store.letter_taken',
          details: { sessionId, key },
        })
      }
      await statements.run(TAKE, key)
    }
  }

  #put(letter: Letter, holder: string | null, heldUntilMs: number | null): Promise<boolean> {
    const { key, sessionId, kind, body } = letter
    return this.#connection.writeOne(`session ${sessionId}`, async (statements) => {
      try {
        return (await statements.run(PUT, key, sessionId, kind, JSON.stringify(body), holder, heldUntilMs)) === 1
      } catch (error) {
        throw nativeCode(error) === NO_SUCH_ROW ? unknownSession(sessionId) : error
      }
    })
  }

  #isHeld({ holder, held_until_ms }: Row): boolean {
    return holder !== null && this.#clock.now() < (held_until_ms ?? 0) && !hasEnded(holder)
  }
}

function toLetter({ key, session_id: sessionId, kind, body }: Row): Letter {
  return { key, sessionId, kind, body: JSON.parse(body) as JsonObject }
}
