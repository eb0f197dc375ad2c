import { type Clock, errorLine, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import {
  type ActingSkill,
  type Action,
  type Approval,
  type ApprovalChoice,
  type ApprovalListener,
  type ApprovalOutcome,
  type ApprovalQuestion,
  type ApprovalStore,
  type AuditSink,
  type Decision,
  type Permit,
  type Policy,
  rootSessionOf,
  type StartedLine,
  type Subject,
  type Unanswered,
} from '@hermes/contracts/policy'
import { createMemoryApprovalStore } from './approvals.js'
import { type AuditedDecision, auditRecord, isAudited } from './audit-record.js'
import { activationsWritten } from './command/kept-variables.js'
import { type Misled, misleads } from './command/needs-network.js'
import { commandText, describeAction, ruleFor } from './describe-action.js'
import { analyzeAction, type EvaluationOptions, evaluate, type Verdict } from './evaluate.js'
import {
  type EvaluationContext,
  type EvaluationSettings,
  readRule,
  readSettings,
  workspaceOf,
} from './evaluation-settings.js'
import { changesLookup, decidingFiles, grantOf, namesScript, programsOnPath, UNKNOWN_DIGEST } from './grants.js'
import { OpenQuestions } from './open-questions.js'
import { createPermit } from './permit.js'
import { actionKey, digestOf, questionOf, redactQuestion } from './questions.js'
import { createRedactor } from './redact/redactor.js'
import { type Reviewer, reviewable } from './reviewer.js'
import { isIn, type ParsedRule, type PermissionRule } from './rules.js'
import { broadGrants, grantName, isListed, isRepeatable } from './session-grants.js'
import { lineOf, skillOf } from './skill-programs.js'

/** Options of {@link createPolicy}. */
export interface PolicyOptions extends EvaluationSettings {
  readonly audit?: AuditSink
  /** Default: in memory. */
  readonly approvals?: ApprovalStore
  readonly clock?: Clock
  /** The rules as they are now, in place of `rules`: asked before each decision, so that a change reaches what is running. */
  readonly currentRules?: () => Promise<readonly PermissionRule[]>
  /** The same in place of `denyGlobs`. What says the same keeps its identity. */
  readonly currentDenyGlobs?: () => Promise<readonly string[]>
  /**
   * SHA-256 as hexadecimal digits over what the files hold, together with which of them there are, for a command in `cwd`; `null` where there
   * is none of them, `unknown` where nobody can tell what they run. Paths may begin with `~`. Without it, commands that files decide about get no lasting grant.
   */
  readonly digestFiles?: (paths: readonly string[], cwd: string) => Promise<string | null>
  /**
   * What the programs of these names are where they are looked for from `cwd`, as text that is another one when another program is found:
   * paths, and what lies where an agent may write. `null` where all are programs of the system, `unknown` where it cannot be told.
   * Default: names say enough.
   */
  readonly identifyPrograms?: (names: readonly string[], cwd: string) => Promise<string | null>
  /** The skills of others as they are now for who works in an absolute folder, and those that the line leads to: their programs act as them. Default: none. */
  readonly skills?: (workspace: string, line: StartedLine) => Promise<readonly ActingSkill[]>
  /** Keeps an "always" answer. What it throws is logged; the answer counts for this process all the same. */
  readonly onAlways?: (rule: PermissionRule) => void | Promise<void>
  /** Looks at questions before a person does: `approvals.mode: smart`. Default: none. */
  readonly reviewer?: Reviewer
  /** How long `settled` waits before it parks. Default 300,000. */
  readonly approvalTimeoutMs?: number
  /** How long a question can be answered, and a late answer counts. Default 86,400,000, a day. */
  readonly approvalExpiryMs?: number
  /** How often `settled` looks for answers that another process gave. Default: never. */
  readonly approvalPollMs?: number
  /** Takes secrets out of what is kept and shown. Default: by shape. */
  readonly redact?: (text: string) => string
  readonly logger?: Logger
}

/**
 * The one decision point. Order: hard floor, deny globs, protected paths and hosts, rules (the last match wins), grants, mode, command
 * classification, default allow; where it asks, `reviewer` may answer before a person does. Fails closed: whatever throws is a denial.
 * @throws HermesError never from its methods; on creation `TypeError` for a rule that cannot be read.
 */
export function createPolicy(options: PolicyOptions): RevocablePolicy {
  return new RulePolicy(options)
}

/** A policy whose grants for a session can be listed and revoked. */
export interface RevocablePolicy extends Policy {
  /** What answers granted until the session ends, in this process, one line each, sorted. */
  listGrants(sessionId: string): readonly string[]
  /** Ends those grants; what asked before asks again. */
  revokeGrants(sessionId: string): void
}

interface Listener {
  readonly sessionId: string
  readonly tell: ApprovalListener
  readonly unanswered: Unanswered
}

type DecideOptions = NonNullable<Parameters<Policy['decide']>[2]>

const NO_FILES: ReadonlySet<string> = new Set()

class RulePolicy implements RevocablePolicy {
  readonly #options: PolicyOptions
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #redact: (text: string) => string
  #evaluationContext: EvaluationContext
  /** The rules that `#basis` was read from. */
  #read: readonly PermissionRule[] | undefined
  #denied: readonly string[] | undefined
  #look: Promise<void> | null = null
  /** Rules of answers that are kept nowhere else. */
  readonly #learned: ParsedRule[] = []
  /** The commands of a session, by its root, after which names of programs may mean others in its shell, with how often each ran. */
  readonly #lookupChanges = new Map<string, Map<string, number>>()
  /** Sessions, by their roots, in whose shell package managers and clients may be programs of the workspace. */
  readonly #misled = new Map<string, Misled>()
  readonly #activations = new Map<string, ReadonlySet<string>>()
  /**
   * What a session is granted, by its root, each with a line for a person. Grants given before untrusted text entered the session do not
   * cover actions such text could aim at: those have rules of their own.
   */
  readonly #grants = new Map<string, Map<string, string>>()
  readonly #listeners = new Set<Listener>()
  readonly #questions: OpenQuestions

  constructor(options: PolicyOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    this.#redact = options.redact ?? createRedactor({ secrets: [] }).redact
    this.#questions = new OpenQuestions({
      store: options.approvals ?? createMemoryApprovalStore(),
      clock: this.#clock,
      redact: this.#redact,
      timeoutMs: options.approvalTimeoutMs ?? 300_000,
      expiryMs: options.approvalExpiryMs ?? 86_400_000,
      pollMs: options.approvalPollMs ?? Number.POSITIVE_INFINITY,
    })
    this.#evaluationContext = readSettings(options)
    this.#read = options.rules
    this.#denied = options.denyGlobs
  }

  async decide(action: Action, subject: Subject, options: DecideOptions = {}): Promise<Decision> {
    const decision = await this.#decide(action, subject, options).catch((error: unknown): Decision => {
      this.#logger.error('policy failed', { error: errorLine(error) })
      return { type: 'deny', rule: 'policy-error', reason: `The policy could not decide: ${errorLine(error)}` }
    })
    return decision
  }

  async #decide(action: Action, requested: Subject, options: DecideOptions): Promise<Decision> {
    const { signal, mayAsk = true, ask } = options
    if (signal?.aborted) return this.#deny(action, requested, 'aborted', 'The call was stopped.')
    const skill = await this.#skillOf(action, requested)
    const subject = skill === null ? requested : { ...requested, skill }
    await this.#refresh()
    const hasGrants = this.#grants.has(rootSessionOf(subject))
    const digest = hasGrants || this.#isBound(action) ? await this.#digest(action, subject) : null
    const key = hasGrants ? await this.#key(action, subject, digest) : null
    const evaluated = evaluate(action, subject, this.#evaluationOptions(action, subject, { digest, key }))
    const verdict = ask && evaluated.type === 'allow' ? questioned(ask, evaluated) : evaluated
    switch (verdict.type) {
      case 'deny':
        return this.#deny(action, subject, verdict.rule, verdict.reason)
      case 'allow':
        await this.#audit(action, subject, { decision: 'allow', rule: verdict.rule })
        return { type: 'allow', permit: this.#permit(action, subject) }
      case 'ask':
        if (options.agreed !== undefined) {
          await this.#audit(action, subject, { decision: 'allow', rule: verdict.rules[0]!, by: options.agreed })
          return { type: 'allow', permit: this.#permit(action, subject) }
        }
        if (mayAsk) return this.#ask(action, subject, verdict, options)
        return { type: 'deny', rule: verdict.rules[0]!, reason: sentence(verdict.reason), isUnasked: true }
      default:
        return verdict satisfies never
    }
  }

  async #skillOf(action: Action, subject: Subject): Promise<ActingSkill | null> {
    const { skills } = this.#options
    if (action.type !== 'spawn' || skills === undefined) return null
    return skillOf(action, await skills(subject.workspace ?? action.cwd, lineOf(action)), subject)
  }

  /** What is decided in one turn of the event loop, such as the calls of one reply, is decided by one look at the rules. */
  #refresh(): Promise<void> {
    if (this.#look === null) {
      this.#look = this.#readRules()
      setImmediate(() => {
        this.#look = null
      })
    }
    return this.#look
  }

  /** Reads the rules anew where they are others now. */
  async #readRules(): Promise<void> {
    const { currentRules, currentDenyGlobs, rules, denyGlobs } = this.#options
    const [current = rules, denied = denyGlobs] = [await currentRules?.(), await currentDenyGlobs?.()]
    if (current === this.#read && denied === this.#denied) return
    const changed = { ...(current ? { rules: current } : {}), ...(denied ? { denyGlobs: denied } : {}) }
    this.#evaluationContext = readSettings({ ...this.#options, ...changed })
    this.#read = current
    this.#denied = denied
  }

  /** Whether a rule is bound to the folder of the command: only then do the contents of its files decide. */
  #isBound(action: Action): boolean {
    if (action.type !== 'spawn') return false
    return [...this.#evaluationContext.rules, ...this.#learned].some(
      ({ folder }) => folder !== null && isIn(folder, action),
    )
  }

  /** What the files and programs that decide about a command hold and are, where a rule or a question could need to know. */
  async #digest(action: Action, subject: Subject): Promise<string | null> {
    if (action.type !== 'spawn') return null
    const { command } = analyzeAction(action, subject, this.#evaluationOptions(action, subject))
    if (command === null) return null
    const { digestFiles, identifyPrograms } = this.#options
    const isHere = action.backend === 'local' && digestFiles !== undefined
    // On another machine nobody here knows which of the words are files.
    if (!isHere) return namesScript(command.collected) ? UNKNOWN_DIGEST : null
    const files = decidingFiles(command.collected)
    const names = programsOnPath(command.collected)
    if (files === null) return UNKNOWN_DIGEST
    const [held, found] = await Promise.all([
      files.length === 0 ? null : digestFiles(files, action.cwd),
      names.length === 0 ? null : (identifyPrograms?.(names, action.cwd) ?? null),
    ])
    if (held === UNKNOWN_DIGEST || found === UNKNOWN_DIGEST) return UNKNOWN_DIGEST
    return found === null ? held : digestOf([held, found])
  }

  /** The permit for what is allowed. From here on a command counts as one that ran. */
  #permit(action: Action, subject: Subject): Permit {
    const session = rootSessionOf(subject)
    const { userHome } = this.#evaluationContext.options
    const { command } = analyzeAction(action, subject, this.#evaluationOptions(action, subject))
    const written = activationsWritten(action, command?.collected ?? null, userHome)
    if (written.length > 0)
      this.#activations.set(session, new Set([...(this.#activations.get(session) ?? []), ...written]))
    if (action.type === 'spawn' && !action.outside) {
      const misled = command === null ? 'none' : misleads(command.collected)
      if (misled === 'all' || (misled === 'python' && !this.#misled.has(session))) this.#misled.set(session, misled)
      if (command !== null && changesLookup(command.collected)) {
        const changes = this.#lookupChanges.get(session) ?? new Map<string, number>()
        this.#lookupChanges.set(session, changes.set(command.text, (changes.get(command.text) ?? 0) + 1))
      }
    }
    return createPermit(action)
  }

  /** How often other commands of the session may have changed which programs names mean. What a command changes itself was clicked with it. */
  #epoch(action: Action, subject: Subject): number {
    const own = action.type === 'spawn' ? commandText(action) : null
    const others = [...(this.#lookupChanges.get(rootSessionOf(subject)) ?? [])].filter(([text]) => text !== own)
    return others.reduce((sum, [, times]) => sum + times, 0)
  }

  /** What a grant for a session is bound to. */
  #key(action: Action, subject: Subject, digest: string | null): Promise<string> {
    return actionKey(action, digest, this.#epoch(action, subject))
  }

  #evaluationOptions(
    action: Action,
    subject: Subject,
    { digest = null, key = null }: { readonly digest?: string | null; readonly key?: string | null } = {},
  ): EvaluationOptions {
    const { options, granted, rules } = this.#evaluationContext
    // Where names may mean other programs than before, nothing that was clicked says what runs.
    const isSame = this.#epoch(action, subject) === 0
    const all = [...rules, ...this.#learned]
    return {
      ...options,
      ...workspaceOf(subject),
      digest,
      // What runs outside the isolation gets none of what was set inside.
      rules: isSame ? all : all.filter(({ folder, selector }) => folder === null || selector.outside === true),
      misled: this.#misled.get(rootSessionOf(subject)) ?? 'none',
      activations: this.#activations.get(rootSessionOf(subject)) ?? NO_FILES,
      granted: (rule) =>
        isListed(granted, rule) ||
        (key !== null && (this.#grants.get(rootSessionOf(subject))?.has(grantName(rule, key)) ?? false)),
    }
  }

  async #ask(
    action: Action,
    subject: Subject,
    verdict: Extract<Verdict, { type: 'ask' }>,
    { signal, ask }: DecideOptions,
  ): Promise<Decision> {
    const earlier = await this.#questions.earlier(action, subject)
    if (earlier?.status === 'answered') return this.#useAnswer(earlier, action)
    const listeners = this.#listenersOf(subject)
    const digest = await this.#digest(action, subject)
    const { command } = analyzeAction(action, subject, this.#evaluationOptions(action, subject))
    const collected = command?.collected ?? null
    const question = questionOf(action, subject, verdict, {
      redact: this.#redact,
      grant: ask === undefined ? grantOf(action, { subject, collected, digest }) : null,
      // What an extension asks about was allowed already: only this call is in question.
      isRepeatable: ask === undefined && isRepeatable(collected, digest),
    })
    const { rule } = question
    const reviewed = await this.#review(question, verdict.rules, signal)
    if (reviewed) return reviewed
    const refusal = `${sentence(verdict.reason)} ${this.#wayOut(action, subject)}`
    if (listeners.length === 0) return this.#deny(action, subject, rule, refusal)
    const key = await this.#key(action, subject, digest)
    const grants = verdict.rules.map((name) => grantName(name, key))
    const unanswered = mostPatient(listeners, subject)
    const id = await this.#questions.put({ question, unanswered, refusal: `${refusal} ${KEPT}` }, grants, earlier)
    if (unanswered !== 'deny') await this.#audit(action, subject, { decision: 'ask', rule, approvalId: id })
    for (const listener of listeners) this.#tell(listener.tell, id, question)
    return { type: 'ask', approvalId: id, question }
  }

  /** What the reviewer says in a person's place; `null` where it is for a person to say. */
  async #review(
    question: ApprovalQuestion,
    rules: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Decision | null> {
    const { reviewer } = this.#options
    const { action, subject, rule } = question
    if (!reviewer) return null
    const evaluationOptions = this.#evaluationOptions(action, subject)
    if (!reviewable(analyzeAction(action, subject, evaluationOptions), rules, evaluationOptions)) return null
    const { verdict, by } = await reviewer.review(redactQuestion(question, this.#redact), signal ? { signal } : {})
    if (signal?.aborted) return this.#deny(action, subject, 'aborted', 'The call was stopped.')
    switch (verdict) {
      case 'approve':
        await this.#audit(action, subject, { decision: 'allow', rule, by })
        return { type: 'allow', permit: this.#permit(action, subject), note: `approved by ${by}` }
      case 'deny':
        await this.#audit(action, subject, { decision: 'deny', rule, by })
        return {
          type: 'deny',
          rule,
          reason: `${sentence(question.summary)} The model that reviews such requests (${by}) refused. Do not try the same in another way; ask the user.`,
        }
      case 'escalate':
        return null
      default:
        return verdict satisfies never
    }
  }

  async #useAnswer(approval: Approval, action: Action): Promise<Decision> {
    const outcome = await this.#outcome(approval, action)
    if (outcome.type === 'allow') return { type: 'allow', permit: outcome.permit, note: 'approved by the user' }
    return { type: 'deny', rule: approval.question.rule, reason: outcome.type === 'deny' ? outcome.reason : '' }
  }

  #wayOut(action: Action, { platform, toolName }: Subject): string {
    const suggestion = this.#redact(`add \`${ruleFor(action, toolName).pattern}: allow\` to permissions.yaml`)
    const ways = OF_THE_CLI.has(platform) ? `run interactively, pass --yolo, or ${suggestion}` : suggestion
    return `Nobody can approve it here; ${ways}.`
  }

  async settled(approvalId: string, options: { readonly signal?: AbortSignal } = {}): Promise<ApprovalOutcome> {
    try {
      return await this.#settle(approvalId, options.signal)
    } catch (error) {
      this.#logger.error('approval failed', { error: errorLine(error) })
      return { type: 'deny', rule: 'policy-error', reason: `The approval could not be read: ${errorLine(error)}` }
    }
  }

  async #settle(approvalId: string, signal: AbortSignal | undefined): Promise<ApprovalOutcome> {
    const settled = await this.#questions.settle(approvalId, signal)
    switch (settled.type) {
      case 'answered':
        return this.#outcome(settled.approval, settled.action)
      case 'unknown':
        return { type: 'deny', rule: 'unknown-approval', reason: 'Nothing is asked under this id any more.' }
      case 'aborted': {
        const { action, subject } = settled.question
        await this.#audit(action, subject, { decision: 'deny', rule: 'aborted', approvalId })
        return { type: 'deny', rule: 'aborted', reason: 'The call was stopped before anybody answered.' }
      }
      case 'parked': {
        const { action, subject, rule } = settled.question
        if (settled.isNew) await this.#audit(action, subject, { decision: 'parked', rule, approvalId })
        return { type: 'parked', approvalId }
      }
      case 'refused': {
        const { action, subject, rule } = settled.question
        await this.#audit(action, subject, { decision: 'deny', rule, approvalId })
        return { type: 'deny', rule, reason: settled.refusal }
      }
      default:
        return settled satisfies never
    }
  }

  async answer(approvalId: string, choice: ApprovalChoice, by?: string): Promise<boolean> {
    const answered = await this.#questions.answer(approvalId, choice, by)
    if (!answered) return false
    this.#learn(answered)
    const { grant } = answered.question
    if (answered.choice === 'always' && grant !== undefined) await this.#keep({ pattern: grant, effect: 'allow' })
    this.#questions.wake(approvalId)
    return true
  }

  /** What an answer means for what comes after it. */
  #learn({ choice, rules, question }: Approval): void {
    if (choice === 'session') this.#grant(rootSessionOf(question.subject), rules, describeAction(question.action))
    // Where rules are read anew, the file is the one place of what was granted: taken out of it, it is gone.
    const { grant } = question
    if (choice !== 'always' || grant === undefined || this.#options.currentRules) return
    if (!this.#learned.some(({ pattern }) => pattern === grant))
      this.#learned.push(readRule({ pattern: grant, effect: 'allow' }))
  }

  async #keep(rule: PermissionRule): Promise<void> {
    const { onAlways, currentRules } = this.#options
    try {
      await onAlways?.(rule)
    } catch (error) {
      if (currentRules) this.#learned.push(readRule(rule))
      this.#logger.error('rule not saved', { pattern: this.#redact(rule.pattern), error: errorLine(error) })
    }
  }

  /** Uses an answer up. `action` is the one that was asked about. */
  async #outcome(approval: Approval, action: Action): Promise<ApprovalOutcome> {
    const { id, question, choice, by } = approval
    await this.#questions.use(approval)
    this.#learn(approval)
    const { rule, subject } = question
    const isAllowed = choice !== null && choice !== 'deny'
    await this.#audit(action, subject, { decision: isAllowed ? 'allow' : 'deny', rule, by, approvalId: id })
    if (isAllowed) return { type: 'allow', permit: this.#permit(action, subject), choice }
    return {
      type: 'deny',
      rule,
      reason: 'The user said no. Do not try the same in another way; ask what to do instead.',
    }
  }

  listen(sessionId: string, listener: ApprovalListener, unanswered: Unanswered = 'wait'): () => void {
    const entry = { sessionId, tell: listener, unanswered }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  listGrants(sessionId: string): readonly string[] {
    return [...(this.#grants.get(sessionId)?.values() ?? [])].sort()
  }

  revokeGrants(sessionId: string): void {
    this.#grants.delete(sessionId)
  }

  #grant(sessionId: string, names: readonly string[], action: string): void {
    const grants = this.#grants.get(sessionId) ?? new Map<string, string>()
    for (const name of names) {
      const [rule = '', key] = name.split(' @ ')
      grants.set(name, key === undefined ? (broadGrants([rule])[0] ?? rule) : `${rule} (${action})`)
    }
    this.#grants.set(sessionId, grants)
  }

  #listenersOf(subject: Subject): readonly Listener[] {
    const heard = ['*', subject.sessionId, rootSessionOf(subject)]
    return [...this.#listeners].filter(({ sessionId }) => heard.includes(sessionId))
  }

  #tell(tell: ApprovalListener, id: string, question: ApprovalQuestion): void {
    try {
      tell(id, question)
    } catch (error) {
      this.#logger.error('approval listener failed', { error: errorLine(error) })
    }
  }

  async #deny(action: Action, subject: Subject, rule: string, reason: string): Promise<Decision> {
    await this.#audit(action, subject, { decision: 'deny', rule })
    return { type: 'deny', rule, reason }
  }

  async #audit(action: Action, subject: Subject, decision: AuditedDecision): Promise<void> {
    const { audit } = this.#options
    if (!audit || !isAudited(action, decision)) return
    try {
      await audit.record(auditRecord(action, subject, decision, { atMs: this.#clock.now(), redact: this.#redact }))
    } catch (error) {
      this.#logger.error('audit failed', { error: errorLine(error) })
    }
  }
}

/** Where a person can start the agent in another way. */
const OF_THE_CLI: ReadonlySet<string> = new Set(['cli', 'oneshot'])

/** Said to the model where nobody answers now. */
const KEPT =
  'The question is kept: a yes that the user gives later with `hermes approvals` counts when this is tried again.'

function mostPatient(listeners: readonly Listener[], { agentPath }: Subject): Unanswered {
  if (listeners.some(({ unanswered }) => unanswered === 'wait')) return 'wait'
  const mayPark = agentPath.length <= 1 && listeners.some(({ unanswered }) => unanswered === 'park')
  return mayPark ? 'park' : 'deny'
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** What is allowed, but for somebody who wants a person asked. */
function questioned(
  { rule, reason }: NonNullable<DecideOptions['ask']>,
  { stage }: Verdict,
): Extract<Verdict, { type: 'ask' }> {
  return { type: 'ask', rules: [rule], reason, stage }
}
