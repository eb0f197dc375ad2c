import { HermesError } from '@hermes/contracts'
import type { ModelEvent, ModelRequest, StreamOptions } from '@hermes/contracts/model'
import { shownAddress } from '../shown-address.js'
import { type CallTarget, nameFirst, toTransportError } from '../transport-error.js'
import { type CallFrame, CallReader, type Reading } from './read-events.js'
import { watchStall } from './stall-watch.js'
import type { WireOptions } from './wire-options.js'

/** One call to guard. */
interface GuardedCall extends StreamOptions {
  readonly wire: WireOptions
  /** What the wire adds to the base URL. */
  readonly path: string
  readonly request: ModelRequest
  readonly credential: string | null
  readonly onHeaders?: ((headers: Readonly<Record<string, string>>) => void) | undefined
}

/** What the guard gives to the call. */
export interface CallGuard extends Pick<GuardedCall, 'credential' | 'onHeaders'> {
  readonly target: CallTarget
  /** Ends the request. Fires on abort, on a stall, and when the reader leaves before the end. */
  readonly controller: AbortController
  /** Progress was made; the first call of it starts the watch for stalls. */
  readonly touch: () => void
}

/**
 * Runs one call of any wire: it ends with an `AbortError` on abort, with `transport.stalled` when nothing comes for too long, and with
 * one `transport.*` error on any other failure. The complete answer is the last event.
 */
export function guardCall(call: GuardedCall, run: (guard: CallGuard) => Promise<Reading>): AsyncGenerator<ModelEvent> {
  return new CallReader(frame(call, run))
}

async function* frame(
  { wire, path, request, credential, onHeaders, signal }: GuardedCall,
  run: (guard: CallGuard) => Promise<Reading>,
): CallFrame {
  throwIfAborted(signal)
  const { provider, name, baseUrl, clock, stallTimeoutMs, keySource } = wire
  const target = { provider, name, baseUrl, path, model: request.model, credential, keySource }
  const controller = new AbortController()
  const abort = () => controller.abort()
  signal?.addEventListener('abort', abort, { once: true })
  const watch = watchStall(clock, stallTimeoutMs, abort)
  let complete = false
  try {
    const answer = await run({ target, credential, onHeaders, controller, touch: watch.touch })
    try {
      yield answer
    } catch (error) {
      throw answer.explain?.(error) ?? error
    }
    const finish = await answer.finish()
    // SDKs end the iteration without a word when a request is aborted.
    throwIfAborted(controller.signal)
    complete = true
    yield finish
  } catch (error) {
    throwIfAborted(signal)
    if (watch.stalled) throw stalled(target, stallTimeoutMs)
    throw toTransportError(error, target, { nowMs: clock.now() })
  } finally {
    watch.stop()
    signal?.removeEventListener('abort', abort)
    // A finished request is left alone: aborting it would close a connection that the next one can use.
    if (!complete) controller.abort()
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new DOMException('The request was aborted.', 'AbortError')
}

function stalled(target: CallTarget, stallTimeoutMs: number): HermesError {
  const { provider, baseUrl, model } = target
  return new HermesError(
    `${nameFirst(target)} at ${shownAddress(baseUrl)} sent nothing for ${Math.round(stallTimeoutMs / 1_000)} s.`,
    {
      code: 'transport.stalled',
      retryable: true,
      details: { provider, model, stallTimeoutMs },
    },
  )
}

/** The error for an answer that ended before it was complete. */
export function cutError(target: CallTarget): HermesError {
  const { provider } = target
  return new HermesError(`${nameFirst(target)} ended its answer in the middle.`, {
    code: 'transport.stream_cut',
    retryable: true,
    details: { provider },
  })
}
