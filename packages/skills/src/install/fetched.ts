/** Skills that were fetched and are not installed. */
export interface Quarantined {
  /** Each with the name of its folder and what gets it alone, empty where no command can name that. Absolute; empty where it lies elsewhere. */
  readonly skills: readonly { readonly folder: string; readonly name: string; readonly from: string }[]
  /** The commit, or the SHA-256 of what came; `null` for a folder. */
  readonly pin: string | null
  /** Removes what is left of it. Never rejects. */
  discard(): Promise<void>
}

/** What came of a source. */
export type Fetched = Omit<Quarantined, 'discard'>
