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
      /** Runs outside the isolation that its environment holds commands in. */
      readonly outside?: true
      /** Isolated, with or without the network where a session may have it off. Default: as its environment has it. */
      readonly network?: 'on' | 'off'
    }
  | {
      readonly type: 'read'
      readonly path: string
      readonly backend: string
      /** What is in the file begins like keys or tokens. */
      readonly holdsKeys?: true
    }
  | {
      readonly type: 'write'
      readonly path: string
      readonly operation: 'write' | 'mkdir' | 'rename' | 'remove'
      /** What is written has programs run by themselves later: install scripts of a package, hooks. */
      readonly runsLater?: true
      readonly backend: string
    }
  | {
      readonly type: 'fetch'
      readonly url: string
      readonly method: string
      /** From a service that the person configured for the agent, wherever it is, and that only looks something up. */
      readonly chosen?: 'looks'
      /** Any certificate will do, one that the server signed itself among them: nobody vouches for whose server it is. */
      readonly anyCertificate?: true
    }
  | {
      readonly type: 'send'
      readonly target: string
      /**
       * To a service that the person configured for the agent, and not in their name. `looks`: it is said to change nothing. `acts` asks once
       * text from outside was read. `asks` always does: the person does not trust it, or it is not what they accepted. Default: a message in
       * the person's name, which asks.
       */
      readonly chosen?: 'looks' | 'acts' | 'asks'
    }

/** On whose behalf an action is asked for. */
export interface Subject {
  readonly sessionId: string
  /** Where the session runs: `cli`, `acp`, `gateway`, `embedded` … */
  readonly platform: string
  readonly user?: string
  /** Absolute folders: of the home, tools see only these. Default: what the owner's sessions see. */
  readonly homePlaces?: readonly string[]
  /** Root agent first; `['root']` for the agent a person talks to. */
  readonly agentPath: readonly string[]
  readonly origin: 'model' | 'script' | 'plugin' | 'cron' | 'operator'
  /** True once text from outside entered the conversation that its source does not clear. */
  readonly tainted: boolean
  /** What tainted it, by names for a person. Default: not known. */
  readonly taintedBy?: readonly string[]
  /** The session at the root of a tree of delegation: who listens there answers, and leave given there counts. Default: `sessionId`. */
  readonly rootSessionId?: string
  /** The tool that wants to act, for rules that name one. */
  readonly toolName?: string
  /** Absolute folder the session works in. Default: those the policy was made with. */
  readonly workspace?: string
  /** Absolute folders that files are written in without asking, and that a command is held to, beside temporary ones. Default: any folder. */
  readonly writable?: readonly string[]
  /** Whose code acts, with the origin `plugin`. What it has not declared is denied. Default: that of Hermes. */
  readonly plugin?: ActingPlugin
  /** The skill of others whose program the command runs; the policy finds out by itself. Default: none. */
  readonly skill?: ActingSkill
}

/** A plugin as the policy knows it: what it declared, and the person agreed to. */
export interface ActingPlugin {
  readonly name: string
  /** Whether it runs commands. */
  readonly exec: boolean
  /** `true`: any host. Else the hosts, each with or without a port; `*.example.com` for those below. */
  readonly network: boolean | readonly string[]
}

/** A command line, and the absolute folder that it starts in. */
export interface StartedLine {
  readonly command: string
  readonly cwd: string
}

/** A skill of others as the policy knows it: what it said of itself, and the person agreed to. */
export interface ActingSkill {
  readonly name: string
  /** Where its files lie. Absolute. */
  readonly folder: string
  /** Paths in the line that lead into it by links, and not by its folder. Absolute. Default: none. */
  readonly links?: readonly string[]
  /** It lies where commands work: isolated ones see it without naming it. Default: only those see it that name it. */
  readonly isOpen?: true
  /** What its programs may beyond working on files. */
  readonly capabilities: readonly ('network' | 'exec' | 'secrets')[]
  /** Variables that its programs get with `secrets`. */
  readonly variables: readonly string[]
}

declare const permitBrand: unique symbol

/**
 * A permit to do one action once. Only a policy makes one; sinks take it as their first argument, so forgetting it does not compile.
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
  /** `isUnasked`: it would have been a question, which nobody was asked. */
  | { readonly type: 'deny'; readonly rule: string; readonly reason: string; readonly isUnasked?: true }

