import { type Clock, HermesError } from '@hermes/contracts'
import type { Usage } from '@hermes/contracts/conversation'
import type { UsageLedger } from '@hermes/contracts/store'
import type { Admission, BudgetedCall, BudgetGuard } from '../budget-guard.js'
import { periodOf } from './calendar.js'

/** What may be spent. Absent limits nothing. */
export interface BudgetLimit {
  /** Input and output, cached input included. */
  readonly tokens?: number | undefined
  /** US dollars. */
  readonly usd?: number | undefined
}

/** For what it may be spent: one run, one session, one day, one month. */
export type BudgetSpan = 'turn' | 'session' | 'day' | 'month'

/** The limits of a home. */
export type BudgetLimits = Readonly<Partial<Record<BudgetSpan, BudgetLimit>>>

/** Options of {@link createBudgetGuard}. */
export interface BudgetGuardOptions {
  readonly limits: BudgetLimits
  /** What was spent; it has to know of a call before that call's admission is settled. */
  readonly book: Pick<UsageLedger, 'totals'>
  readonly clock: Clock
  /** Whose days and months count: an IANA name. */
  readonly timeZone: string
}

/**
 * Holds budgets: a call goes out only while every limit that it counts for has something left. Calls that run at the same time are let
 * through as far as their largest possible sizes fit; near a limit they wait for each other, so that one process overshoots by one call
 * at most. Asks nobody but the book.
 */
export function createBudgetGuard(options: BudgetGuardOptions): BudgetGuard {
  return new LedgerGuard(options)
}

interface Amount {
  readonly tokens: number
  readonly usd: number
}

interface Spent extends Amount {
  readonly unpricedCalls: number
}

/** Most turns end before that many others have begun. */
const KEPT_TURNS = 64

const SPANS: readonly BudgetSpan[] = ['turn', 'session', 'day', 'month']

class LedgerGuard implements BudgetGuard {
  readonly #options: BudgetGuardOptions
  readonly #turns = new Map<string, Spent>()
  readonly #underWay = new Map<symbol, { readonly amount: Amount; readonly ended: Promise<void> }>()
  /** Counts calls that have ended. */
  #settled = 0
  /** The dearest token so far; until one is known, calls under a limit in dollars go one by one. */
  #usdPerToken = Number.POSITIVE_INFINITY

  constructor(options: BudgetGuardOptions) {
    this.#options = options
  }

