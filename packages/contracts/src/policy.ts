/** Something that reaches outside the conversation. Paths are absolute and resolved; `argv` or `command` is what will run. */
export type Action =
  | {
      readonly type: 'spawn'
      /** The command line handed to a shell, or the program of `argv`. */
      readonly command: string
      readonly argv?: readonly string[]
      readonly cwd: string
      /** Which kind of environment runs it: `local`, `docker`, `ssh` … */
      readonly backend: string
    }
  | { readonly type: 'read'; readonly path: string; readonly backend: string }
  | {
      readonly type: 'write'
      readonly path: string
      readonly operation: 'write' | 'mkdir' | 'rename' | 'remove'
      readonly backend: string
    }
  | { readonly type: 'fetch'; readonly url: string; readonly method: string }
  | { readonly type: 'send'; readonly target: string }

/** On whose behalf an action is asked for. */
export interface Subject {
  readonly sessionId: string
  /** Where the session runs: `cli`, `acp`, `gateway`, `embedded` … */
  readonly surface: string
  readonly user?: string
  /** Root agent first; `['root']` for the agent a person talks to. */
  readonly agentPath: readonly string[]
  readonly origin: 'model' | 'script' | 'plugin' | 'cron' | 'operator'
  /** True once text from outside entered the conversation. */
  readonly tainted: boolean
  /** The session at the root of a tree of delegation: who listens there answers, and leave given there counts. Default: `sessionId`. */
  readonly rootSessionId?: string
  /** The tool that wants to act, for rules that name one. */
  readonly toolName?: string
}

declare const permitBrand: unique symbol

/**
 * Leave to do one action once. Only a policy makes one; sinks take it as their first argument, so forgetting it does not compile.
 */
export interface Permit {
  readonly [permitBrand]: true
  readonly action: Action
  /**
   * Called by the sink just before it acts.
   * @throws HermesError `policy.permit_used` on a second use, `policy.permit_mismatch` when `action` is not the permitted one.
   */
  consume(action: Action): void
}

/** What a policy answers. */
export type Decision =
  | { readonly type: 'allow'; readonly permit: Permit; readonly note?: string }
  | { readonly type: 'ask'; readonly approvalId: string; readonly question: ApprovalQuestion }
  | { readonly type: 'deny'; readonly rule: string; readonly reason: string }

/** What a person is asked. */
export interface ApprovalQuestion {
  readonly action: Action
  readonly subject: Subject
  /** Which rule asks, for example `recursive-delete`. */
  readonly rule: string
  /** One line in plain words. */
  readonly summary: string
  /** Which answers may be given; `always` is missing where a rule must not be made permanent. */
  readonly choices: readonly ApprovalChoice[]
}

export type ApprovalChoice = 'once' | 'session' | 'always' | 'deny'

/** How an approval ended. */
export type ApprovalOutcome =
  | { readonly type: 'allow'; readonly permit: Permit; readonly choice: ApprovalChoice }
  | { readonly type: 'deny'; readonly rule: string; readonly reason: string }
  | { readonly type: 'parked'; readonly approvalId: string }

/** The one decision point in front of every spawn, read, write, fetch and send. A policy that throws counts as a denial. */
export interface Policy {
  /** Answers at once; never waits for a person. With no listener for the session an `ask` rule becomes `deny`. */
  decide(action: Action, subject: Subject, options?: { readonly signal?: AbortSignal }): Promise<Decision>
  /** Waits for the answer to an `ask`. Abort denies; running out of time parks. */
  settled(approvalId: string, options?: { readonly signal?: AbortSignal }): Promise<ApprovalOutcome>
  /** Answers an open approval; `false` when it is unknown or answered already. */
  answer(approvalId: string, choice: ApprovalChoice, by?: string): Promise<boolean>
  /** Registers somebody who can answer for `sessionId` (`*` for all). Returns how to leave. */
  listen(sessionId: string, listener: ApprovalListener): () => void
}

/** Told of each question as it comes up. Must not throw. */
export type ApprovalListener = (approvalId: string, question: ApprovalQuestion) => void
