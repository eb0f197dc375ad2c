import type { Clock, Logger } from '@hermes/contracts'
import type { ApprovalStore, AuditLog } from '@hermes/contracts/policy'
import type {
  Inbox,
  Lease,
  Leases,
  NewOutboxMessage,
  SessionInfo,
  SessionLog,
  SessionStore,
  Sessions,
  UsageLedger,
} from '@hermes/contracts/store'
import type { QuestionStore } from '@hermes/contracts/tool'
import type { Jobs } from './jobs.js'
import type { Learnings, PersonFilter } from './learnings.js'
import type { Outbox } from './outbox.js'
import type { SessionSummaries } from './summaries.js'

/** Options of `openStorage`: a file, or a database on a server. */
export type StorageOptions = SqliteOptions | PostgresOptions

/** What every store takes. */
interface CommonOptions {
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /** Told of upgrades and of waiting for other writers. Default: nobody. */
  readonly logger?: Logger
  /** Where entries go that the store takes no more, as `hermes-rescue-SESSION.jsonl`: the first that takes them. Default: nowhere. */
  readonly rescueDirs?: readonly string[]
  /**
   * Who this process is in leases. Default `pid@machine#start.nonce`, which lets others see that the process has ended;
   * any other form is trusted until its lease runs out.
   */
  readonly owner?: string
}

/** A SQLite file. */
export interface SqliteOptions extends CommonOptions {
  /** The database file; made with mode 0600, its directory with 0700, when missing. */
  readonly path: string
  /** `normal` survives a kill of every process, `full` also a power loss. Default `normal`. */
  readonly sync?: 'normal' | 'full'
  /**
   * `wal` needs memory shared by all processes that use the file; where that does not work, and on network file systems, `delete`
   * is taken by itself. Default `wal`.
   */
  readonly journal?: 'wal' | 'delete'
  /**
   * Told once, in a line, of each thing that a person should know of the file: that its file system has no locks, so that one process at a
   * time can have it open; that it was found damaged after an unclean end, and is only read.
   */
  readonly onNotice?: (line: string) => void
}

/** A PostgreSQL database, for several machines or where one is there anyway. Durability is the server's. */
export interface PostgresOptions extends CommonOptions {
  /**
   * `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with `?sslmode=require` (certificate checked), `no-verify` or `disable` (default),
   * `sslrootcert`, `sslcert`, `sslkey`, `host` of a socket, and `options`. PostgreSQL 13 or newer with the extension pg_trgm; its
   * tables are made and upgraded when it is opened. No error or log shows the password.
   */
  readonly url: string
}

/** Which sessions a list shows. */
export interface ListSessionsOptions extends PersonFilter {
  /** Default: all but `subagent`. */
  readonly source?: string
  /** Only sessions with this tag. Default: any. */
  readonly tag?: string
  /** Only sessions without this tag. Default: any. */
  readonly withoutTag?: string
  /** Also archived sessions, which are listed by that tag alone. Default `false`. */
  readonly includeArchived?: boolean
  /** Default 20. */
  readonly limit?: number
  /** Default 0. */
  readonly offset?: number
  /** Also sessions without a message. Default `false`. */
  readonly includeEmpty?: boolean
}

/** Which sessions the newest is looked for among. */
export interface LatestSessionFilter extends PersonFilter {
  /** Default: all but `subagent`. */
  readonly source?: string
  readonly cwd?: string
  /** Default `false`. */
  readonly includeArchived?: boolean
}

/** What a text stands for. */
export type SessionResolution =
  | { readonly type: 'found'; readonly session: SessionInfo }
  /** Several ids begin with the text; the newest ones first, at most ten. */
  | { readonly type: 'ambiguous'; readonly candidates: readonly SessionInfo[] }
  /** At most three sessions whose title or id looks most like the text. */
  | { readonly type: 'none'; readonly nearest: readonly SessionInfo[] }

/** Filters of a search; a list stands for any of its values. */
export interface SearchOptions extends PersonFilter {
  /** Default 10, at most 100. */
  readonly limit?: number
  /**
   * `newest`: the latest arrival first; a message arrives when it is appended or imported. `relevance`: the best match first among
   * the 2,000 newest; queries of more than four words and filters stay in order of arrival. Default `newest`.
   */
  readonly order?: 'newest' | 'relevance'
  readonly role?: string | readonly string[]
  readonly source?: string | readonly string[]
  readonly excludeSources?: readonly string[]
  readonly sessionId?: string | readonly string[]
  readonly excludeSessions?: readonly string[]
  /** A tag of the session. */
  readonly tag?: string
  /** Unix milliseconds; only messages later than this. */
  readonly afterMs?: number
  /** Unix milliseconds; only messages earlier than this. */
  readonly beforeMs?: number
}

/** A message beside a hit. */
interface SearchContext {
  readonly seq: number
  readonly role: string
  /** At most 200 characters. */
  readonly text: string
}

