// How the three kinds of hooks are called. A handler that throws, or takes too long, is named in the log; what that means for the run depends
// on the kind. An abort of the run ends every wait: gates pass it on, observers and transformers are left out.
import { errorLine, HermesError } from '@hermes/contracts'
import type { HookEvent, HookHandlers, HookName } from '@hermes/contracts/extension'
import type { RegisteredHook } from '../extension-registry/hook-table.js'
import { ParkedApproval } from '../permits/parked-approval.js'
import { isAnswer } from './answers.js'

/** How often it is seen whether a person has answered, once the time of a handler would be over. */
const EXTENDED_BY_MS = 1_000

type EventOf<Name extends HookName> = Parameters<HookHandlers[Name]>[0]
type ResultOf<Name extends HookName> = Awaited<ReturnType<HookHandlers[Name]>>

interface Asking {
  /** For how long its handlers have waited for permits so far, in milliseconds. */
  waitedMs?(): number
}

type Dispatched<Name extends HookName> = EventOf<Name> & Asking

/** A handler and what it gave. */
interface Input<Name extends HookName> {
  readonly owner: string
  readonly result: NonNullable<ResultOf<Name>>
}

/** Calls observers one after the other. */
export async function observe<Name extends HookName>(
  hooks: readonly RegisteredHook<Name>[],
  name: Name,
  event: Dispatched<Name>,
): Promise<void> {
  for (const hook of hooks) await orSkipped(call(hook, name, event), { hook, name, event })
}

/** What transformers give, those left out that give nothing, fail or take too long. One after the other. */
export async function* transformations<Name extends HookName>(
  hooks: readonly RegisteredHook<Name>[],
  name: Name,
  eventNow: () => Dispatched<Name>,
): AsyncGenerator<Input<Name>> {
  for (const hook of hooks) {
    const event = eventNow()
    const result = await orSkipped(call(hook, name, event), { hook, name, event })
    if (result !== undefined && result !== null) yield { owner: hook.owner, result }
  }
}

/** The same for transformers that do not see each other's work: called at the same time, what they give in their order. */
export async function transformTogether<Name extends HookName>(
  hooks: readonly RegisteredHook<Name>[],
  name: Name,
  event: Dispatched<Name>,
): Promise<readonly NonNullable<ResultOf<Name>>[]> {
  const results = await Promise.all(hooks.map((hook) => orSkipped(call(hook, name, event), { hook, name, event })))
  return results.filter((result) => result !== undefined && result !== null) as NonNullable<ResultOf<Name>>[]
}

/** What one gate says. One that fails or takes too long objects: `onFailure` is its objection. */
export async function askGate<Name extends HookName>(
  hook: RegisteredHook<Name>,
  name: Name,
  event: Dispatched<Name>,
  onFailure: NonNullable<ResultOf<Name>>,
): Promise<ResultOf<Name>> {
  try {
    return await call(hook, name, event)
  } catch (error) {
    if (error instanceof ParkedApproval) throw error
    event.signal.throwIfAborted()
    event.logger.error(`Hook ${name} of ${hook.owner} failed, which counts as an objection.`, {
      error: errorLine(error),
    })
    return onFailure
  }
}

/** What handlers stand around. */
interface Wrapped<Name extends HookName, Result> {
  /** The event of one handler, which goes on by `proceed`. */
  readonly event: (proceed: () => Promise<Result>) => Dispatched<Name>
  /** Rejects with what handlers cannot hold up: an abort, a call that has to wait. */
  readonly work: () => Promise<Result>
  /** What an answer comes to. `result` is that of the work; `null` where the handler did not go on. */
  readonly inPlace: (owner: string, answer: NonNullable<ResultOf<Name>>, result: Result | null) => Result
}

/** Does the work once inside of all handlers, the first one outermost. One that fails, takes too long or gives nothing changes nothing. */
export function around<Name extends HookName, Result>(
  hooks: readonly RegisteredHook<Name>[],
  name: Name,
  wrapped: Wrapped<Name, Result>,
): Promise<Result> {
  const within = (next: () => Promise<Result>, hook: RegisteredHook<Name>) => () => through(hook, name, next, wrapped)
  return hooks.reduceRight(within, wrapped.work)()
}

