/** Something a provider remembers. */
export interface Recalled {
  /** For {@link MemoryProvider.forget}; `null` for what cannot be forgotten by itself, such as a description of the person. */
  readonly id: string | null
  readonly text: string
}

/** One exchange of a conversation. */
export interface KeptTurn {
  readonly sessionId: string
  /** What the person said, and what came of it. */
  readonly user: string
  readonly assistant: string
  readonly atMs: number
}

/** How a call of a provider may end early. */
export interface CallOptions {
  readonly signal: AbortSignal
}

/**
 * A memory beyond the two files, of any size; at most one is active. All calls reject with a HermesError of one line, `memory.provider_*`:
 * `unauthorized`, `refused`, `unavailable` (retryable) or `bad_reply`. Abort passes through. @see 001 section 9
 */
export interface MemoryProvider {
  readonly name: string
  /** What it knows about a text, the most fitting first; `[]` when nothing. `limit` is at least 1. */
  recall(query: string, options: CallOptions & { readonly limit: number }): Promise<readonly Recalled[]>
  /** Takes an exchange in, and what follows from it; that may take the service a while. */
  keep(turn: KeptTurn, options: CallOptions): Promise<void>
  /** Remembers a text as it is. */
  store(text: string, options: CallOptions): Promise<void>
  /** `false` when there is nothing with that id. */
  forget(id: string, options: CallOptions): Promise<boolean>
  /** Whether it can be reached and takes the key; rejects with what is wrong. */
  check(options: CallOptions): Promise<void>
  close(): Promise<void>
}
