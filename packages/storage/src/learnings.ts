import type { TextSource } from '@hermes/contracts/conversation'

/** Of one that Hermes saw by itself: a failure that the same run got over. */
export const SEEN_TAG = 'seen'
/** Of one kept in a session that had read text from outside; its words count as such until a person changes them. */
export const OUTSIDE_TAG = 'outside'
/** Where the words of such a one come from. */
export const FROM_OUTSIDE: readonly TextSource[] = Object.freeze([
  { type: 'note', name: 'a learning of a session that read text from outside', isMarked: true },
])

/** What went wrong once, and what helped. */
export interface Learning {
  readonly id: number
  /** How the failure shows: the telling part of an error message. */
  readonly pattern: string
  /** The tool it came from, or a kind of error; no text for any. */
  readonly errorType: string
  readonly fix: string
  /** Where it happened and why the fix works; may be empty. */
  readonly context: string
  readonly tags: readonly string[]
  /** Unix milliseconds. */
  readonly createdAtMs: number
  /** How often it was saved again or shown beside a failure. */
  readonly timesUsed: number
}

/** What is saved. Texts are cut: `pattern` at 500, `fix` at 2,000, `context` at 1,000 characters. */
export interface NewLearning {
  readonly pattern: string
  readonly errorType?: string
  readonly fix: string
  readonly context?: string
  readonly tags?: readonly string[]
  /** Whose it is; `null`, the default, for the owner of the home. */
  readonly person?: string | null
}

/** Past failures with their fixes, kept for later ones. At most 1,000 of each person; the least used of the oldest go first. */
export interface Learnings {
  /**
   * Keeps it; what is nearly the same as one of before takes its place and counts on, but one with the tag `seen` never takes the place of
   * one without. Rejects with `store.bad_learning` when a text is empty.
   */
  save(learning: NewLearning): Promise<{ readonly learning: Learning; readonly isMerged: boolean }>
  /** Those that share words with `query`, the nearest first; all, the most used first, without one. Default limit 10. */
  find(
    options?: PersonFilter & {
      readonly query?: string
      readonly tag?: string
      readonly limit?: number
    },
  ): Promise<readonly Learning[]>
  /** Other words for what helped, by a person: it is theirs then. `null` when there is none of that id; rejects as `save` does. */
  edit(id: number, change: Required<PersonFilter> & { readonly fix: string }): Promise<Learning | null>
  /** Whether there was one of that id. */
  remove(id: number, filter: Required<PersonFilter>): Promise<boolean>
  /** The one whose pattern is in an error of this tool, counted as used; `null` when none is near enough. */
  match(error: PersonFilter & { readonly text: string; readonly tool: string }): Promise<Learning | null>
}

/** Whose sessions are meant. */
export interface PersonFilter {
  /** Theirs alone; `null` for those of the owner of the home. Default: of all people. */
  readonly person?: string | null
}
