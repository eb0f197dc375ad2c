import type { ModelEvent, ModelFinish } from '@hermes/contracts/model'
import { type FakeClock, HALF_TEXT } from '@hermes/testkit'

const STALL_MS = 180_000

/** How a call ended. */
export interface Outcome {
  readonly events: readonly ModelEvent[]
  readonly waits: readonly (ModelEvent & { readonly type: 'retry-wait' })[]
  readonly finish: ModelFinish | null
  readonly error: unknown
}

/** Runs a call to its end; each announced wait passes at once, and so does a stall after {@link HALF_SAID}. */
export async function drive(stream: AsyncIterable<ModelEvent>, clock: FakeClock, stalls = false): Promise<Outcome> {
  const events: ModelEvent[] = []
  const iterator = stream[Symbol.asyncIterator]()
  let error: unknown = null
  try {
    for (;;) {
      const next = iterator.next()
      next.catch(() => undefined)
      await passTime(events.at(-1), clock, stalls)
      const { done, value } = await next
      if (done) break
      events.push(value)
    }
  } catch (thrown) {
    error = thrown
  }
  const waits = events.filter((event) => event.type === 'retry-wait')
  return { events, waits, finish: events.find((event) => event.type === 'finish') ?? null, error }
}

async function passTime(last: ModelEvent | undefined, clock: FakeClock, stalls: boolean): Promise<void> {
  const ms = last?.type === 'retry-wait' ? last.delayMs : stalls && isStalling(last) ? STALL_MS : null
  if (ms === null) return
  await clock.waitForSleepers()
  await clock.advance(ms)
}

function isStalling(last: ModelEvent | undefined): boolean {
  return last?.type === 'text-delta' && last.text === HALF_TEXT
}