/** What a person is asked. */
export interface ApprovalQuestion {
  readonly action: Action
  readonly subject: Subject
  /** Which rule asks, for example `recursive-delete`. */
  readonly rule: string
  /** One line in plain words. */
  readonly summary: string
  /** The end of the summary: why it is asked, without a capital letter and a full stop. Missing where an older version kept the question. */
  readonly reason?: string
  /** Which answers may be given; `always` is missing where a rule must not be made permanent. */
  readonly choices: readonly ApprovalChoice[]
  /** The rule that `always` writes, to be shown before it is chosen. Set where `always` is among the choices. */
  readonly grant?: string
}

/** What a person may answer: a permit for this one action, a grant for the rest of the session or for good, or none. */
export type ApprovalChoice = 'once' | 'session' | 'always' | 'deny'

/** The session whose questions, answers and grants those of a subject are: the root of its tree of delegation. */
export function rootSessionOf({ sessionId, rootSessionId }: Subject): string {
  return rootSessionId ?? sessionId
}

/** How an approval ended. */
export type ApprovalOutcome =
  | { readonly type: 'allow'; readonly permit: Permit; readonly choice: ApprovalChoice }
  | { readonly type: 'deny'; readonly rule: string; readonly reason: string }
  | { readonly type: 'parked'; readonly approvalId: string }

/** The one decision point in front of every spawn, read, write, fetch and send. A policy that throws counts as a denial. */
export interface Policy {
  /**
   * Answers at once; never waits for a person. With no listener for the session an `ask` rule becomes `deny`. With `mayAsk: false` it does
   * so too, and nobody hears of the question: for what is done without anybody having asked for it. Default `true`. With `ask` what would
   * be allowed is a question all the same, answered for this once; a policy that cannot ask denies it. With `agreed` a person was shown
   * exactly this action before and said yes: what would be a question is allowed. What is denied stays denied.
   */
  decide(
    action: Action,
    subject: Subject,
    options?: {
      readonly signal?: AbortSignal
      readonly mayAsk?: boolean
      /** Who wants a person asked, such as the name of an extension, and why in a line. */
      readonly ask?: { readonly rule: string; readonly reason: string }
      /** Where the person's yes is kept, for the audit trail. */
      readonly agreed?: string
    },
  ): Promise<Decision>
  /** Waits for the answer to an `ask`. Abort denies; running out of time parks. */
  settled(approvalId: string, options?: { readonly signal?: AbortSignal }): Promise<ApprovalOutcome>
  /** Answers an open approval; `false` when it is unknown or answered already. */
  answer(approvalId: string, choice: ApprovalChoice, by?: string): Promise<boolean>
  /**
   * Registers somebody who is told of the questions of `sessionId` (`*` for all) and may answer them. `unanswered` says what comes of a
   * question meanwhile; of several listeners the most patient one decides. Returns how to leave.
   */
  listen(sessionId: string, listener: ApprovalListener, unanswered?: Unanswered): () => void
}

/**
 * What comes of a question that has no answer yet. `wait` (the default): the action waits for it, and parks when the time is over. `park`: it
 * parks at once; agents that others delegated to are denied instead, for nobody resumes them. `deny`: it is denied at once. The question is
 * kept in each case, and an answer given later counts for the next try of the same action in that session.
 */
export type Unanswered = 'wait' | 'park' | 'deny'

/** Told of each question as it comes up. Must not throw. */
export type ApprovalListener = (approvalId: string, question: ApprovalQuestion) => void

/** One question to a person, kept until its answer was used or it expired. */
export interface Approval {
  readonly id: string
  /** Secrets are redacted, in its action too. */
  readonly question: ApprovalQuestion
  /** Tells the same action again, secrets included: SHA-256 in hexadecimal digits. */
  readonly fingerprint: string
  /** Every rule an answer for the session covers. */
  readonly rules: readonly string[]
  readonly askedAtMs: number
  /** From then on it is not answered any more. */
  readonly expiresAtMs: number
  /** `parked`: nobody answered in time, an answer still counts for the next try. `used`: nothing is left to do. */
  readonly status: 'open' | 'parked' | 'answered' | 'used'
  readonly choice: ApprovalChoice | null
  readonly by: string | null
}

/** Where approvals live. A rejection counts as a denial. */
export interface ApprovalStore {
  /**
   * Adds or replaces by id; one that is `used` may be forgotten. What is answered never becomes open or parked again. An answer is kept of a
   * question that is there and has none: of two at once, from whichever processes, one is. `false` when nothing was kept.
   */
  put(approval: Approval): Promise<boolean>
  get(id: string): Promise<Approval | null>
  /** Those of a session and of all that it delegates, by default of all sessions, that are not `used`, oldest first. */
  pending(sessionId?: string): Promise<readonly Approval[]>
}

