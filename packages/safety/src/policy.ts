import { type Clock, errorLine, type Logger, silentLogger, systemClock } from '@hermes/contracts'
import type {
  Action,
  Approval,
  ApprovalChoice,
  ApprovalListener,
  ApprovalOutcome,
  ApprovalQuestion,
  ApprovalStore,
  AuditSink,
  Decision,
  Policy,
  Subject,
} from '@hermes/contracts/policy'
import { createMemoryApprovalStore } from './approvals.js'
import { type AuditedDecision, auditRecord, isAudited } from './audit-record.js'
import { ruleFor } from './describe-action.js'
import { type JudgeOptions, judge, type Verdict } from './judge.js'
import { type JudgeBasis, type JudgeSettings, readRule, readSettings } from './judge-settings.js'
import { createPermit } from './permit.js'
import { fingerprintOf, isAlive, questionOf, redactQuestion } from './questions.js'
import { createRedactor } from './redact/redactor.js'
import type { ParsedRule, PermissionRule } from './rules.js'
import { WaitingRoom } from './waiting-room.js'

/** Options of {@link createPolicy}. */
export interface PolicyOptions extends JudgeSettings {
  readonly audit?: AuditSink
  /** Default: in memory. */
  readonly approvals?: ApprovalStore
  readonly clock?: Clock
  /** Keeps an "always" answer. What it throws is logged; the answer counts for this process all the same. */
  readonly onAlways?: (rule: PermissionRule) => void | Promise<void>
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
  readonly #basis: JudgeBasis
  readonly #sessionGrants = new Set<string>()
  readonly #listeners = new Set<{ readonly sessionId: string; readonly tell: ApprovalListener }>()
  readonly #waiting: WaitingRoom
  /** Questions that were put here, secrets included; what the store keeps has none. */
  readonly #asked = new Map<string, ApprovalQuestion>()

  constructor(options: PolicyOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    this.#waiting = new WaitingRoom(this.#clock)
    this.#store = options.approvals ?? createMemoryApprovalStore()
    this.#redact = options.redact ?? createRedactor({ secrets: [] }).redact
    const basis = readSettings(options)
    this.#basis = basis
    this.#rules = [...basis.rules]
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
    const { options, granted } = this.#basis
    return {
      ...options,
      rules: this.#rules,
      granted: (rule) => granted.has(rule) || this.#sessionGrants.has(grantKey(subject, rule)),
    }
  }