async function through<Name extends HookName, Result>(
  hook: RegisteredHook<Name>,
  name: Name,
  next: () => Promise<Result>,
  { event: eventOf, inPlace }: Wrapped<Name, Result>,
): Promise<Result> {
  let run: Promise<Result> | null = null
  const proceed = () => {
    run ??= next()
    return run
  }
  const event = eventOf(proceed)
  const answer = await orSkipped(call(hook, name, event), { hook, name, event })
  const started = run as Promise<Result> | null
  if (started === null) event.signal.throwIfAborted()
  if (answer === undefined || answer === null) return proceed()
  return inPlace(hook.owner, answer, started === null ? null : await started)
}

interface Called<Name extends HookName> {
  readonly hook: RegisteredHook<Name>
  readonly name: Name
  readonly event: Dispatched<Name>
}

async function orSkipped<Name extends HookName>(
  result: Promise<ResultOf<Name>>,
  { hook, name, event }: Called<Name>,
): Promise<ResultOf<Name> | undefined> {
  try {
    return await result
  } catch (error) {
    // What is known by then is still stored; whoever dispatches the point sees the abort.
    if (!event.signal.aborted)
      event.logger.warn(`Hook ${name} of ${hook.owner} failed and was skipped.`, { error: errorLine(error) })
    return undefined
  }
}

async function call<Name extends HookName>(
  { owner, handler, timeoutMs }: RegisteredHook<Name>,
  name: Name,
  event: Dispatched<Name>,
): Promise<ResultOf<Name>> {
  const input = (handler as (event: EventOf<Name>) => ResultOf<Name> | Promise<ResultOf<Name>>)(event)
  const result = isPromise(input) ? await withinTime(input, event, { owner, name, timeoutMs }) : input
  if (result === undefined || result === null || isAnswer(name, result)) return result
  throw new HermesError(`${owner} gave back what is no answer at ${name}.`, { code: 'agent.hook_answer' })
}

async function withinTime<T>(
  work: Promise<T>,
  event: Pick<HookEvent, 'clock' | 'signal'> & Asking,
  { owner, name, timeoutMs }: { readonly owner: string; readonly name: HookName; readonly timeoutMs: number },
): Promise<T> {
  const { clock } = event
  const waited = () => event.waitedMs?.() ?? 0
  const endsMs = clock.now() + timeoutMs - waited()
  if (await settlesAtOnce(work)) return work
  const done = new AbortController()
  const waits = done.signal
  // Less work than a signal of both, in each call that a handler looks at files for.
  const abort = () => done.abort(event.signal.reason)
  if (event.signal.aborted) abort()
  else event.signal.addEventListener('abort', abort, { once: true })
  const late = async (): Promise<never> => {
    if (timeoutMs === Number.POSITIVE_INFINITY) return aborted(waits)
    await clock.sleep(endsMs - clock.now() + waited(), waits)
    // While a person thinks about a question the end moves on.
    while (endsMs + waited() > clock.now()) await clock.sleep(EXTENDED_BY_MS, waits)
    throw new HermesError(`${owner} took longer than ${timeoutMs} ms at ${name}.`, { code: 'agent.hook_timeout' })
  }
  try {
    return await Promise.race([work, late()])
  } finally {
    event.signal.removeEventListener('abort', abort)
    done.abort(OVER)
  }
}

/** Why the wait for a handler ends. One for all: an error with its stack for each call costs more than most handlers. */
const OVER = new DOMException('The handler is done.', 'AbortError')

/** Whether it settles before anything else happens in the process. Most handlers do, and then nothing has to watch the time. */
export function settlesAtOnce(work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const next = setImmediate(resolve, false)
    const settled = () => {
      clearImmediate(next)
      resolve(true)
    }
    work.then(settled, settled)
  })
}

const isPromise = <T>(value: T | Promise<T>): value is Promise<T> =>
  typeof (value as Partial<Promise<T>> | null | undefined)?.then === 'function'

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
