import type { Question } from '@hermes/contracts/tool'

/** A session as clients see it. Times are ISO 8601. */
interface ServedSession {
  readonly id: string
  readonly title: string | null
  readonly source: string
  readonly preview: string
  readonly messages: number
  readonly lastActiveAt: string
}

/** A message that a search found. */
interface ServedHit {
  readonly session: string
  readonly seq: number
  readonly role: string
  readonly at: string
  readonly snippet: string
}

/** One message of a session. */
interface ServedMessage {
  readonly seq: number
  readonly role: string
  readonly text: string
}

/** What a run is asked. */
interface RunRequest {
  readonly prompt: string
  /** Goes on with this session. Default: a new one. */
  readonly session?: string
}

/** Something a run waits for: a question, or leave for an action. */
export interface OpenQuestion {
  readonly question: Question
  /** The answer; `null` for none. */
  answer(text: string | null): void
}

/** A run under way. */
export interface ServedRun {
  /** The next thing it waits for, or how it ended. Abort of `signal` meanwhile interrupts it. */
  next(options: {
    readonly progress: (line: string) => void
    readonly signal: AbortSignal
  }): Promise<OpenQuestion | RunOutcome>
  /** Interrupts it. */
  stop(): void
}

/** How a run ended. */
export interface RunOutcome {
  readonly session: string
  readonly status: string
  readonly text: string
}

/** A skill with its files as they are. */
export interface ServedSkill {
  readonly name: string
  /** The head of SKILL.md. */
  readonly frontmatter: { readonly name: string; readonly description: string }
  /** Their paths in the skill; SKILL.md first. */
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[]
}

/** What a home offers to clients. */
export interface ServedHome {
  list(options: { readonly limit: number; readonly offset: number }): Promise<readonly ServedSession[]>
  search(query: string, options: { readonly limit: number }): Promise<readonly ServedHit[]>
  /** `null` for a session that is not there. */
  read(
    session: string,
    options: { readonly after: number; readonly limit: number },
  ): Promise<readonly ServedMessage[] | null>
  memory(): Promise<readonly { readonly store: string; readonly entries: readonly string[] }[]>
  readonly skills: {
    names(): Promise<readonly string[]>
    /** `null` for one that is not there, or is not handed on. */
    read(name: string): Promise<ServedSkill | null>
  }
  /** Rejects in a line when the session is not there. */
  run(request: RunRequest): Promise<ServedRun>
}
