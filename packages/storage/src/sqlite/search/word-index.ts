import { setImmediate as nextTick } from 'node:timers/promises'
import { errorLine, type Logger } from '@hermes/contracts'
import { type IndexedMessage, toIndexText } from '../../shared/index-text.js'
import type { Connection } from '../file/connection.js'
import { WalCheckpointer } from '../file/wal-checkpointer.js'
import { readMeta } from '../schema/read-meta.js'
import { BACKLOG_KEY, BLOCK_IDS, INDEXED_KEY } from '../schema/schema-sql.js'

const DELAY_MS = 1_000
// Taking in this much holds the event loop and other writers for some 10 ms, and 40 ms when the index merges its parts.
const BATCH_ROWS = 200
const BATCH_CHARS = 150_000
const BACKLOG_SHARE_MS = 50
// Some 4 ms of work.
const MERGE_PAGES = 64

const ROWS = `
  SELECT m.id, m.session_id, coalesce(s.source, '') AS source, m.role, m.content, m.tool_name, m.tool_calls, m.timestamp
  FROM messages m LEFT JOIN sessions s ON s.id = m.session_id`
const NEWER = `${ROWS} WHERE m.id > ? ORDER BY m.id LIMIT ${BATCH_ROWS}`
const OLDER = `${ROWS} WHERE m.id <= ? ORDER BY m.id DESC LIMIT ${BATCH_ROWS}`
const CHANGED = `${ROWS} WHERE m.id IN (SELECT id FROM hermes_reindex) ORDER BY m.id LIMIT ${BATCH_ROWS}`
const NEWEST = 'SELECT coalesce(max(id), 0) FROM messages'
const IS_ANY_CHANGED = 'SELECT EXISTS (SELECT 1 FROM hermes_reindex)'
const INDEX = 'INSERT OR REPLACE INTO messages_fts (rowid, content) VALUES (?, ?)'
const ADD_TO_BLOCK = `
  INSERT INTO hermes_blocks (block, min_ms, max_ms) VALUES (:block, :atMs, :atMs)
  ON CONFLICT (block) DO UPDATE SET min_ms = min(min_ms, :atMs), max_ms = max(max_ms, :atMs)`
const NOTE_ACTIVITY =
  'UPDATE hermes_sessions SET last_active_ms = :atMs WHERE session_id = :id AND last_active_ms < :atMs'
const MERGE = `INSERT INTO messages_fts(messages_fts, rank) VALUES ('merge', ${MERGE_PAGES})`
const TOTAL_CHANGES = 'SELECT total_changes()'
const SET_MARK = 'INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, ?)'

interface Row extends IndexedMessage {
  readonly id: number
  readonly timestamp: number
}

/**
 * Takes words of new messages into the index: a moment after an append, many at a time, and in any case before a search. An append
 * would take twice as long if it did that itself. What a kill left out is taken in later, since the index says how far it goes.
 * After an upgrade everything older follows, newest first.
 */
export class WordIndex {
  readonly #connection: Connection
  readonly #logger: Logger
  readonly #walCheckpointer: WalCheckpointer
  #timer: NodeJS.Timeout | null = null
  #isStopped = false
  #lastCatchUp: Promise<void> = Promise.resolve()

  constructor(connection: Connection, options: { readonly logger: Logger }) {
    this.#connection = connection
    this.#logger = options.logger
    this.#walCheckpointer = new WalCheckpointer(connection, options)
  }

