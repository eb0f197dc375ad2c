import { randomUUID } from 'node:crypto'
import { type Clock, HermesError } from '@hermes/contracts'
import type { Usage } from '@hermes/contracts/conversation'
import type { SpendingFilter, SpendingState, UsageReservation } from '@hermes/contracts/store'
import type { Admission, BudgetedCall, BudgetGuard } from '../budget-guard.js'
import { periodOf } from './calendar.js'
import { type ReservationCheck, reservedBy } from './own-reservations.js'

/** What may be spent. Absent limits nothing. */
export interface BudgetLimit {
  /** Input and output, cached input included. */
  readonly tokens?: number | undefined
  /** US dollars. */
  readonly usd?: number | undefined
}

/** For what it may be spent: one run, one session, one day, one month. */
type BudgetSpan = 'turn' | 'session' | 'day' | 'month'

/** The limits of a home. */
export type BudgetLimits = Readonly<Partial<Record<BudgetSpan, BudgetLimit>>>

/** Where a guard keeps room for calls and learns what was spent; a `UsageRecorder` is one. */
export interface BudgetStore {
  /** As `UsageLedger.reserve`. */
  reserve(call: UsageReservation, question: ReservationCheck): Promise<boolean>
  /** Ends a hold, together with what was recorded before. */
  release(id: string): void
}

/** Options of {@link createBudgetGuard}. */
interface BudgetGuardOptions {
  readonly limits: BudgetLimits
  /** It has to know of a call before that call's admission is settled. */
  readonly store: BudgetStore
  readonly clock: Clock
  /** Whose days and months count: an IANA name. */
  readonly timeZone: string
}

/**
 * Holds budgets: a call goes out only while every limit that it counts for has something left. Calls that run at the same time, in any
 * process that shares the book, are let through as far as their largest possible sizes fit; near a limit they wait for each other, so that
 * all together overshoot by one call at most. Asks nobody but the book.
 */
export function createBudgetGuard(options: BudgetGuardOptions): BudgetGuard {
  return new LedgerGuard(options)
}

/** A call with room kept for it. */
interface UnderWay extends UsageReservation {
  readonly turnId: string | undefined
  readonly ended: Promise<void>
}

/** Most turns end before that many others have begun. */
const KEPT_TURNS = 64
/** Between two questions to the book while another process is making a call. */
const FIRST_WAIT_MS = 25
const LAST_WAIT_MS = 400

const BOOKED: readonly Exclude<BudgetSpan, 'turn'>[] = ['session', 'day', 'month']

class LedgerGuard implements BudgetGuard {
  readonly limitsTokens: boolean
  readonly #options: BudgetGuardOptions
  readonly #turns = new Map<string, Spent>()
  readonly #underWay = new Set<UnderWay>()
  /** The dearest token so far; until one is known, calls under a limit in dollars go one by one. */
  #usdPerToken: number | 'unknown' = 'unknown'

  constructor(options: BudgetGuardOptions) {
    this.#options = options
    this.limitsTokens = Object.values(options.limits).some((limit) => limit?.tokens !== undefined)
  }

