import { type Clock, errorLine, isAbort, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type {
  Action,
  ApprovalChoice,
  ApprovalListener,
  ApprovalOutcome,
  ApprovalQuestion,
  Decision,
  Policy,
  Subject,
} from '@hermes/contracts/policy'
import {
  type Approval,
  type ApprovalStore,
  type AuditRecord,
  type AuditSink,
  createMemoryApprovalStore,
} from './approvals.js'
import { describeAction, ruleFor } from './describe-action.js'
import { type JudgeOptions, judge, type Verdict } from './judge.js'
import { createPermit, sameAction } from './permit.js'
import { createRedactor } from './redact/redactor.js'
import { type ParsedRule, type PermissionRule, parseRule } from './rules.js'
import type { CheckUrlOptions } from './url/check-url.js'

/** Options of {@link createPolicy}. */
export interface PolicyOptions {
  /** `ask` a person about what is dangerous; `off` allows what only a question stands against. */
  readonly mode: 'ask' | 'off'
  /** Absolute path of the Hermes home, whose files are protected. */
  readonly home: string
  /** Absolute path of the person's home folder. */
  readonly userHome: string
  /** Default none. Rules with bad patterns are refused, see `parseRules`. */
  readonly rules?: readonly PermissionRule[]
  /** Absolute roots that relative patterns refer to. Default none. */
  readonly workspace?: readonly string[]
  /** Globs over commands, paths, URLs and targets that block even with `mode: off`. Default none. */
  readonly denyGlobs?: readonly string[]
  /** `command_allowlist`: command globs, or names of rules such as `recursive-delete`. Default none. */
  readonly allowlist?: readonly string[]
  /** Default `allow`. */
  readonly readOutsideWorkspace?: 'allow' | 'ask' | 'deny'
  /** Whether loopback and private networks are fetched without asking. Default: they ask. */
  readonly network?: CheckUrlOptions
  readonly audit?: AuditSink
  /** Default: in memory. */
  readonly approvals?: ApprovalStore
  readonly clock?: Clock
  /** Keeps an "always" answer. What it throws is logged; the answer counts for this process all the same. */
  readonly onAlways?: (rule: PermissionRule) => void | Promise<void>
  /** How long `settled` waits before it parks. Default 300,000. */
  readonly approvalTimeoutMs?: number
  /** Takes secrets out of summaries. Default: by shape. */
  readonly redact?: (text: string) => string
  readonly logger?: Logger
}

/** What a session-wide or permanent yes would say too much about: the text that runs is not known when the question is asked. */
const ONCE_ONLY = Object.freeze([
  ...['remote-to-shell', 'piped-shell', 'computed-command', 'unparsable', 'metadata-endpoint', 'hermes-permissions'],
])

/**
 * The one decision point. Order: hard floor, deny globs, protected paths and hosts, rules (the last match wins), grants, mode, command
 * classification, default allow. Fails closed: whatever throws is a denial.
 * @throws HermesError never from its methods; on creation `TypeError` for a rule that cannot be read.
 */
export function createPolicy(options: PolicyOptions): Policy {
  return new RulePolicy(options)
}

class RulePolicy implements Policy {
  readonly #options: PolicyOptions
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #store: ApprovalStore
  readonly #redact: (text: string) => string
  readonly #rules: ParsedRule[]
  readonly #granted: ReadonlySet<string>
  readonly #sessionGrants = new Set<string>()
  readonly #listeners = new Set<{ readonly sessionId: string; readonly tell: ApprovalListener }>()
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(options: PolicyOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    this.#store = options.approvals ?? createMemoryApprovalStore()
    this.#redact = options.redact ?? createRedactor({ secrets: [] }).redact
    const allowlist = options.allowlist ?? []
    this.#granted = new Set(
      allowlist.map((entry) =>
        entry
          .trim()
          .toLowerCase()
          .replace(/[\s_]+/g, '-'),
      ),
    )
    const allowed = allowlist.map((entry): PermissionRule => ({ pattern: `terminal(${entry})`, effect: 'allow' }))
    this.#rules = [...allowed, ...(options.rules ?? [])].map(readRule)
  }

  async decide(action: Action, subject: Subject, options: { readonly signal?: AbortSignal } = {}): Promise<Decision> {
    const decision = await this.#decide(action, subject, options.signal).catch((error: unknown): Decision => {
      this.#logger.error('policy failed', { error: errorLine(error) })
      return { type: 'deny', rule: 'policy-error', reason: `The policy could not decide: ${errorLine(error)}` }
    })
    return decision
  }

  async #decide(action: Action, subject: Subject, signal: AbortSignal | undefined): Promise<Decision> {
    if (signal?.aborted) return this.#deny(action, subject, 'aborted', 'The call was stopped.')
    const verdict = judge(action, subject, this.#judgeOptions(subject))
    switch (verdict.type) {
      case 'deny':
        return this.#deny(action, subject, verdict.rule, verdict.reason)
      case 'allow':
        await this.#audit(action, subject, { decision: 'allow', rule: verdict.rule })
        return { type: 'allow', permit: createPermit(action) }
      case 'ask':
        return this.#ask(action, subject, verdict)
      default:
        return verdict satisfies never
    }
  }

  #judgeOptions(subject: Subject): JudgeOptions {
    const { mode, home, userHome, workspace = [], denyGlobs = [], network = {} } = this.#options
    return {
      mode,
      home,
      userHome,
      workspace,
      denyGlobs,
      network,
      readOutsideWorkspace: this.#options.readOutsideWorkspace ?? 'allow',
      rules: this.#rules,
      granted: (rule) => this.#granted.has(rule) || this.#sessionGrants.has(grantKey(subject, rule)),
    }
  }

  async #ask(action: Action, subject: Subject, verdict: Extract<Verdict, { type: 'ask' }>): Promise<Decision> {
    const earlier = await this.#earlier(action, subject)
    if (earlier?.status === 'answered') return this.#useAnswer(earlier)
    const listeners = this.#listenersOf(subject)
    const [rule = 'ask'] = verdict.rules
    if (listeners.length === 0) {
      return this.#deny(action, subject, rule, `${sentence(verdict.reason)} ${this.#wayOut(action)}`)
    }
    const question: ApprovalQuestion = {
      action,
      subject,
      rule,
      summary: this.#redact(`${describeAction(action)}: ${verdict.reason}`),
      choices: verdict.rules.some((name) => ONCE_ONLY.includes(name))
        ? ['once', 'deny']
        : ['once', 'session', 'always', 'deny'],
    }
    const id = earlier?.id ?? globalThis.crypto.randomUUID()
    const askedAtMs = this.#clock.now()
    await this.#store.put({ id, question, rules: verdict.rules, askedAtMs, status: 'open', choice: null, by: null })
    await this.#audit(action, subject, { decision: 'ask', rule })
    for (const listener of listeners) this.#tell(listener.tell, id, question)
    return { type: 'ask', approvalId: id, question }
  }

  /** An approval of the same action that was parked, or answered while nobody waited. */
  async #earlier(action: Action, subject: Subject): Promise<Approval | null> {
    const pending = await this.#store.pending(subject.sessionId)
    const same = pending.filter(({ question }) => sameAction(question.action, action))
    return same.find(({ status }) => status === 'answered') ?? same.find(({ status }) => status === 'parked') ?? null
  }

  async #useAnswer(approval: Approval): Promise<Decision> {
    const outcome = await this.#outcome(approval)
    if (outcome.type === 'allow') return { type: 'allow', permit: outcome.permit }
    return { type: 'deny', rule: approval.question.rule, reason: outcome.type === 'deny' ? outcome.reason : '' }
  }

  #wayOut(action: Action): string {
    const suggestion = this.#redact(`\`${ruleFor(action).pattern}: allow\``)
    return `Nobody can approve it here; run interactively, pass --yolo, or add ${suggestion} to permissions.yaml.`
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
    const deadline = this.#clock.now() + (this.#options.approvalTimeoutMs ?? 300_000)
    for (;;) {
      // The listening starts before the look, so that an answer in between is not missed.
      const waiter = this.#wait(approvalId, deadline - this.#clock.now(), signal)
      const approval = await this.#store.get(approvalId)
      if (approval?.status !== 'open') waiter.cancel()
      if (!approval || approval.status === 'used') {
        return { type: 'deny', rule: 'unknown-approval', reason: 'Nothing is asked under this id any more.' }
      }
      if (approval.status === 'answered') return this.#outcome(approval)
      if (approval.status === 'parked') return { type: 'parked', approvalId }
      const woken = await waiter.done
      if (woken === 'answered') continue
      const status = woken === 'aborted' ? 'used' : 'parked'
      await this.#store.put({ ...approval, status })
      const { action, subject, rule } = approval.question
      await this.#audit(action, subject, { decision: woken === 'aborted' ? 'deny' : 'parked', rule })
      if (woken === 'aborted')
        return { type: 'deny', rule: 'aborted', reason: 'The call was stopped before anybody answered.' }
      return { type: 'parked', approvalId }
    }
  }

  #wait(
    approvalId: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): { readonly done: Promise<'answered' | 'late' | 'aborted'>; cancel(): void } {
    const stop = new AbortController()
    const waiting = this.#waiting.get(approvalId) ?? new Set()
    this.#waiting.set(approvalId, waiting)
    let wake = (): void => undefined
    const answered = new Promise<'answered'>((resolve) => {
      wake = () => resolve('answered')
    })
    waiting.add(wake)
    const any = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
    const late = this.#clock.sleep(Math.max(0, timeoutMs), any).then(
      () => 'late' as const,
      (error: unknown) => (isAbort(error) ? ('aborted' as const) : ('late' as const)),
    )
    const cancel = () => {
      waiting.delete(wake)
      if (waiting.size === 0) this.#waiting.delete(approvalId)
      stop.abort()
    }
    return { done: Promise.race([answered, late]).finally(cancel), cancel }
  }

  async answer(approvalId: string, choice: ApprovalChoice, by?: string): Promise<boolean> {
    const approval = await this.#store.get(approvalId)
    if (!approval || (approval.status !== 'open' && approval.status !== 'parked')) return false
    // An answer that was not offered is taken as the next narrower one.
    const taken = approval.question.choices.includes(choice) ? choice : choice === 'deny' ? 'deny' : 'once'
    await this.#store.put({ ...approval, status: 'answered', choice: taken, by: by ?? null })
    if (taken === 'session') {
      for (const rule of approval.rules) this.#sessionGrants.add(grantKey(approval.question.subject, rule))
    }
    if (taken === 'always') await this.#keep(ruleFor(approval.question.action))
    for (const wake of this.#waiting.get(approvalId) ?? []) wake()
    return true
  }

  async #keep(rule: PermissionRule): Promise<void> {
    this.#rules.push(readRule(rule))
    try {
      await this.#options.onAlways?.(rule)
    } catch (error) {
      this.#logger.error('rule not saved', { pattern: this.#redact(rule.pattern), error: errorLine(error) })
    }
  }

  async #outcome(approval: Approval): Promise<ApprovalOutcome> {
    const { question, choice, by } = approval
    await this.#store.put({ ...approval, status: 'used' })
    const allowed = choice !== null && choice !== 'deny'
    await this.#audit(question.action, question.subject, {
      decision: allowed ? 'allow' : 'deny',
      rule: question.rule,
      by,
    })
    if (allowed) return { type: 'allow', permit: createPermit(question.action), choice }
    return {
      type: 'deny',
      rule: question.rule,
      reason: 'The user said no. Do not try the same in another way; ask what to do instead.',
    }
  }

  listen(sessionId: string, listener: ApprovalListener): () => void {
    const entry = { sessionId, tell: listener }
    this.#listeners.add(entry)
    return () => {
      this.#listeners.delete(entry)
    }
  }

  #listenersOf(subject: Subject): readonly { readonly tell: ApprovalListener }[] {
    const heard = ['*', subject.sessionId, rootOf(subject)]
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

  async #audit(
    action: Action,
    subject: Subject,
    entry: Pick<AuditRecord, 'decision' | 'rule'> & { readonly by?: string | null },
  ): Promise<void> {
    try {
      await this.#options.audit?.record({
        atMs: this.#clock.now(),
        sessionId: subject.sessionId,
        surface: subject.surface,
        action: this.#redact(describeAction(action)),
        decision: entry.decision,
        rule: this.#redact(entry.rule),
        by: entry.by ?? null,
      })
    } catch (error) {
      this.#logger.error('audit failed', { error: errorLine(error) })
    }
  }
}

function readRule(rule: PermissionRule): ParsedRule {
  const parsed = parseRule(rule)
  if (typeof parsed === 'string') throw new TypeError(parsed)
  return parsed
}

function grantKey(subject: Subject, rule: string): string {
  return `${rootOf(subject)}\n${rule}`
}

function rootOf({ sessionId, rootSessionId }: Subject): string {
  return rootSessionId ?? sessionId
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
