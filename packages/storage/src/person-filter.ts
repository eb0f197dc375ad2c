/** Whose sessions are meant. */
export interface PersonFilter {
  /** Theirs alone; `null` for those of the owner of the home. Default: of all people. */
  readonly person?: string | null
}
