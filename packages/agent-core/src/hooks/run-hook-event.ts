import { HermesError } from '@hermes/contracts'
import type { HookEvent, HookSession, PermitOptions } from '@hermes/contracts/extension'
import type { Action, Permit } from '@hermes/contracts/policy'
import type { RunContext } from '../loop/run-context.js'

/** What every handler of a run gets: the run as extensions may see it. */
class RunHookEvent implements HookEvent {
  readonly #context: RunContext
  readonly #callId: string
  #waitedMs = 0
  #asking = 0
  #askingSinceMs = 0

  /** `callId`: what a question to a person is about; the run itself where there is no call. */
  constructor(context: RunContext, callId?: string) {
    this.#context = context
    this.#callId = callId ?? `${context.runId}.hook`
  }

  get runId(): string {
    return this.#context.runId
  }

  get session(): HookSession {
    return this.#context.session
  }

  get agentPath(): readonly string[] {
    return this.#context.subject.agentPath
  }

  get platform(): string {
    return this.#context.subject.platform
  }

  get model() {
    const { provider, model } = this.#context.model
    return { provider, model }
  }

  get environment() {
    return this.#context.environment
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get clock() {
    return this.#context.clock
  }

  get logger() {
    return this.#context.logger
  }

  perRun<T>(key: string, create: () => T): T {
    const { scratch } = this.#context
    if (!scratch.has(key)) scratch.set(key, create())
    return scratch.get(key) as T
  }

  notice(text: string, level: 'info' | 'warning' = 'warning'): void {
    this.#context.emit({ type: 'notice', level, text: this.#context.session.redact(text) })
  }

  async permit(action: Action, { origin, plugin, toolName, mayAsk = true }: PermitOptions = {}): Promise<Permit> {
    // The tool whose call is looked at is not the one that acts.
    const { toolName: _, ...whose } = this.#context.subject
    const asking = { ...(origin ? { origin } : {}), ...(plugin ? { plugin } : {}), ...(toolName ? { toolName } : {}) }
    const subject = { ...whose, ...asking }
    const context = { ...this.#context, subject }
    if (!mayAsk) return permitUnasked(context, action)
    return this.untimed(() => context.requestPermit(context, this.#callId, action))
  }

  /** Waits for what is not the time of a handler. */
  async untimed<T>(work: () => Promise<T>): Promise<T> {
    this.#startAsking()
    try {
      return await work()
    } finally {
      this.#stopAsking()
    }
  }

  /** For how long it was waited for permits and for what handlers stand around, so far, in milliseconds. */
  waitedMs(): number {
    return this.#waitedMs + (this.#asking > 0 ? this.clock.now() - this.#askingSinceMs : 0)
  }

  #startAsking(): void {
    if (this.#asking++ === 0) this.#askingSinceMs = this.clock.now()
  }

  #stopAsking(): void {
    if (--this.#asking === 0) this.#waitedMs += this.clock.now() - this.#askingSinceMs
  }
}

/** Nobody is asked, and no checkpoint is taken, for what only looks. */
async function permitUnasked(context: RunContext, action: Action): Promise<Permit> {
  const { policy, subject, session, signal } = context
  const { isTainted: tainted, taintedBy } = session
  const decision = await policy.decide(action, { ...subject, tainted, taintedBy }, { signal, mayAsk: false })
  if (decision.type === 'allow') return decision.permit
  throw new HermesError('The policy does not allow it without a question.', { code: 'policy.denied' })
}

/** The event of a point that stands around something: the time of that is not the handler's. */
export function wrappingEvent<Own extends object, Result>(
  context: RunContext,
  own: Own,
  { proceed, callId }: { readonly proceed: () => Promise<Result>; readonly callId?: string },
): RunHookEvent & Own & { proceed(): Promise<Result> } {
  const event = new RunHookEvent(context, callId)
  return Object.assign(event, own, { proceed: () => event.untimed(proceed) })
}

/** The event of a point: what all of them have, and what is its own. */
export function hookEvent<Own extends object>(context: RunContext, own: Own, callId?: string): RunHookEvent & Own {
  return Object.assign(new RunHookEvent(context, callId), own)
}