  /** Has the index brought up to date soon. Keeps no process alive. */
  schedule(): void {
    if (this.#timer !== null || this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      void this.catchUp({ backlogMs: BACKLOG_SHARE_MS })
    }, DELAY_MS)
    this.#timer.unref()
  }

  /**
   * Brings the index up to where the log is now, in steps that let others have a turn; what is older than the index itself gets
   * `backlogMs` of the time and goes on afterwards. Where the file cannot be written, the index stays as it is.
   */
  async catchUp({ backlogMs = 0 }: { readonly backlogMs?: number } = {}): Promise<void> {
    const untilMs = performance.now() + backlogMs
    this.#lastCatchUp = this.#lastCatchUp.then(() => this.#takeAllNew())
    await this.#lastCatchUp
    try {
      while (!this.#isStopped && (await this.#connection.read(() => this.backlog())) > 0) {
        await this.#connection.write(() => this.#takeBacklog())
        await this.#merge()
        if (performance.now() >= untilMs) return this.schedule()
        await nextTick()
      }
    } catch (error) {
      this.#warn(error)
    }
  }

  /** Inside a transaction: takes in the next new messages, as many as do not hold up others. `false` when there were none. */
  takeSome(): boolean {
    const newer = this.#take(NEWER, this.#mark(INDEXED_KEY))
    if (newer.length > 0) this.#setMark(INDEXED_KEY, newer.at(-1)!.id)
    else if (this.#isAnyChanged()) this.#takeChanged()
    else return false
    return true
  }

  #takeChanged(): void {
    const changed = this.#take(CHANGED)
    for (const { id } of changed) this.#connection.statement('DELETE FROM hermes_reindex WHERE id = ?').run(id)
    if (changed.length === 0) this.#connection.statement('DELETE FROM hermes_reindex').run()
  }

  /** Inside a transaction: the id up to which older messages are not in the index yet; 0 when all are. */
  backlog(): number {
    return this.#mark(BACKLOG_KEY)
  }

  /** Inside a transaction: whether it lacks more than the newest messages. */
  isOutdated(): boolean {
    return this.backlog() > 0 || this.#isAnyChanged()
  }

  /** Leaves the rest for later. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    await this.#walCheckpointer.stop()
  }

  async #takeAllNew(): Promise<void> {
    try {
      // Others may append faster than this goes; what they append from now on can wait.
      const newest = await this.#connection.read(() => this.#connection.statement(NEWEST).pluck().get() as number)
      while (!this.#isStopped && (await this.#connection.read(() => this.#isBehind(newest)))) {
        if (!(await this.#connection.write(() => this.takeSome()))) return
        await nextTick()
        await this.#merge()
      }
    } catch (error) {
      this.#warn(error)
    }
  }

  /** The index merges its parts in steps of their own, since what FTS5 does by itself with a commit holds up others for too long. */
  async #merge(): Promise<void> {
    this.#walCheckpointer.step()
    while (!this.#isStopped && (await this.#connection.write(() => this.#mergeSome()))) {
      this.#walCheckpointer.step()
      await nextTick()
    }
  }

  /** Inside a transaction. `false` when there is nothing to merge. */
  #mergeSome(): boolean {
    const changes = () => this.#connection.statement(TOTAL_CHANGES).pluck().get() as number
    const before = changes()
    this.#connection.statement(MERGE).run()
    return changes() - before > 1
  }

  #takeBacklog(): void {
    const older = this.#take(OLDER, this.backlog())
    this.#setMark(BACKLOG_KEY, older.length === 0 ? 0 : older.at(-1)!.id - 1)
  }

  /** Takes in the first rows of a query, at least one. */
  #take(sql: string, ...parameters: number[]): readonly Row[] {
    const rows: Row[] = []
    let chars = 0
    for (const row of this.#connection.statement(sql).iterate(...parameters) as Iterable<Row>) {
      chars += (row.content?.length ?? 0) + (row.tool_calls?.length ?? 0)
      if (rows.length > 0 && chars > BATCH_CHARS) break
      rows.push(row)
    }
    const index = this.#connection.statement(INDEX)
    for (const row of rows.toSorted((left, right) => left.id - right.id)) index.run(row.id, toIndexText(row))
    this.#noteTimes(rows)
    return rows
  }

  /** Most rows are of one session and one block. */
  #noteTimes(rows: readonly Row[]): void {
    const blocks = Map.groupBy(rows, ({ id }) => Math.floor(id / BLOCK_IDS))
    for (const [block, inside] of blocks)
      for (const atMs of new Set([oldest(inside), newest(inside)]))
        this.#connection.statement(ADD_TO_BLOCK).run({ block, atMs })
    for (const [id, own] of Map.groupBy(rows, ({ session_id }) => session_id))
      this.#connection.statement(NOTE_ACTIVITY).run({ id, atMs: newest(own) })
  }

  #isBehind(newest: number): boolean {
    return this.#mark(INDEXED_KEY) < newest || this.#isAnyChanged()
  }

  #isAnyChanged(): boolean {
    return this.#connection.statement(IS_ANY_CHANGED).pluck().get() === 1
  }

  #mark(key: string): number {
    return Number(readMeta(this.#connection, key) ?? 0)
  }

  #setMark(key: string, id: number): void {
    this.#connection.statement(SET_MARK).run(key, String(id))
  }

  #warn(error: unknown): void {
    this.#logger.warn('the word index is not up to date', { error: errorLine(error) })
  }
}

const msOf = ({ timestamp }: Row) => Math.round(timestamp * 1000)
const oldest = (rows: readonly Row[]) => rows.reduce((least, row) => Math.min(least, msOf(row)), Infinity)
const newest = (rows: readonly Row[]) => rows.reduce((most, row) => Math.max(most, msOf(row)), -Infinity)