/** A message that a search found. */
export interface SearchHit {
  readonly sessionId: string
  readonly seq: number
  readonly role: string
  /** Unix milliseconds. */
  readonly atMs: number
  /** Some 300 characters around the matches, which stand between `>>>` and `<<<`. */
  readonly snippet: string
  readonly title: string | null
  readonly source: string
  readonly model: string | null
  /** Unix milliseconds. */
  readonly sessionStartedAtMs: number
  /** The message before the hit in its session. */
  readonly before: SearchContext | null
  /** The message after it. */
  readonly after: SearchContext | null
}

/** How a session ends. */
export interface EndSession {
  /** In a word: `user_exit`, `completed`, `sighup`, `idle` … */
  readonly reason: string
  /** Unix milliseconds. Default: now. */
  readonly atMs?: number
}

/** What a fork is made of. */
export interface ForkSession {
  /** The session it is taken from. */
  readonly from: string
  /** Id of the new session. */
  readonly id: string
  /** The last entry it takes along. Default: all there are. */
  readonly upToSeq?: number
  readonly title?: string
  /** Default: that of the session it is taken from. */
  readonly source?: string
}

/** What a store holds. */
export interface StoreStats {
  readonly sessions: number
  readonly messages: number
  /** Unix milliseconds of the first start of a session; `null` in an empty store. */
  readonly oldestMs: number | null
  /** Unix milliseconds of the last activity. */
  readonly newestMs: number | null
  /** Of the file and its log. */
  readonly bytes: number
  /** Part of `bytes` that deleted sessions left; new ones use it. */
  readonly freeBytes: number
  /** The source with most sessions first. */
  readonly bySource: readonly { readonly source: string; readonly sessions: number; readonly messages: number }[]
  /** The model that cost most first; prices that are not known count as nothing. */
  readonly byModel: readonly {
    readonly model: string
    readonly sessions: number
    readonly inputTokens: number
    readonly outputTokens: number
    readonly costUsd: number
  }[]
}

/** Small facts about the store as a whole. */
export interface MetaStore {
  get(key: string): Promise<string | null>
  /**
   * `null` removes the key.
   * @throws HermesError `store.reserved_key` for the keys of the store itself.
   */
  set(key: string, value: string | null): Promise<void>
  /**
   * Changes facts, and writes messages for chats, in one step: all of it where each fact still `was` so (`null`: there was none), else nothing.
   * Tells whether it did, so that two processes that change one fact do it one after the other.
   * @throws HermesError `store.reserved_key` for the keys of the store itself.
   */
  swap(changes: readonly FactChange[], also?: { readonly send?: readonly NewOutboxMessage[] }): Promise<boolean>
  /** All whose keys begin so, in order of the keys. */
  list(prefix: string): Promise<readonly { readonly key: string; readonly value: string }[]>
}

/** A small fact that becomes another; `null` for none. */
export interface FactChange {
  readonly key: string
  readonly was: string | null
  readonly is: string | null
}

/** Which sessions there are: made, found, changed, removed. */
export interface StoredSessions extends Sessions {
  /**
   * Makes a session with the conversation of another one up to some entry, in one transaction: what had been undone by then is left out,
   * what it cost stays with the original. Both go on by themselves. Rejects with `store.unknown_session`, `store.session_exists`,
   * `store.title_taken`.
   */
  fork(fork: ForkSession): Promise<SessionInfo>
  /** Newest activity first. */
  list(options?: ListSessionsOptions): Promise<readonly SessionInfo[]>
  /** The session with the newest activity that has a message and is not archived, or `null`. */
  latest(filter?: LatestSessionFilter): Promise<SessionInfo | null>
  /** Folders that sessions with a message began in, the one with the newest activity first; children do not count. */
  folders(options?: { readonly includeArchived?: boolean }): Promise<readonly string[]>
  /** Finds by exact id, exact title, the title without the number of a fork where no other is called so, then the beginning of an id. */
  resolve(text: string, filter?: PersonFilter): Promise<SessionResolution>
  /**
   * Ends a session. Nothing happens to one that is unknown, has ended, or that another process wrote since. Whoever takes the lease of
   * an ended session opens it again.
   */
  end(id: string, end: EndSession): Promise<void>
  /**
   * Ends the sessions whose writer was killed, as of its last sign of life and with the reason `process_gone`; tells which. One of another
   * machine counts as killed once its lease has run out, or after a day without a word where it held none.
   */
  endAbandoned(): Promise<readonly string[]>
  /**
   * Removes the session and its log; sessions forked from it stay. `false` when there was none.
   * Rejects with `store.session_busy` while somebody holds its lease.
   */
  delete(id: string): Promise<boolean>
  /**
   * Removes the log and the summary of a session; the session stays, with its title, tags, relatives and what it cost.
   * Rejects with `store.unknown_session`, and with `store.session_busy` while somebody holds its lease.
   */
  clear(id: string): Promise<void>
  /** The session a session was forked or imported from, the one that was forked from, and so on; none for an unknown session. */
  ancestors(id: string): Promise<readonly SessionInfo[]>
  /** Sessions forked or imported from a session, and those of these, parents before children, the oldest first. */
  descendants(id: string): Promise<readonly SessionInfo[]>
  /** Words a person sorts sessions by, in order; none for an unknown session. */
  tags(id: string): Promise<readonly string[]>
  /** Replaces the tags of a session. Rejects with `store.unknown_session`. */
  setTags(id: string, tags: readonly string[]): Promise<void>
  /** The first free title of a lineage: `base` itself, else `base #2`, `base #3` … */
  nextTitle(base: string): Promise<string>
}

