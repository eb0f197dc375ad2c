/** The moment a day or a month began where the clocks show `timeZone`, and the one at which the next begins. Unix milliseconds. */
interface Period {
  readonly startMs: number
  readonly endMs: number
}

/** The day or month that `atMs` lies in. Pure. */
export function periodOf(unit: 'day' | 'month', atMs: number, timeZone: string): Period {
  const { year, month, day } = dateOf(atMs, timeZone)
  const isDay = unit === 'day'
  return {
    startMs: midnight(timeZone, year, month, isDay ? day : 1),
    endMs: isDay ? midnight(timeZone, year, month, day + 1) : midnight(timeZone, year, month + 1, 1),
  }
}

interface LocalTime {
  readonly year: number
  readonly month: number
  readonly day: number
  /** What the clocks show, read as if it were UTC. */
  readonly shownMs: number
}

function dateOf(atMs: number, timeZone: string): LocalTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return { year, month, day, shownMs: Date.UTC(year, month - 1, day, hour, minute, second) }
}

/** Twice, because the clocks may be changed between the guess and the result. */
function midnight(timeZone: string, year: number, month: number, day: number): number {
  const wanted = Date.UTC(year, month - 1, day)
  let atMs = wanted
  for (let pass = 0; pass < 2; pass++) atMs += wanted - dateOf(atMs, timeZone).shownMs
  return atMs
}