  async admit(requested: BudgetedCall): Promise<Admission> {
    // Delegated usage is charged to the parent.
    const call = { ...requested, ...requested.root }
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LAST_WAIT_MS)) {
      const admission = await this.#tryToAdmit(call)
      if (admission) return admission
      await this.#wait(waitMs, call.signal)
    }
  }

  async #tryToAdmit(requested: BudgetedCall): Promise<Admission | null> {
    const { turnId, maxTokens: tokens } = requested
    const sessionId = requested.sessionId ?? null
    const costUsd = this.#usdPerToken === 'unknown' ? this.#usdPerToken : tokens * this.#usdPerToken
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const call: UnderWay = { id: randomUUID(), turnId, sessionId, tokens, costUsd, ended }
    if (!this.#admitsInTurn(call)) return null
    const end = () => {
      this.#underWay.delete(call)
      resolve()
    }
    this.#underWay.add(call)
    let isReserved = false
    try {
      isReserved = await this.#reserve(call)
    } finally {
      if (!isReserved) end()
    }
    return isReserved ? { settle: (usage) => this.#settle(call, usage, end) } : null
  }

  #settle(call: UnderWay, usage: Usage | null, end: () => void): void {
    if (!this.#underWay.has(call)) return
    if (usage) this.#count(call.turnId, usage)
    if (this.#spansOf(call).length > 0) this.#options.store.release(call.id)
    end()
  }

  /** A turn belongs to one process, which knows what it has come to. */
  #admitsInTurn(call: UnderWay): boolean {
    const { turnId } = call
    const limit = this.#options.limits.turn
    if (!limit || turnId === undefined) return true
    const reserved = reservedBy([...this.#underWay].filter((other) => other.turnId === turnId))
    return this.#admits('turn', limit, call, { spent: this.#turns.get(turnId) ?? NOTHING, reserved })
  }

  /** The limits beyond the turn that a call counts for. */
  #spansOf({ sessionId }: UnderWay) {
    return BOOKED.filter((span) => this.#options.limits[span] && (span !== 'session' || sessionId !== null))
  }

  /** Keeps room in the book where a limit goes beyond the turn. @throws HermesError `models.budget_spent`, `models.budget_unpriced`. */
  async #reserve(call: UnderWay): Promise<boolean> {
    const { limits, store } = this.#options
    const spans = this.#spansOf(call)
    if (spans.length === 0) return true
    const { ended: _, turnId: __, ...reserve } = call
    const admits = (states: readonly SpendingState[]) =>
      spans.every((span, index) => this.#admits(span, limits[span]!, reserve, states[index]!))
    return store.reserve(reserve, { filters: spans.map((span) => this.#filterOf(span, call)), admits })
  }

  #filterOf(span: (typeof BOOKED)[number], { sessionId }: UnderWay): SpendingFilter {
    return span === 'session' ? { sessionId: sessionId! } : { sinceMs: this.#period(span).startMs }
  }

  /** Alone a call may be larger than what is left; beside others all together have to fit. */
  #admits(
    span: BudgetSpan,
    limit: BudgetLimit,
    { tokens, costUsd }: Pick<UsageReservation, 'tokens' | 'costUsd'>,
    { spent, reserved }: SpendingState,
  ): boolean {
    this.#require(span, limit, spent)
    if (reserved.calls === 0) return true
    const fits = (left: number | undefined, ...amounts: readonly (number | 'unknown')[]) =>
      left === undefined ||
      (!amounts.includes('unknown') && amounts.reduce<number>((sum, one) => sum + Number(one), 0) <= left)
    return (
      fits(limit.tokens === undefined ? undefined : limit.tokens - spent.tokens, reserved.tokens, tokens) &&
      fits(limit.usd === undefined ? undefined : limit.usd - spent.costUsd, reserved.costUsd, costUsd)
    )
  }

  /** Until another call of this process has ended, or for a moment. */
  async #wait(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const awake = new AbortController()
    const stop = signal ? AbortSignal.any([signal, awake.signal]) : awake.signal
    const asleep = this.#options.clock.sleep(waitMs, stop)
    // What ends the sleep early is no error here.
    asleep.catch(() => undefined)
    await Promise.race([asleep, ...[...this.#underWay].map(({ ended }) => ended)])
    awake.abort()
    if (signal?.aborted) throw new DOMException('The request was aborted.', 'AbortError')
  }

  #count(turnId: string | undefined, usage: Usage): void {
    const tokens = usage.inputTokens + usage.outputTokens
    const costUsd = usage.costUsd === 'unknown' ? 0 : usage.costUsd
    if (tokens > 0 && usage.costUsd !== 'unknown') {
      const known = this.#usdPerToken === 'unknown' ? 0 : this.#usdPerToken
      this.#usdPerToken = Math.max(known, costUsd / tokens)
    }
    if (turnId === undefined || !this.#options.limits.turn) return
    const before = this.#turns.get(turnId) ?? NOTHING
    this.#turns.delete(turnId)
    this.#turns.set(turnId, {
      tokens: before.tokens + tokens,
      costUsd: before.costUsd + costUsd,
      unpricedCalls: before.unpricedCalls + Number(usage.costUsd === 'unknown'),
    })
    const [oldest] = this.#turns.keys()
    if (this.#turns.size > KEPT_TURNS && oldest !== undefined) this.#turns.delete(oldest)
  }

  #period(span: 'day' | 'month') {
    return periodOf(span, this.#options.clock.now(), this.#options.timeZone)
  }

  #require(span: BudgetSpan, limit: BudgetLimit, spent: Spent): void {
    if (limit.tokens !== undefined && spent.tokens >= limit.tokens)
      throw this.#spentError(span, 'tokens', limit.tokens, spent.tokens)
    if (limit.usd === undefined) return
    if (spent.costUsd >= limit.usd) throw this.#spentError(span, 'usd', limit.usd, spent.costUsd)
    if (spent.unpricedCalls > 0) throw unpriced(span, limit.usd)
  }

  #spentError(span: BudgetSpan, unit: keyof BudgetLimit, limit: number, spent: number): HermesError {
    const show = (value: number) => (unit === 'usd' ? dollars(value) : `${value.toLocaleString('en-US')} tokens`)
    const message = `The budget of ${show(limit)} ${FOR[span]} is spent (${show(spent)}). ${this.#whatNext(span, unit)}`
    return new HermesError(message, {
      code: 'models.budget_spent',
      details: { span, unit, limit, spent },
    })
  }

  #whatNext(span: BudgetSpan, unit: keyof BudgetLimit): string {
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

type Spent = SpendingState['spent']

const NOTHING: Spent = { tokens: 0, costUsd: 0, unpricedCalls: 0 }

const FOR: Readonly<Record<BudgetSpan, string>> = {
  turn: 'for this turn',
  session: 'for this session',
  day: 'for today',
  month: 'for this month',
}

/** A limit in dollars means nothing while calls of unknown cost go through it. */
function unpriced(span: BudgetSpan, limit: number): HermesError {
  return new HermesError(
    `The budget of ${dollars(limit)} ${FOR[span]} cannot be held: the price of a model that was used is not known. Give its prices in model_overrides of config.yaml, or limit tokens instead: hermes config set budget.${span}.tokens …`,
    { code: 'models.budget_unpriced', details: { span, limit } },
  )
}

/** Dollars with cents, and with more digits where that would be nothing. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`
}

/** A count in at most five characters: `950`, `12.3k`, `4.5M`. */
export function shortNumber(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 999_500) return `${(count / 1_000).toPrecision(3).replace(/\.0+$/, '')}k`
  return `${(count / 1_000_000).toPrecision(3).replace(/\.0+$/, '')}M`
}