/** One decision, for the audit trail. Secrets are redacted. */
export interface AuditRecord {
  readonly atMs: number
  readonly sessionId: string
  readonly surface: string
  readonly user: string | null
  readonly agentPath: readonly string[]
  readonly origin: Subject['origin']
  readonly toolName: string | null
  readonly kind: Action['type']
  /** What was asked for, on one line. */
  readonly action: string
  readonly decision: 'allow' | 'ask' | 'deny' | 'parked'
  /** What decided: a pattern, or the name of a built-in rule. */
  readonly rule: string
  /** The question it belongs to, where one was put. */
  readonly approvalId: string | null
  /** Who answered, where a person or a model did. */
  readonly by: string | null
  /** Set by {@link AuditLog.prune} alone: what it took away, and the hash of the last of it, to which the rest is bound. */
  readonly pruned?: { readonly upToSeq: number; readonly hash: string }
}

/** Where decisions are written down: all that ask or deny, and those that allow more than to read. What it throws changes no decision. */
export interface AuditSink {
  record(entry: AuditRecord): void | Promise<void>
}

/** A decision as it was written down. */
export interface AuditEntry extends AuditRecord {
  /** From 1, without gaps. */
  readonly seq: number
  /** SHA-256 over this record and the hash of the one before. */
  readonly hash: string
}

/** Which decisions a list shows. */
export interface AuditFilter {
  /** Unix milliseconds, included. */
  readonly sinceMs?: number
  /** Unix milliseconds, excluded. */
  readonly untilMs?: number
  readonly sessionId?: string
  readonly decision?: AuditRecord['decision']
  readonly kind?: AuditRecord['kind']
  readonly toolName?: string
  /** Part of the action or the rule, whatever its case. */
  readonly text?: string
  /** Default 50. */
  readonly limit?: number
}

/** What a look at the whole trail found. */
export type AuditCheck =
  /**
   * `head` is the newest hash, `null` of an empty trail; noted elsewhere, it shows later that nothing before it was rewritten. `records`
   * are still there, `pruned` were taken away on the record.
   */
  | { readonly type: 'intact'; readonly records: number; readonly pruned: number; readonly head: string | null }
  /** `seq` is the first record that is not what was written. */
  | { readonly type: 'broken'; readonly seq: number; readonly reason: string }

/** The audit trail of a home: records are added and never changed, each bound to the one before by its hash. */
export interface AuditLog {
  /** Adds all or none; resolves once they are durable. */
  append(records: readonly AuditRecord[]): Promise<void>
  /** Newest first. */
  list(filter?: AuditFilter): Promise<readonly AuditEntry[]>
  /** Reads everything. With `head`, a hash noted earlier has to be in the trail. */
  verify(options?: { readonly head?: string }): Promise<AuditCheck>
  /**
   * Takes away the records from the oldest up to the first that is not older than `beforeMs`, and puts `record` on the trail, which says
   * what is gone and keeps the rest verifiable. Resolves with how many went; with 0 nothing was recorded.
   * @throws HermesError `store.audit_broken` when a record is missing where the trail would be cut.
   */
  prune(options: { readonly beforeMs: number; readonly record: AuditRecord }): Promise<number>
}

/** The key by which a question is stored and shown, whatever its field is called. */
const STORED = 'surface'

/** A question as JSON has it: in the store, in events, on the command line. */
export function questionToJson({ subject: { platform: where, ...subject }, ...question }: ApprovalQuestion): object {
  return { ...question, subject: { [STORED]: where, ...subject } }
}

/** An approval as JSON has it. */
export function approvalToJson({ question, ...approval }: Approval): object {
  return { ...approval, question: questionToJson(question) }
}

/** An approval from the text of its JSON. */
export function parseApproval(text: string): Approval {
  const { question, ...approval } = JSON.parse(text) as Approval
  const { [STORED]: where, ...subject } = question.subject as Subject & { readonly [STORED]: string }
  return { ...approval, question: { ...question, subject: { ...subject, platform: where } } }
}

/**
 * Which projects a person trusts with what they bring: instructions, skills, plugins, MCP servers, hooks, linters. Nothing of another project runs by
 * itself.
 */
export interface FolderTrust {
  /**
   * Whether the person trusts the project that the absolute `path` of a folder or file belongs to (its repository, else the nearest folder that
   * was answered for), and nothing of what their answer covers has changed since. Unknown, changed and unreadable projects are not trusted.
   * Never rejects.
   */
  isTrusted(path: string): Promise<boolean>
}