/** The log of every session. */
export interface StoredLog extends Required<SessionLog> {
  /** With `rescue: false` nothing goes into a rescue file when the store takes no more. Default `true`. */
  append(
    sessionId: string,
    entries: Parameters<SessionLog['append']>[1],
    options: Parameters<SessionLog['append']>[2] & { readonly rescue?: boolean },
  ): Promise<readonly number[]>
}

/** Who writes which session. */
export interface StoredLeases extends Leases {
  /**
   * With `isVisit` whoever wrote the session last stays its last writer after the release, so that the session does not end with this
   * process. Default `false`.
   */
  acquire(sessionId: string, options: Parameters<Leases['acquire']>[1] & { readonly isVisit?: boolean }): Promise<Lease>
  /**
   * Another process that has the session open, by its platform and process: it writes it now, or wrote it last, runs on this machine and has
   * not ended it. `null` where none does.
   */
  otherUser(sessionId: string): Promise<string | null>
}

/** The words of all messages. */
export interface SessionSearch {
  /**
   * Finds messages by words in their text, tool name and calls, newest first. Words are joined by AND; `"a phrase"`, `OR`, `NOT`,
   * `prefix*`, `*part*` and `*end` work, and any two neighbouring characters of scripts without blanks. A word that no message has is
   * looked for inside words. Never rejects because of what `query` says.
   */
  find(query: string, options?: SearchOptions): Promise<readonly SearchHit[]>
  /** Messages up to this `seq` are not searched yet: an upgrade takes them in step by step, newest first. 0 when all are. */
  backlog(): Promise<number>
}

/** The state of the store as a whole. */
export interface Maintenance {
  /** What is wrong with the file, one line each; empty when it is sound. Reads all of it, in a thread of its own. */
  check(): Promise<readonly string[]>
  /**
   * What a look at the file found that was due because it was not closed properly before: lines as of `check`, `[]` when it is
   * sound or no look was due. Once there is damage, every write rejects with `store.damaged`.
   */
  damage(): Promise<readonly string[]>
  /**
   * Deletes sessions whose last activity is at least `olderThanMs` ago and that no process has open, some at a time. A session goes only
   * together with all that descend from it, and a pinned one not at all. Tells how many went, or with `dryRun` how many would. Rejects like other writes, and then keeps what it
   * has done.
   */
  prune(options: PruneOptions): Promise<number>
  /** Marks sessions as archived that were quiet for so long and are not pinned; tells how many. Whoever writes one again brings it back. */
  archive(options: ArchiveOptions): Promise<number>
  /** Counts and sizes. */
  stats(): Promise<StoreStats>
}

/** Which sessions are archived. */
export interface ArchiveOptions {
  readonly olderThanMs: number
}

/** Which sessions are pruned. */
export interface PruneOptions {
  readonly olderThanMs: number
  readonly source?: string
  /** Only counts. Default `false`. */
  readonly dryRun?: boolean
}

/**
 * Sessions kept in one file that several processes may use at once, or on a server. Every method rejects with a `HermesError`: `store.busy`
 * (retryable) when other writers did not let it through for some five seconds, `store.disk_full`, `store.unwritable`,
 * `store.corrupt`, and `store.closed` after `close`.
 */
export interface Storage extends SessionStore {
  readonly sessions: StoredSessions
  readonly log: StoredLog
  readonly leases: StoredLeases
  /** What arrives for sessions while nobody runs them. */
  readonly inbox: Inbox
  /** What chats are to be told. */
  readonly outbox: Outbox
  readonly search: SessionSearch
  /** Questions to a person that are not answered, or whose answer was not used yet. */
  readonly approvals: ApprovalStore
  /** What tools ask people, as long as no answer has reached the model. */
  readonly questions: QuestionStore
  /** What the policy decided, also in sessions that are gone. */
  readonly audit: AuditLog
  /** Every finished model call, auxiliary tasks included; also of sessions that are gone. */
  readonly usage: UsageLedger
  /** Past failures and what helped. */
  readonly learnings: Learnings
  /** What sessions were about. */
  readonly summaries: SessionSummaries
  /** Work that outlives the process which asked for it. */
  readonly jobs: Jobs
  readonly meta: MetaStore
  readonly maintenance: Maintenance
  /**
   * Waits for writes under way, ends the sessions written through this object that are still open, with the reason `closed`, gives up its
   * leases and closes the file. Twice is harmless.
   */
  close(): Promise<void>
}
