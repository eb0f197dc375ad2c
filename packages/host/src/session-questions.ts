// What tools of a session ask its person: kept in the store, so that any process answers and none of them is lost with one.
//
//   a call asks ─▶ kept ─▶ readers are told ─▶ the first answer counts ─▶ the call has a result ─▶ forgotten
//                            └─ no reader answers now: the run parks, and the same call asks again when it is resumed
import { randomUUID } from 'node:crypto'
import { type Clock, errorLine, isAbort, type Logger } from '@hermes/contracts'
import type { Entry } from '@hermes/contracts/conversation'
import type { Answer, AskPerson, KeptQuestion, ParkedQuestion, Question, QuestionStore } from '@hermes/contracts/tool'
import type { HostEventBody } from './session-event.js'

const EXPIRES_AFTER_MS = 24 * 60 * 60_000
/** How often it is seen whether another process has an answer. */
const POLL_MS = 1_000

interface SessionQuestionsOptions {
  readonly sessionId: string
  readonly store: () => Promise<QuestionStore>
  readonly publish: (event: HostEventBody) => void
  readonly clock: Clock
  readonly logger: Logger
}

const NOBODY: Answer = { type: 'unanswered', reason: 'Nobody can answer questions here.' }

/** A call may ask several things, one after the other. */
const isSame = (question: Question, callId: string) => (one: KeptQuestion) =>
  one.callId === callId && one.question.question === question.question

/** The questions of one session. */
export class SessionQuestions {
  readonly #options: SessionQuestionsOptions
  /** Settles what is waited for here, by its id; `null` withdraws it. */
  readonly #waiting = new Map<string, (answer: Answer | null) => void>()
  /** Answers that a call was given, until it has its result. */
  #delivered: KeptQuestion[] = []

  constructor(options: SessionQuestionsOptions) {
    this.#options = options
  }

  /** Waits for the answer of a reader (`now`), parks (`later`), or goes on without one; an answer that the call has already is given anyway. */
  async ask(
    question: Question,
    { signal, callId }: Parameters<AskPerson>[1],
    answers: 'now' | 'later' | 'never',
  ): Promise<Answer | ParkedQuestion> {
    if (question.isSecret && answers === 'now') return this.#wait({ id: randomUUID(), question }, signal)
    const known = await this.#earlier()
    const same = known.find(isSame(question, callId))
    if (same?.answer != null) return this.#give(same)
    if (question.isSecret || answers === 'never') return NOBODY
    const kept = await this.#keep(question, callId, known)
    if (answers === 'now') return this.#wait(kept, signal)
    await this.#put({ ...kept, status: 'parked' })
    const now = await this.#get(kept.id)
    if (now?.answer != null) return this.#give(now)
    this.#options.publish({ type: 'question-kept', id: kept.id, question })
    return { type: 'parked', id: kept.id }
  }

  async #earlier(): Promise<readonly KeptQuestion[]> {
    const now = this.#options.clock.now()
    return (await this.#pending()).filter(({ expiresAtMs }) => expiresAtMs > now)
  }

