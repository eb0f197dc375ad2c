import { type Clock, HermesError } from '@hermes/contracts'

/** The time that a run may take. */
export interface TimeLimit {
  /** What the model is to know of it, once most of it is used; `null` before, and after it was asked for. */
  takeWarning(): string | null
  /** The run has ended. */
  stop(): void
}

export const TIME_IS_OVER = 'agent.time_limit'
const WARN_AT = 0.8
/** Timers take no longer times. */
const MAX_TIMER_MS = 2_147_483_647

/** Begins to count; `end` is called once, with what to end the run with. Without `seconds` there is no limit. */
export function startTimeLimit(
  seconds: number | null,
  { clock, end }: { readonly clock: Clock; readonly end: (reason: HermesError) => void },
): TimeLimit {
  if (seconds === null) return { takeWarning: () => null, stop: () => undefined }
  const startedAtMs = clock.now()
  const message = `The time for this run, ${named(seconds)}, is over. Continue the session to go on.`
  const over = () => end(new HermesError(message, { code: TIME_IS_OVER, details: { limitSeconds: seconds } }))
  const waiting = new AbortController()
  clock.sleep(Math.min(seconds * 1_000, MAX_TIMER_MS), waiting.signal).then(over, () => undefined)
  let isWarned = false
  return {
    takeWarning: () => {
      const used = (clock.now() - startedAtMs) / 1_000
      if (isWarned || used < seconds * WARN_AT) return null
      isWarned = true
      return `Of the ${named(seconds)} for this run ${named(Math.max(0, seconds - used))} are left; then it is ended. Come to an end: say what was done, what was found and what is left to do.`
    },
    stop: () => waiting.abort(),
  }
}

function named(seconds: number): string {
  const rounded = seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)
  return `${rounded} ${rounded === 1 ? 'second' : 'seconds'}`
}
