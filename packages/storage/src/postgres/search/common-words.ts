import type { Connection } from '../server/connection.js'

/** The server counts them anew after a tenth of the rows has changed. */
const KEEP_MS = 600_000
const COMMON = `
  SELECT elements.word, elements.share FROM pg_stats,
    unnest(most_common_elems::text::text[], most_common_elem_freqs) elements(word, share)
  WHERE schemaname = current_schema() AND tablename = 'messages' AND attname = 'words' AND elements.word IS NOT NULL`

/** Which words many messages have, as the server has counted them; none before it has. */
export class CommonWords {
  readonly #connection: Connection
  #shares: { readonly atMs: number; readonly of: Promise<ReadonlyMap<string, number>> } | null = null

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** The part of all messages that have a word, from 0 to 1. A word that is missing is rare. */
  async shares(): Promise<ReadonlyMap<string, number>> {
    const nowMs = performance.now()
    if (this.#shares === null || nowMs - this.#shares.atMs >= KEEP_MS) this.#shares = { atMs: nowMs, of: this.#read() }
    return this.#shares.of
  }

  async #read(): Promise<ReadonlyMap<string, number>> {
    try {
      const rows = await this.#connection.read((statements) =>
        statements.all<{ readonly word: string; readonly share: number }>(COMMON),
      )
      return new Map(rows.map(({ word, share }) => [word, share]))
    } catch (error) {
      this.#shares = null
      throw error
    }
  }
}
