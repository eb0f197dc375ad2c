import type { PersonFilter } from './learnings.js'

/** What a session was about, as a search for sessions reads it. */
export interface SessionSummary {
  readonly sessionId: string
  readonly text: string
  readonly keywords: readonly string[]
  /** The last entry that it tells of; a session that went on since has newer ones. */
  readonly upToSeq: number
  /** When it was written, in Unix milliseconds. */
  readonly atMs: number
}

/** What is saved. `text` is cut at 4,000 characters, `keywords` at 30 of 60 characters each. */
export interface NewSessionSummary {
  readonly sessionId: string
  readonly text: string
  readonly keywords?: readonly string[]
  readonly upToSeq: number
}

/** One summary per session; it goes with its session. */
export interface SessionSummaries {
  /**
   * Keeps it in place of the one before. Rejects with `store.unknown_session`, and with `store.bad_summary` when the text is empty.
   * Needs no lease: a summary is no part of the conversation.
   */
  save(summary: NewSessionSummary): Promise<void>
  /** `null` when there is none. */
  get(sessionId: string): Promise<SessionSummary | null>
  /**
   * Those with the words of `query` in text or keywords, the best match first; the query is one of `Storage.search`. Never rejects because
   * of what it says. Default limit 10, at most 100.
   */
  search(
    query: string,
    options?: PersonFilter & { readonly limit?: number; readonly excludeSessions?: readonly string[] },
  ): Promise<readonly SessionSummary[]>
}