  async #ask(action: Action, subject: Subject, verdict: Extract<Verdict, { type: 'ask' }>): Promise<Decision> {
    const fingerprint = await fingerprintOf(action)
    const earlier = await this.#earlier(fingerprint, subject)
    if (earlier?.status === 'answered') return this.#useAnswer(earlier, action)
    const listeners = this.#listenersOf(subject)
    const question = questionOf(action, subject, verdict, this.#redact)
    const { rule } = question
    if (listeners.length === 0) {
      return this.#deny(action, subject, rule, `${sentence(verdict.reason)} ${this.#wayOut(action)}`)
    }
    const id = earlier?.id ?? globalThis.crypto.randomUUID()
    const askedAtMs = this.#clock.now()
    const expiresAtMs = askedAtMs + (this.#options.approvalExpiryMs ?? 86_400_000)
    const kept = { question: redactQuestion(question, this.#redact), fingerprint, rules: verdict.rules }
    this.#asked.set(id, question)
    await this.#store.put({ id, ...kept, askedAtMs, expiresAtMs, status: 'open', choice: null, by: null })
    await this.#audit(action, subject, { decision: 'ask', rule, approvalId: id })
    for (const listener of listeners) this.#tell(listener.tell, id, question)
    return { type: 'ask', approvalId: id, question }
  }

  /** An approval of the same action that was answered while nobody waited, was parked, or left open by a process that ended. */
  async #earlier(fingerprint: string, subject: Subject): Promise<Approval | null> {
    const pending = await this.#store.pending(subject.sessionId)
    const now = this.#clock.now()
    const same = pending.filter((one) => one.fingerprint === fingerprint && isAlive(one, now))
    const isLeft = ({ id, status }: Approval) => status === 'parked' || (status === 'open' && !this.#asked.has(id))
    return same.find(({ status }) => status === 'answered') ?? same.find(isLeft) ?? null
  }

  async #useAnswer(approval: Approval, action: Action): Promise<Decision> {
    const outcome = await this.#outcome(approval, action)
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
    } finally {
      this.#asked.delete(approvalId)
    }
  }

  async #settle(approvalId: string, signal: AbortSignal | undefined): Promise<ApprovalOutcome> {
    const { approvalTimeoutMs = 300_000, approvalPollMs = Number.POSITIVE_INFINITY } = this.#options
    const deadline = this.#clock.now() + approvalTimeoutMs
    for (;;) {
      // The listening starts before the look, so that an answer in between is not missed.
      const left = deadline - this.#clock.now()
      const waiter = this.#waiting.wait(approvalId, Math.min(left, approvalPollMs), signal)
      const approval = await this.#store.get(approvalId)
      if (approval?.status !== 'open') waiter.cancel()
      if (!approval || approval.status === 'used') {
        return { type: 'deny', rule: 'unknown-approval', reason: 'Nothing is asked under this id any more.' }
      }
      const { action, subject, rule } = this.#asked.get(approvalId) ?? approval.question
      if (approval.status === 'answered') return this.#outcome(approval, action)
      if (approval.status === 'parked') return { type: 'parked', approvalId }
      const woken = await waiter.done
      if (woken === 'aborted') {
        await this.#store.put({ ...approval, status: 'used' })
        await this.#audit(action, subject, { decision: 'deny', rule: 'aborted', approvalId })
        return { type: 'deny', rule: 'aborted', reason: 'The call was stopped before anybody answered.' }
      }
      if (woken === 'woken' || this.#clock.now() < deadline) continue
      // An answer of another process may come first; then the store keeps it, and the next look finds it.
      await this.#store.put({ ...approval, status: 'parked' })
      if ((await this.#store.get(approvalId))?.status !== 'parked') continue
      await this.#audit(action, subject, { decision: 'parked', rule, approvalId })
      return { type: 'parked', approvalId }
    }
  }

  async answer(approvalId: string, choice: ApprovalChoice, by?: string): Promise<boolean> {
    const approval = await this.#store.get(approvalId)
    if (!approval || !isAlive(approval, this.#clock.now()) || approval.status === 'answered') return false
    // An answer that was not offered is taken as the next narrower one.
    const taken = approval.question.choices.includes(choice) ? choice : choice === 'deny' ? 'deny' : 'once'
    const answered = { ...approval, status: 'answered', choice: taken, by: by ?? null } as const
    await this.#store.put(answered)
    this.#learn(answered)
    if (taken === 'always') await this.#keep(ruleFor(approval.question.action))
    this.#waiting.wake(approvalId)
    return true
  }

  /** What an answer means for what comes after it. */
  #learn({ choice, rules, question }: Approval): void {
    if (choice === 'session') for (const rule of rules) this.#sessionGrants.add(grantKey(question.subject, rule))
    if (choice !== 'always') return
    const rule = readRule(ruleFor(question.action))
    if (this.#rules.at(-1)?.pattern !== rule.pattern) this.#rules.push(rule)
  }

  async #keep(rule: PermissionRule): Promise<void> {
    try {
      await this.#options.onAlways?.(rule)
    } catch (error) {
      this.#logger.error('rule not saved', { pattern: this.#redact(rule.pattern), error: errorLine(error) })
    }
  }

  /** Uses an answer up. `action` is the one that was asked about. */
  async #outcome(approval: Approval, action: Action): Promise<ApprovalOutcome> {
    const { id, question, choice, by } = approval
    await this.#store.put({ ...approval, status: 'used' })
    this.#learn(approval)
    const { rule, subject } = question
    const isAllowed = choice !== null && choice !== 'deny'
    await this.#audit(action, subject, { decision: isAllowed ? 'allow' : 'deny', rule, by, approvalId: id })
    if (isAllowed) return { type: 'allow', permit: createPermit(action), choice }
    return {
      type: 'deny',
      rule,
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

function grantKey(subject: Subject, rule: string): string {
  return `${rootOf(subject)}\n${rule}`
}

function rootOf({ sessionId, rootSessionId }: Subject): string {
  return rootSessionId ?? sessionId
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
