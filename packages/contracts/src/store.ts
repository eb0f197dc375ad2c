import type { Entry, MessageEntry, NewEntry } from './conversation/entry.js'
import type { UserPart } from './conversation/message.js'
import type { Usage } from './conversation/usage.js'
import type { JsonObject } from './json.js'

/** One conversation as lists show it. Times are Unix milliseconds. */
export interface SessionInfo {
  readonly id: string
  /** Where it began: `cli`, `acp`, `gateway`, `embedded` … */
  readonly source: string
  /** Whose it is, as `people` of config.yaml calls them; `null` for the owner of the home. */
  readonly person: string | null
  readonly title: string | null
  readonly model: string | null
  readonly provider: string | null
  /** The address last asked, so that a session of an endpoint without a name can go on. */
  readonly baseUrl: string | null
  /** The session this one was forked or imported from, or whose child it is. */
  readonly parentSessionId: string | null
  readonly cwd: string | null
  readonly startedAtMs: number
  readonly lastActiveAtMs: number
  readonly endedAtMs: number | null
  readonly endReason: string | null
  readonly messageCount: number
  readonly toolCallCount: number
  readonly usage: Usage
  readonly apiCallCount: number
  /** The start of the first user message. */
  readonly preview: string
}

/** What is known of a session when it begins. What is left out is `null` in its {@link SessionInfo}. */
export interface NewSession {
  /** Unique in its store. */
  readonly id: string
  /** Where it begins; see {@link SessionInfo}. */
  readonly source: string
  readonly title?: string
  readonly model?: string
  readonly provider?: string
  readonly baseUrl?: string
  readonly parentSessionId?: string
  readonly cwd?: string
  /** Default: that of `parentSessionId` where there is one, else the owner's. */
  readonly person?: string | null
  /** Unix milliseconds. Default: now. */
  readonly startedAtMs?: number
}

/**
 * The right to write one session. `token` grows with each new holder, so a writer that lost its lease is refused.
 */
export interface Lease {
  readonly sessionId: string
  readonly owner: string
  readonly token: number
  /** Rejects with `store.lease_lost` when somebody else holds it by now. */
  renew(): Promise<void>
  release(): Promise<void>
}

/** What changes of a session; what is left out stays. */
export interface SessionChange {
  readonly title?: string | null
  readonly endedAtMs?: number | null
  readonly endReason?: string | null
  readonly model?: string
  readonly provider?: string
  readonly baseUrl?: string
}

/** Which sessions there are. Rejections are `HermesError` `store.*`. */
export interface Sessions {
  /** Makes the session; the same id twice is `store.session_exists`. */
  create(session: NewSession): Promise<SessionInfo>
  get(id: string): Promise<SessionInfo | null>
  /** Rejects with `store.unknown_session`, `store.title_taken`. */
  update(id: string, change: SessionChange): Promise<void>
}

/** What was said and done, per session. Rejections are `HermesError` `store.*`. */
export interface SessionLog {
  /** In order of `seq`. An unknown session has none. */
  entries(sessionId: string, options?: { readonly afterSeq?: number }): Promise<readonly Entry[]>
  /**
   * Appends all or none and resolves once they are durable; returns their `seq` in order. `take` are keys of inbox messages of this session that
   * the entries say: they are taken in the same step. `send` is what chats are told of them: it is in the outbox in the same step too, a key
   * that is there already once. A store without an outbox takes no `send`.
   * Rejects with `store.lease_lost` when `lease` is not the newest one, with `store.inbox_message_taken` when an inbox message is not waiting any more.
   */
  append(
    sessionId: string,
    entries: readonly NewEntry[],
    options: {
      readonly lease: Lease
      readonly atMs?: number
      readonly take?: readonly string[]
      readonly send?: readonly NewOutboxMessage[]
    },
  ): Promise<readonly number[]>
  /**
   * Keeps the answer that is being streamed, outside the log and in place of what was kept of the session before; `null` forgets it. The
   * next append of a message removes it. What is still there when nobody holds the lease any more comes into the log as `entry`, unless a
   * message came after it. Rejects with `store.lease_lost`. Absent in a store that does not outlive the process.
   */
  keepPartial?(
    sessionId: string,
    entry: MessageEntry | null,
    options: { readonly lease: Lease; readonly atMs?: number },
  ): Promise<void>
}

/** Who writes which session. */
export interface Leases {
  /**
   * Takes the write lease. Rejects with `store.session_busy` while anybody live holds it; `details.owner` names it.
   * A lease not renewed for `ttlMs` (default 30,000), or whose process on this machine is gone, is free. A session that had ended is open
   * again with it.
   */
  acquire(sessionId: string, options: { readonly owner: string; readonly ttlMs?: number }): Promise<Lease>
}

/** What the agent needs of a store; `@hermes/storage` gives this and more. */
export interface SessionStore {
  readonly sessions: Sessions
  readonly log: SessionLog
  readonly leases: Leases
  /** What arrives for sessions while nobody runs them. Absent in a store that takes none. */
  readonly inbox?: Inbox
  /** What chats are to be told. Absent in a store that keeps none. */
  readonly outbox?: OutboxWriter
}

/** Something for a session to hear of, once. */
export interface InboxMessage {
  /** A key is delivered once, whoever sends it and however often. */
  readonly key: string
  readonly sessionId: string
  /** Dotted name, for example `delegation.result`. */
  readonly kind: string
  readonly body: JsonObject
}

/** The kind of an inbox message that a person said in a chat. */
export const CHAT_MESSAGE = 'chat.message'

/**
 * What a person said in a chat, as the body of an inbox message of the kind {@link CHAT_MESSAGE}. It becomes the user's message in the append
 * that takes it.
 */
