/** Where a text ends for the texts that end it. */
interface Ending {
  readonly at: number
  readonly end: number
}

/** What stands before the first of `stops`: the one that is complete first, and of those the longest. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const found = firstStop(text, stops)
  return found ? text.slice(0, found.at) : text
}

/** A text that may go on elsewhere, without what may begin a stop at its end. */
export function beforeBegunStop(text: string, stops: readonly string[]): string {
  return text.slice(0, text.length - begunAtEnd(text, stops))
}

/** How many characters at the end may begin a stop. */
function begunAtEnd(text: string, stops: readonly string[]): number {
  const longest = Math.max(0, ...stops.map(({ length }) => length - 1))
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (stops.some((stop) => stop.length > length && text.endsWith(stop.slice(0, length)))) return length
  return 0
}

function firstStop(text: string, stops: readonly string[]): Ending | null {
  let first: Ending | null = null
  for (const stop of stops) {
    const at = stop === '' ? -1 : text.indexOf(stop)
    if (at < 0) continue
    const end = at + stop.length
    if (!first || end < first.end || (end === first.end && at < first.at)) first = { at, end }
  }
  return first
}

/** The same for a text that comes in pieces: what may be the beginning of a stop waits until that is known. */
export class StopCutter {
  readonly #stops: readonly string[]
  #waiting = ''
  #isOver = false

  constructor(stops: readonly string[]) {
    this.#stops = stops
  }

  /** What of the text so far is surely said, and was not given yet. */
  feed(text: string): string {
    if (this.#isOver) return ''
    const all = this.#waiting + text
    const found = firstStop(all, this.#stops)
    this.#isOver = found !== null
    const sure = found ? found.at : all.length - begunAtEnd(all, this.#stops)
    this.#waiting = found ? '' : all.slice(sure)
    return all.slice(0, sure)
  }

  /** Nothing more comes: what waited is said. */
  end(): string {
    const rest = this.#waiting
    this.#waiting = ''
    return rest
  }
}
