import type { Clock } from '@hermes/contracts'
import { isAbort } from '@hermes/contracts'
import type {
  Action,
  Approval,
  ApprovalChoice,
  ApprovalQuestion,
  ApprovalStore,
  Subject,
  Unanswered,
} from '@hermes/contracts/policy'
import { rootSessionOf } from '@hermes/contracts/policy'
import { fingerprintOf, isAlive, redactQuestion } from './questions.js'

/** Options of {@link OpenQuestions}. */
interface OpenQuestionsOptions {
  readonly store: ApprovalStore
  readonly clock: Clock
  readonly redact: (text: string) => string
  readonly timeoutMs: number
  readonly expiryMs: number
  readonly pollMs: number
}

/** A question that was put here, secrets included. */
interface PutQuestion {
  readonly question: ApprovalQuestion
  readonly unanswered: Unanswered
  /** What is said where it is denied without an answer. */
  readonly refusal: string
}

/** How waiting for an answer ended. `parked` is new where it was not parked before. */
type Settled =
  | { readonly type: 'answered'; readonly approval: Approval; readonly action: Action }
  | { readonly type: 'parked'; readonly question: ApprovalQuestion; readonly isNew: boolean }
  /** The question is kept, and nobody waits for its answer. */
  | { readonly type: 'refused'; readonly question: ApprovalQuestion; readonly refusal: string }
  | { readonly type: 'aborted'; readonly question: ApprovalQuestion }
  | { readonly type: 'unknown' }

/** Questions to a person, from when they are put until their answer is used; other processes may share the store. */
export class OpenQuestions {
  readonly #options: OpenQuestionsOptions
  readonly #waiting: Waiters
  /** What the store keeps has no secrets. */
  readonly #requested = new Map<string, PutQuestion>()
  /** Questions nobody waits for any more: who stops a run may answer in the same moment, and that answer must not wait for the next run. */
  readonly #withdrawn = new Set<string>()

  constructor(options: OpenQuestionsOptions) {
    this.#options = options
    this.#waiting = new Waiters(options.clock)
  }

  /** An approval of the same action that was answered while nobody waited, was parked, or left open by a process that ended. */
  async earlier(action: Action, subject: Subject): Promise<Approval | null> {
    const { store, clock } = this.#options
    const [fingerprint, pending] = await Promise.all([fingerprintOf(action), store.pending(rootSessionOf(subject))])
    const same = pending.filter((one) => one.fingerprint === fingerprint && isAlive(one, clock.now()))
    const isLeft = ({ id, status }: Approval) => status === 'parked' || (status === 'open' && !this.#requested.has(id))
    return same.find(({ status }) => status === 'answered') ?? same.find(isLeft) ?? null
  }

  /** Puts a question, again where it was put `earlier`, and returns its id. An answer for the session will cover `rules`. */
  async put(requested: PutQuestion, rules: readonly string[], earlier: Approval | null): Promise<string> {
    const { store, clock, redact, expiryMs } = this.#options
    const { question } = requested
    const id = earlier?.id ?? globalThis.crypto.randomUUID()
    const askedAtMs = clock.now()
    this.#requested.set(id, requested)
    this.#withdrawn.delete(id)
    await store.put({
      id,
      question: redactQuestion(question, redact),
      fingerprint: await fingerprintOf(question.action),
      rules,
      askedAtMs,
      expiresAtMs: askedAtMs + expiryMs,
      status: 'open',
      choice: null,
      by: null,
    })
    return id
  }

  /** Waits for the answer, whichever process gives it, as long as the question does. Abort ends the question, running out of time keeps it. */
  async settle(id: string, signal: AbortSignal | undefined): Promise<Settled> {
    try {
      return await this.#settle(id, signal)
    } finally {
      this.#requested.delete(id)
    }
  }

  async #settle(id: string, signal: AbortSignal | undefined): Promise<Settled> {
    const { store, clock, timeoutMs, pollMs } = this.#options
    const requested = this.#requested.get(id)
    const { unanswered = 'wait', refusal = '' } = requested ?? {}
    const isWaiting = unanswered === 'wait'
    const deadline = clock.now() + timeoutMs
    for (;;) {
      // The listening starts before the look, so that an answer in between is not missed.
      const waiter = this.#waiting.wait(id, Math.min(deadline - clock.now(), pollMs), signal)
      const approval = await store.get(id)
      if (approval?.status !== 'open') waiter.cancel()
      if (!approval || approval.status === 'used') return { type: 'unknown' }
      const question = requested?.question ?? approval.question
      if (approval.status === 'answered') return { type: 'answered', approval, action: question.action }
      if (approval.status === 'parked') return { type: 'parked', question, isNew: false }
      if (!isWaiting) waiter.cancel()
      const woken = isWaiting ? await waiter.done : 'late'
      if (woken === 'aborted') {
        this.#withdrawn.add(id)
        await store.put({ ...approval, status: 'used' })
        return { type: 'aborted', question }
      }
      if (woken === 'woken' || (isWaiting && clock.now() < deadline)) continue
      // An answer of another process may come first; then the store keeps it, and the next look finds it.
      await store.put({ ...approval, status: 'parked' })
      if ((await store.get(id))?.status !== 'parked') continue
      return unanswered === 'deny' ? { type: 'refused', question, refusal } : { type: 'parked', question, isNew: true }
    }
  }

  /** Takes an answer in; `null` when the question is unknown, answered already, or has expired. Whoever waits is told by `wake`. */
  async answer(id: string, choice: ApprovalChoice, by: string | undefined): Promise<Approval | null> {
    const { store, clock } = this.#options
    const approval = await store.get(id)
    if (!approval || !isAlive(approval, clock.now()) || approval.status === 'answered') return null
    // An answer that was not offered is taken as the next narrower one.
    const taken = approval.question.choices.includes(choice) ? choice : choice === 'deny' ? 'deny' : 'once'
    const answered = { ...approval, status: 'answered', choice: taken, by: by ?? null } as const
    if (!(await store.put(answered))) return null
    if (!this.#withdrawn.has(id)) return answered
    await this.use(answered)
    return null
  }

  wake(id: string): void {
    this.#waiting.wake(id)
  }

  /** An answer counts once. */
  async use(approval: Approval): Promise<void> {
    await this.#options.store.put({ ...approval, status: 'used' })
  }
}

/** Somebody who waits. */
interface Waiter {
  readonly done: Promise<'woken' | 'late' | 'aborted'>
  cancel(): void
}

/** Those who wait for something to happen under an id. */
class Waiters {
  readonly #clock: Clock
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Waits until `wake`, for `timeoutMs` at most, or until abort. */
  wait(id: string, timeoutMs: number, signal: AbortSignal | undefined): Waiter {
    const stop = new AbortController()
    const waiting = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, waiting)
    let wake = (): void => undefined
    const woken = new Promise<'woken'>((resolve) => {
      wake = () => resolve('woken')
    })
    waiting.add(wake)
    const any = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
    const late = this.#clock.sleep(Math.max(0, timeoutMs), any).then(
      () => 'late' as const,
      (error: unknown) => (isAbort(error) ? ('aborted' as const) : ('late' as const)),
    )
    const cancel = () => {
      waiting.delete(wake)
      if (waiting.size === 0) this.#waiting.delete(id)
      stop.abort()
    }
    return { done: Promise.race([woken, late]).finally(cancel), cancel }
  }

  wake(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake()
  }
}