export interface ChatMessageBody {
  readonly parts: readonly UserPart[]
  /** Who wrote it, where several people share a chat. */
  readonly author?: string
  /** The chat platform's id of the message. */
  readonly platformMessageId?: string
}

/** A message that a chat is to be told. */
export interface NewOutboxMessage {
  /** Counts once, for as long as the message is kept. */
  readonly key: string
  /** `telegram`, `email` … */
  readonly platform: string
  /** Where to, as the platform's adapter reads it. Messages to one target go out in the order in which they were written. */
  readonly target: string
  /** What; its sender knows how to read it. */
  readonly body: JsonObject
}

/** Where messages to chats are written. Rejections are `HermesError` `store.*`. */
export interface OutboxWriter {
  /** Adds all or none, in order; resolves once they are durable, with how many of the keys were new. */
  add(messages: readonly NewOutboxMessage[]): Promise<number>
}

/** Messages to sessions: durable, each delivered and taken exactly once. Rejections are `HermesError` `store.*`. */
export interface Inbox {
  /**
   * Keeps an inbox message back: it is delivered as it is should this process end, or not hold it again for `ttlMs` (default 120,000). Replaces
   * what is held under the key. `false` when an inbox message of that key was delivered or taken. Rejects with `store.unknown_session`.
   */
  setWill(inboxMessage: InboxMessage, options?: { readonly ttlMs?: number }): Promise<boolean>
  /**
   * Delivers an inbox message, in place of one that is held under its key. `false` when one of that key was delivered or taken before. Rejects
   * with `store.unknown_session`.
   */
  send(inboxMessage: InboxMessage): Promise<boolean>
  /** What was delivered and nobody has taken, oldest first. */
  waiting(sessionId: string): Promise<readonly InboxMessage[]>
}

/** One finished model call, as the ledger keeps it. */
export interface UsageRecord {
  /** When it ended, in Unix milliseconds. */
  readonly atMs: number
  /** `null` for a call that belongs to no session. Stays when the session is deleted: the money was spent. */
  readonly sessionId: string | null
  /** `turn`, `title`, `summary` … */
  readonly purpose: string
  readonly provider: string
  readonly model: string
  readonly usage: Usage
  /** Waits and failed attempts included. */
  readonly durationMs: number
  /** Where the price comes from, with its date where it has one; `null` when the cost is unknown. */
  readonly priceSource: string | null
  /** The answer broke off, so its tokens were estimated. Default: they were counted by who answered. */
  readonly isEstimate?: true
}

/** Which calls are added up; what is absent does not narrow. */
export interface UsageFilter {
  /** Unix milliseconds, this moment included. */
  readonly sinceMs?: number
  /** Unix milliseconds, this moment excluded. */
  readonly untilMs?: number
  readonly sessionId?: string
}

/** What calls are added up by. `day` is a date such as `2026-03-01`; calls of no session have the key of no text. */
export type UsageGroup = 'day' | 'provider' | 'model' | 'session' | 'purpose'

/** Calls added up. */
export interface UsageTotal {
  /** Of the group; no text when all calls are one group. */
  readonly key: string
  readonly calls: number
  /** Its cost is `unknown` as soon as one is. */
  readonly usage: Usage
  /** What the calls with a known cost come to, in US dollars. */
  readonly knownCostUsd: number
  /** Calls whose cost is not known. */
  readonly unpricedCalls: number
  /** Different sources of prices, in order of their names. */
  readonly priceSources: readonly string[]
  /** Calls whose tokens were estimated; absent for none. */
  readonly estimatedCalls?: number
}

/** A model call that is about to be made, as large as it can become. */
export interface UsageReservation {
  /** Different for every call of every process. */
  readonly id: string
  readonly sessionId: string | null
  /** Input and output. */
  readonly tokens: number
  /** US dollars; `unknown` where no price is known yet. */
  readonly costUsd: number | 'unknown'
}

/** What counts for one limit. */
export interface SpendingState {
  /** By finished calls; of those of unknown cost only the tokens are in it. */
  readonly spent: { readonly tokens: number; readonly costUsd: number; readonly unpricedCalls: number }
  /** By calls that are being made, in any process. Its cost is `unknown` as soon as one is. */
  readonly reserved: { readonly calls: number; readonly tokens: number; readonly costUsd: number | 'unknown' }
}

/** Which calls count for one limit. A call that is being made counts for every span of time. */
export type SpendingFilter = Pick<UsageFilter, 'sinceMs' | 'sessionId'>

/** Every finished model call of a home, auxiliary tasks included. */
export interface UsageLedger {
  /** Adds all or none, and forgets the holds named in `releases` with them; resolves once they are durable. */
  record(records: readonly UsageRecord[], options?: { readonly releases?: readonly string[] }): Promise<void>
  /**
   * Keeps room for a call, all processes taken together, when `admits` says so of how things stand for each filter; tells whether it did.
   * One write, in which `admits` is asked: it must be quick and do nothing else; what it throws rejects and keeps nothing. A hold ends with
   * its release, its process, or after half an hour. Absent in a ledger that serves one process.
   */
  reserve?(
    call: UsageReservation,
    question: {
      readonly filters: readonly SpendingFilter[]
      readonly admits: (states: readonly SpendingState[]) => boolean
    },
  ): Promise<boolean>
  /**
   * Calls added up, in order of the key; without `by` exactly one total, also when there are no calls. Days are those of `timeZone`
   * (an IANA name; default UTC).
   */
  totals(
    filter?: UsageFilter & { readonly by?: UsageGroup; readonly timeZone?: string },
  ): Promise<readonly UsageTotal[]>
}
