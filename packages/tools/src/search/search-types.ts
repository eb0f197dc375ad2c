import type { ToolContext } from '@hermes/contracts/tool'

/** Where to look and what to leave out. Paths of results are relative to `root`. */
export interface SearchScope {
  /** Absolute, without links. */
  readonly root: string
  /** A single file of `root` to look at, instead of everything below. */
  readonly file: string | null
  readonly glob: string | null
  /** Whether names that begin with a dot take part; `.git` never does. */
  readonly hidden: boolean
  /** False when `root` itself is ignored from above: who names an ignored folder wants to see it. */
  readonly parentRules: boolean
  /** Folders that are left out, relative to `root`. */
  readonly skip: readonly string[]
}

/** What to look for inside files. */
export interface ContentQuery extends SearchScope {
  readonly pattern: string
  readonly context: number
  readonly mode: 'content' | 'files_only' | 'count'
}

export interface FoundLine {
  /** From 1. */
  readonly line: number
  readonly text: string
  readonly isMatch: boolean
}

/** One file with matches, by relative path. `lines` is empty unless the mode is `content`. */
export interface FoundFile {
  readonly path: string
  readonly lines: readonly FoundLine[]
  /** Matching lines. */
  readonly count: number
}

/** Results in no particular order; not `complete` when the search was cut short. */
export interface Found<T> {
  readonly results: readonly T[]
  readonly complete: boolean
  /** It was cut short as it took too long, rather than as it found too much. Default `false`. */
  readonly timedOut?: boolean
}

/** One way to search. `null` when it is not available here. */
export interface Searcher {
  /** @throws HermesError `tool.bad_pattern`. */
  content(query: ContentQuery, context: ToolContext): Promise<Found<FoundFile> | null>
  /** The files of the scope; `glob` may be left to the caller. */
  files(scope: SearchScope, context: ToolContext): Promise<Found<string> | null>
}

/** Both searchers stop collecting here. */
export const MAX_COLLECTED_CHARS = 2_000_000
