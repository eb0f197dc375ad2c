import { type Clock, HermesError } from '@hermes/contracts'
import type { Action } from '@hermes/contracts/policy'
import type { WebCall } from '@hermes/contracts/web'
import { checkUrl } from '@hermes/safety'

/** Options of {@link createAnswers}. */
interface AnswersOptions {
  /** How long one is good. 0: nothing is kept, and equal requests are joined all the same. */
  readonly keptMs: number
  /** Nothing from these hosts, or from what is below them, is kept. */
  readonly exemptHosts: readonly string[]
  readonly clock: Pick<Clock, 'now'>
}

/** Answers of the web that several ask for. */
interface Answers<Value> {
  /**
   * What `make` gave for `key` a while ago, or gives now; equal requests at the same time are one. What was asked of the policy for it is asked
   * again on behalf of everybody who gets it. Failures and what comes from private networks are not kept. Abort ends the work once all who
   * wait for it are gone.
   */
  get(key: string, call: WebCall, make: (call: WebCall) => Promise<Value>): Promise<Value>
}

interface Work<Value> {
  readonly value: Promise<Value>
  readonly actions: Action[]
  readonly end: AbortController
  waiting: number
}

interface Kept<Value> {
  readonly value: Value
  readonly actions: readonly Action[]
  readonly untilMs: number
}

/** Of each kind. */
const MOST_KEPT = 200

/** A place for answers. */
export function createAnswers<Value>({ keptMs, exemptHosts, clock }: AnswersOptions): Answers<Value> {
  const kept = new Map<string, Kept<Value>>()
  const underWay = new Map<string, Work<Value>>()
  const mayKeep = (action: Action) =>
    action.type === 'fetch' &&
    (action.chosen === 'looks' || (checkUrl(action.url).ok && !isExempt(action.url, exemptHosts)))

  const begin = (key: string, call: WebCall, make: (call: WebCall) => Promise<Value>): Work<Value> => {
    const end = new AbortController()
    const actions: Action[] = []
    const permit: WebCall['permit'] = (action, options) => {
      // What nobody is asked about is what a page loads beside itself.
      if (options?.mayAsk !== false) actions.push(action)
      return call.permit(action, options)
    }
    const value = make({ signal: end.signal, permit }).then((made) => {
      if (keptMs > 0 && actions.length > 0 && actions.every(mayKeep)) {
        kept.set(key, { value: made, actions, untilMs: clock.now() + keptMs })
        if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!)
      }
      return made
    })
    const work: Work<Value> = { value, actions, end, waiting: 0 }
    underWay.set(key, work)
    const over = () => {
      if (underWay.get(key) === work) underWay.delete(key)
    }
    value.then(over, over)
    return work
  }

  const get: Answers<Value>['get'] = async (key, call, make) => {
    call.signal.throwIfAborted()
    const found = kept.get(key)
    if (found && found.untilMs > clock.now()) {
      await permitAll(found.actions, call)
      return found.value
    }
    kept.delete(key)
    const running = underWay.get(key)
    if (!running) return shared(begin(key, call, make), call.signal)
    const joined = await shared(running, call.signal).then(
      (value) => ({ value }),
      (error: unknown) => {
        call.signal.throwIfAborted()
        if (HermesError.isInstance(error) && !error.code.startsWith('policy.')) throw error
        return null
      },
    )
    // What was denied to the other one, or waits for an answer or an end there, says nothing about this one.
    if (joined === null) return get(key, call, make)
    await permitAll(running.actions, call)
    return joined.value
  }
  return { get }
}

async function permitAll(actions: readonly Action[], { permit }: WebCall): Promise<void> {
  for (const action of actions) await permit(action)
}

function shared<Value>(work: Work<Value>, signal: AbortSignal): Promise<Value> {
  work.waiting++
  return new Promise<Value>((resolve, reject) => {
    const leave = () => {
      work.waiting--
      if (work.waiting === 0) work.end.abort(signal.reason)
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    const done = () => signal.removeEventListener('abort', leave)
    work.value.then(
      (value) => {
        done()
        resolve(value)
      },
      (error: unknown) => {
        done()
        reject(error)
      },
    )
  })
}

function isExempt(url: string, hosts: readonly string[]): boolean {
  const { hostname } = new URL(url)
  return hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
}
