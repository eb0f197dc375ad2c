import { chmod, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorLine, HermesError } from '@hermes/contracts'
import type { CallOptions, KeptTurn, MemoryProvider, Recalled } from '@hermes/contracts/memory'
import Database from 'better-sqlite3'
import type { Embedder } from './embeddings.js'

/** What a store of vectors is made of. */
interface LocalVectorsOptions {
  /** The SQLite file; made with its folder when missing, with mode 0600. */
  readonly path: string
  /** Names the model that made the vectors: those of another one are not compared. */
  readonly model: string
  readonly embedder: Embedder
  readonly now: () => number
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    session_id TEXT,
    created_ms INTEGER NOT NULL,
    model TEXT NOT NULL,
    embedding BLOB NOT NULL
  );
  CREATE UNIQUE INDEX IF NOT EXISTS memories_text ON memories (model, text);
`
// Vectors of two lengths under one model's name cannot be compared.
const NEAREST = `
  SELECT id, text, vec_distance_cosine(embedding, :vector) AS distance FROM memories
  WHERE model = :model AND length(embedding) = length(:vector) ORDER BY distance LIMIT :limit
`
/** Beyond it texts have nothing to do with each other. */
const FARTHEST = 0.75
const MAX_TEXT_CHARS = 4_000

/**
 * Memories in a file of one's own, found by what they mean: exchanges and texts with vectors from any endpoint.
 * @throws HermesError `memory.provider_unavailable` when SQLite or its vectors cannot be loaded here.
 */
export async function openLocalVectors(options: LocalVectorsOptions): Promise<MemoryProvider> {
  const vectors = await loadVectors()
  try {
    await mkdir(dirname(options.path), { recursive: true, mode: 0o700 })
    await makePrivate(options.path)
    const database = new Database(options.path)
    database.pragma('journal_mode = WAL')
    database.pragma('busy_timeout = 2000')
    vectors.load(database)
    database.exec(SCHEMA)
    return new LocalVectors(options, database)
  } catch (error) {
    throw new HermesError(`The local store of memories cannot be opened: ${errorLine(error)}.`, {
      code: 'memory.provider_unavailable',
      cause: error,
    })
  }
}

/** SQLite would make it, and the files beside it, readable by others. One that is there is not opened: closing it would end SQLite's locks. */
async function makePrivate(path: string): Promise<void> {
  const made = await open(path, 'wx', 0o600).catch(() => null)
  await made?.close()
  await chmod(path, 0o600)
}

class LocalVectors implements MemoryProvider {
  readonly name = 'local'
  readonly #options: LocalVectorsOptions
  readonly #database: Database.Database

  constructor(options: LocalVectorsOptions, database: Database.Database) {
    this.#options = options
    this.#database = database
  }

  async recall(
    query: string,
    { limit, signal }: CallOptions & { readonly limit: number },
  ): Promise<readonly Recalled[]> {
    if (query.trim() === '' || this.#isEmpty()) return []
    const vector = await this.#embed(query, signal)
    const rows = this.#database.prepare(NEAREST).all({ vector, model: this.#options.model, limit }) as {
      id: number
      text: string
      distance: number
    }[]
    return rows.flatMap(({ id, text, distance }) => (distance < FARTHEST ? [{ id: String(id), text }] : []))
  }

  keep({ sessionId, user, assistant }: KeptTurn, { signal }: CallOptions): Promise<void> {
    return this.#add(`User: ${user}\nAssistant: ${assistant}`, sessionId, signal)
  }

  store(text: string, { signal }: CallOptions): Promise<void> {
    return this.#add(text, null, signal)
  }

  async forget(id: string): Promise<boolean> {
    return this.#database.prepare('DELETE FROM memories WHERE id = ?').run(Number(id)).changes > 0
  }

  async check({ signal }: CallOptions): Promise<void> {
    await this.#embed('check', signal)
  }

  async close(): Promise<void> {
    this.#database.close()
  }

  #isEmpty(): boolean {
    return this.#database.prepare('SELECT 1 FROM memories LIMIT 1').get() === undefined
  }

  async #add(whole: string, sessionId: string | null, signal: AbortSignal): Promise<void> {
    const text = whole.slice(0, MAX_TEXT_CHARS).toWellFormed()
    const embedding = await this.#embed(text, signal)
    const row = { text, sessionId, now: this.#options.now(), model: this.#options.model, embedding }
    this.#database
      .prepare(
        'INSERT OR IGNORE INTO memories (text, session_id, created_ms, model, embedding) VALUES (:text, :sessionId, :now, :model, :embedding)',
      )
      .run(row)
  }

  async #embed(text: string, signal: AbortSignal): Promise<Buffer> {
    const [vector] = await this.#options.embedder.embed([text.slice(0, MAX_TEXT_CHARS)], { signal })
    return Buffer.from(vector!.buffer, vector!.byteOffset, vector!.byteLength)
  }
}

/** The extension of SQLite that compares vectors; few need it, so it does not come with this package. */
type VectorExtension = Pick<typeof import('sqlite-vec'), 'load'>

/** @throws HermesError `memory.provider_unavailable` when the package `sqlite-vec` is not installed beside this program. */
async function loadVectors(): Promise<VectorExtension> {
  const wanted: string = 'sqlite-vec'
  try {
    return (await import(wanted)) as VectorExtension
  } catch (cause) {
    const message =
      'The local store of memories needs the package sqlite-vec. Install it beside Hermes: npm i -g sqlite-vec'
    throw new HermesError(message, { code: 'memory.provider_unavailable', cause })
  }
}