  async admit(asked: BudgetedCall): Promise<Admission> {
    // What was handed on counts for whom it is done.
    const call = { ...asked, ...asked.root }
    const amount = { tokens: call.maxTokens, usd: call.maxTokens * this.#usdPerToken }
    for (;;) {
      const settled = this.#settled
      const left = await this.#leastLeft(call)
      // What was left is known no more when another call has ended meanwhile.
      if (settled !== this.#settled) continue
      if (this.#underWay.size === 0 || this.#fits(left, amount)) return this.#open(call, amount)
      await untilAborted(Promise.race([...this.#underWay.values()].map(({ ended }) => ended)), call.signal)
    }
  }

  #fits(left: Amount, amount: Amount): boolean {
    const amounts = [amount, ...[...this.#underWay.values()].map((other) => other.amount)]
    const isOver = (unit: keyof Amount) =>
      left[unit] < Number.POSITIVE_INFINITY && amounts.reduce((sum, one) => sum + one[unit], 0) > left[unit]
    return !isOver('tokens') && !isOver('usd')
  }

  #open({ turnId }: BudgetedCall, amount: Amount): Admission {
    const key = Symbol('call')
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#underWay.set(key, { amount, ended: promise })
    return {
      settle: (usage) => {
        if (!this.#underWay.delete(key)) return
        this.#settled++
        if (usage) this.#count(turnId, usage)
        resolve()
      },
    }
  }

  #count(turnId: string | undefined, usage: Usage): void {
    const tokens = usage.inputTokens + usage.outputTokens
    const usd = usage.costUsd === 'unknown' ? 0 : usage.costUsd
    if (tokens > 0 && usage.costUsd !== 'unknown') {
      const known = Number.isFinite(this.#usdPerToken) ? this.#usdPerToken : 0
      this.#usdPerToken = Math.max(known, usd / tokens)
    }
    if (turnId === undefined || !this.#options.limits.turn) return
    const before = this.#turns.get(turnId) ?? NOTHING
    this.#turns.delete(turnId)
    this.#turns.set(turnId, {
      tokens: before.tokens + tokens,
      usd: before.usd + usd,
      unpricedCalls: before.unpricedCalls + Number(usage.costUsd === 'unknown'),
    })
    const [oldest] = this.#turns.keys()
    if (this.#turns.size > KEPT_TURNS && oldest !== undefined) this.#turns.delete(oldest)
  }

  /** What the tightest limits leave. @throws HermesError `models.budget_spent`, `models.budget_unpriced`. */
  async #leastLeft(call: BudgetedCall): Promise<Amount> {
    const left = { tokens: Number.POSITIVE_INFINITY, usd: Number.POSITIVE_INFINITY }
    for (const span of SPANS) {
      const limit = this.#options.limits[span]
      const spent = limit && (await this.#spent(span, call))
      if (!limit || !spent) continue
      this.#require(span, limit, spent)
      if (limit.tokens !== undefined) left.tokens = Math.min(left.tokens, limit.tokens - spent.tokens)
      if (limit.usd !== undefined) left.usd = Math.min(left.usd, limit.usd - spent.usd)
    }
    return left
  }

  /** `null` where a call belongs to no such span. */
  async #spent(span: BudgetSpan, { turnId, sessionId }: BudgetedCall): Promise<Spent | null> {
    switch (span) {
      case 'turn':
        return turnId === undefined ? null : (this.#turns.get(turnId) ?? NOTHING)
      case 'session':
        return sessionId === undefined ? null : this.#booked({ sessionId })
      case 'day':
      case 'month':
        return this.#booked({ sinceMs: this.#period(span).startMs })
      default:
        return span satisfies never
    }
  }

  async #booked(filter: Parameters<UsageLedger['totals']>[0]): Promise<Spent> {
    const [total] = await this.#options.book.totals(filter)
    if (!total) return NOTHING
    const { usage, knownCostUsd, unpricedCalls } = total
    return { tokens: usage.inputTokens + usage.outputTokens, usd: knownCostUsd, unpricedCalls }
  }

  #period(span: 'day' | 'month') {
    return periodOf(span, this.#options.clock.now(), this.#options.timeZone)
  }

  #require(span: BudgetSpan, limit: BudgetLimit, spent: Spent): void {
    if (limit.tokens !== undefined && spent.tokens >= limit.tokens)
      throw this.#spentError(span, 'tokens', limit.tokens, spent)
    if (limit.usd === undefined) return
    if (spent.usd >= limit.usd) throw this.#spentError(span, 'usd', limit.usd, spent)
    if (spent.unpricedCalls > 0) throw unpriced(span, limit.usd)
  }

  #spentError(span: BudgetSpan, unit: keyof Amount, limit: number, spent: Spent): HermesError {
    const show = (value: number) =>
      unit === 'usd' ? `$${value.toFixed(2)}` : `${value.toLocaleString('en-US')} tokens`
    const message = `The budget of ${show(limit)} ${FOR[span]} is spent (${show(spent[unit])}). ${this.#whatNext(span, unit)}`
    return new HermesError(message, {
      code: 'models.budget_spent',
      details: { span, unit, limit, spent: spent[unit] },
    })
  }

  #whatNext(span: BudgetSpan, unit: keyof Amount): string {
    const raise = `hermes config set budget.${span}.${unit} …`
    switch (span) {
      case 'turn':
        return `Say what to go on with, which starts a new turn, or raise it: ${raise}`
      case 'session':
        return `Start a new session, or raise it and go on: ${raise}`
      case 'day':
      case 'month':
        return `It begins anew at ${new Date(this.#period(span).endMs).toISOString()}; to go on now, raise it: ${raise}`
      default:
        return span satisfies never
    }
  }
}

const NOTHING: Spent = { tokens: 0, usd: 0, unpricedCalls: 0 }

const FOR: Readonly<Record<BudgetSpan, string>> = {
  turn: 'for this turn',
  session: 'for this session',
  day: 'for today',
  month: 'for this month',
}

/** A limit in dollars means nothing while calls of unknown cost go through it. */
function unpriced(span: BudgetSpan, limit: number): HermesError {
  return new HermesError(
    `The budget of $${limit.toFixed(2)} ${FOR[span]} cannot be held: the price of a model that was used is not known. Give its prices in model_overrides of config.yaml, or limit tokens instead: hermes config set budget.${span}.tokens …`,
    { code: 'models.budget_unpriced', details: { span, limit } },
  )
}

function untilAborted(wait: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return wait
  return new Promise((resolve, reject) => {
    const abort = () => reject(new DOMException('The request was aborted.', 'AbortError'))
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    wait.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
