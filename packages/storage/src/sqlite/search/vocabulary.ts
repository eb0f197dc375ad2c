import { setImmediate as nextTick } from 'node:timers/promises'
import { type IndexedMessage, indexWords, toIndexText } from '../../shared/index-text.js'
import { hasPart, likePattern, MAX_WORDS_OF_PART, type WordPart, type WordsOfParts } from '../../shared/word-parts.js'
import type { Connection } from '../file/connection.js'
import { DatabaseThread } from '../file/database-thread.js'
import { readMeta } from '../schema/read-meta.js'
import { INDEXED_KEY } from '../schema/schema-sql.js'
import type { WordIndex } from './word-index.js'

// So many words are read within one transaction of the thread, some 50 ms.
const STEP_WORDS = 20_000
/** Scripts without blanks begin here, nearly; facets come after them. */
const END = '\u3000'
const MAX_WORD_CHARS = 200
/** Where more has come since, all words are read anew. */
const MAX_NEWER_IDS = 10_000
// Some 10 ms.
const BATCH_ROWS = 200
const BATCH_CHARS = 150_000

const MAKE = [
  "CREATE VIRTUAL TABLE IF NOT EXISTS temp.index_words USING fts5vocab('main', 'messages_fts', 'row')",
  'CREATE TABLE IF NOT EXISTS temp.words (word TEXT NOT NULL, messages INTEGER NOT NULL)',
  'DELETE FROM temp.words',
]
const READ = `
  INSERT INTO temp.words SELECT term, doc FROM temp.index_words
  WHERE term > ? AND term < '${END}' AND length(term) <= ${MAX_WORD_CHARS} ORDER BY term LIMIT ${STEP_WORDS}`
const LAST_READ = 'SELECT word FROM temp.words ORDER BY rowid DESC LIMIT 1'
const FIND = `SELECT word FROM temp.words WHERE word LIKE ? ORDER BY messages DESC LIMIT ${MAX_WORDS_OF_PART}`
const NEWEST = 'SELECT coalesce(max(id), 0) FROM messages'
const NEWER = `
  SELECT m.id, m.content, m.tool_name, m.tool_calls FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT ${BATCH_ROWS}`

interface Row extends Pick<IndexedMessage, 'content' | 'tool_name' | 'tool_calls'> {
  readonly id: number
}

/**
 * All words of the index, for what stands inside them. The index itself knows words by their beginnings only. They are read in a thread
 * with the first search for a part of a word, two seconds at a million messages, and kept there; what has come since is looked at here.
 */
export class Vocabulary {
  readonly #connection: Connection
  readonly #index: WordIndex
  readonly #thread: Pick<DatabaseThread, 'column' | 'close'>
  readonly #newer = new Set<string>()
  /** Up to which message words are known; `null` before they are read, and while older messages are still being indexed. */
  #upTo: number | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(connection: Connection, index: WordIndex) {
    this.#connection = connection
    this.#index = index
    this.#thread = connection.isAlone ? withoutThread(connection) : new DatabaseThread(connection.path)
  }

  /** The words that have each of the parts, the most common ones of many. */
  wordsOf(parts: readonly WordPart[]): Promise<WordsOfParts> {
    const found = this.#last.then(() => this.#wordsOf(parts))
    this.#last = found.catch(() => undefined)
    return found
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  async #wordsOf(parts: readonly WordPart[]): Promise<WordsOfParts> {
    const isWhole = await this.#refresh()
    const found = new Map<string, readonly string[]>()
    for (const part of parts) {
      const newer = [...this.#newer].filter((word) => hasPart(word, part))
      const indexed = await this.#thread.column<string>(FIND, [likePattern(part)])
      found.set(part.key, [...new Set([...newer, ...indexed])].slice(0, MAX_WORDS_OF_PART))
    }
    if (!isWhole) this.#upTo = null
    return found
  }

  /** `false` when older messages are missing. */
  async #refresh(): Promise<boolean> {
    const state = () => ({
      newest: this.#connection.statement(NEWEST).pluck().get() as number,
      backlog: this.#index.backlog(),
      isOutdated: this.#index.isOutdated(),
    })
    const { newest, backlog, isOutdated } = await this.#connection.read(state)
    if (this.#upTo === null || isOutdated || newest - this.#upTo > MAX_NEWER_IDS) await this.#readAll()
    await this.#readNewer()
    return backlog === 0
  }

  async #readAll(): Promise<void> {
    await this.#index.catchUp()
    this.#upTo = await this.#connection.read(() => Number(readMeta(this.#connection, INDEXED_KEY) ?? 0))
    this.#newer.clear()
    for (const sql of MAKE) await this.#thread.column(sql, [])
    for (let after = ''; ; ) {
      await this.#thread.column(READ, [after])
      const [last] = await this.#thread.column<string>(LAST_READ, [])
      if (last === undefined || last === after) return
      after = last
    }
  }

  async #readNewer(): Promise<void> {
    for (;;) {
      const rows = await this.#connection.read(() => this.#batch())
      const last = rows.at(-1)
      if (!last) return
      for (const row of rows) {
        const text = toIndexText({ ...row, role: '', source: '', session_id: '' })
        for (const word of indexWords(text)) if (word < END) this.#newer.add(word)
      }
      this.#upTo = last.id
      await nextTick()
    }
  }

  #batch(): readonly Row[] {
    const rows: Row[] = []
    let chars = 0
    for (const row of this.#connection.statement(NEWER).iterate(this.#upTo) as Iterable<Row>) {
      chars += (row.content?.length ?? 0) + (row.tool_calls?.length ?? 0)
      if (rows.length > 0 && chars > BATCH_CHARS) break
      rows.push(row)
    }
    return rows
  }
}

/** Where nothing else may open the file. */
function withoutThread(connection: Connection): Pick<DatabaseThread, 'column' | 'close'> {
  const column = <Kind>(sql: string, parameters: readonly (string | number)[]) =>
    connection.read(() => {
      const statement = connection.statement(sql)
      if (statement.reader) return statement.pluck().all(...parameters) as Kind[]
      statement.run(...parameters)
      return []
    })
  return { column, close: async () => undefined }
}