  /** The question as it is kept, under the id that the call had before. */
  async #keep(question: Question, callId: string, earlier: readonly KeptQuestion[]): Promise<KeptQuestion> {
    const { sessionId, clock } = this.#options
    const now = clock.now()
    const same = earlier.find(isSame(question, callId))
    // A session asks one thing at a time: what another call asked has been passed over.
    for (const other of earlier) if (other.callId !== callId) await this.#put({ ...other, status: 'used' })
    const times = { askedAtMs: now, expiresAtMs: now + EXPIRES_AFTER_MS, answer: null, by: null } as const
    const kept: KeptQuestion = { id: same?.id ?? randomUUID(), sessionId, callId, question, ...times, status: 'open' }
    await this.#put(kept)
    return kept
  }

  #give(kept: KeptQuestion): Answer {
    this.#delivered.push(kept)
    return { type: 'answered', text: kept.answer! }
  }

  async #wait({ id, question }: Pick<KeptQuestion, 'id' | 'question'>, signal: AbortSignal): Promise<Answer> {
    const { clock, publish } = this.#options
    const { promise, resolve } = Promise.withResolvers<Answer | null>()
    const withdraw = () => resolve(null)
    signal.addEventListener('abort', withdraw, { once: true })
    if (signal.aborted) withdraw()
    this.#waiting.set(id, resolve)
    publish({ type: 'question-open', id, question })
    const done = new AbortController()
    const elsewhere = question.isSecret ? promise : this.#answeredElsewhere(id, done.signal, clock)
    const answer = await Promise.race([promise, elsewhere])
    done.abort()
    this.#waiting.delete(id)
    signal.removeEventListener('abort', withdraw)
    publish({ type: 'question-close', id, ...(answer ? { answer } : {}) })
    const kept = question.isSecret ? null : await this.#get(id)
    if (kept && answer?.type === 'answered') this.#delivered.push(kept)
    else if (kept) await this.#put({ ...kept, status: 'used' })
    return answer ?? { type: 'unanswered', reason: 'The question was withdrawn.' }
  }

  async #answeredElsewhere(id: string, signal: AbortSignal, clock: Clock): Promise<Answer | null> {
    for (;;) {
      const isOver = await clock.sleep(POLL_MS, signal).then(() => false, isAbort)
      if (isOver) return null
      const kept = await this.#get(id)
      if (kept?.answer != null) return { type: 'answered', text: kept.answer }
    }
  }

  /** `false` when it is answered already, and when it is none of this session. Rejects as the store does. */
  async answer(id: string, answer: Answer, by?: string): Promise<boolean> {
    const settle = this.#waiting.get(id)
    const kept = await (await this.#options.store()).get(id)
    if (kept && (kept.sessionId !== this.#options.sessionId || kept.answer !== null)) return false
    if (kept && answer.type === 'answered') {
      const answered = { ...kept, status: 'answered', answer: answer.text, by: by ?? null } as const
      if (!(await (await this.#options.store()).put(answered))) return false
      if (!settle) this.#options.publish({ type: 'question-close', id, answer })
    }
    settle?.(answer)
    return settle !== undefined || kept !== null
  }

  /** The parked question whose call has no result yet; `null` where the session waits for none. */
  async parked(log: () => Promise<readonly Entry[]>): Promise<KeptQuestion | null> {
    const open = (await this.#earlier()).filter(({ answer }) => answer === null)
    if (open.length === 0) return null
    const results = (await log()).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
    const hasResult = (id: string) => results.some((message) => message.role === 'tool' && message.callId === id)
    return open.find(({ callId }) => !hasResult(callId)) ?? null
  }

  /** What was answered has reached the log. */
  async used(callId: string): Promise<void> {
    const used = this.#delivered.filter((kept) => kept.callId === callId)
    if (used.length === 0) return
    this.#delivered = this.#delivered.filter((kept) => kept.callId !== callId)
    for (const kept of used) await this.#put({ ...kept, status: 'used' })
  }

  withdrawAll(): void {
    for (const withdraw of this.#waiting.values()) withdraw(null)
  }

  /** A store that fails loses the question with this process; it is asked all the same. */
  async #put(kept: KeptQuestion): Promise<void> {
    await this.#orNothing(async (store) => store.put(kept), false)
  }

  #get(id: string): Promise<KeptQuestion | null> {
    return this.#orNothing((store) => store.get(id), null)
  }

  #pending(): Promise<readonly KeptQuestion[]> {
    return this.#orNothing((store) => store.pending(this.#options.sessionId), [])
  }

  async #orNothing<T>(work: (store: QuestionStore) => Promise<T>, nothing: T): Promise<T> {
    try {
      return await work(await this.#options.store())
    } catch (error) {
      const { sessionId, logger } = this.#options
      logger.warn('A question could not be kept.', { sessionId, error: errorLine(error) })
      return nothing
    }
  }
}
