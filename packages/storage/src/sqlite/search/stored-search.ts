import type { SearchHit, SearchOptions, SessionSearch } from '../../storage.js'
import type { Connection } from '../file/connection.js'
import type { Search } from './search.js'
import type { WordIndex } from './word-index.js'

/** Search on SQLite; what it takes is loaded by the first. */
export class SqliteSearch implements SessionSearch {
  readonly #connection: Connection
  readonly #words: WordIndex
  #search: Promise<Search> | undefined

  constructor(connection: Connection, words: WordIndex) {
    this.#connection = connection
    this.#words = words
  }

  async find(query: string, options?: SearchOptions): Promise<readonly SearchHit[]> {
    this.#search ??= import('./search.js').then((module) => new module.Search(this.#connection, this.#words))
    return (await this.#search).find(query, options)
  }

  backlog(): Promise<number> {
    return this.#connection.read(() => this.#words.backlog())
  }

  async close(): Promise<void> {
    await (await this.#search)?.close()
  }
}
