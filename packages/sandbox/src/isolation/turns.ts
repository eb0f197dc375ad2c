/** Runs work at once, or as soon as it is its turn. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Work that hangs holds up nobody else for longer. */
const LONGEST_TURN_MS = 2_000

/**
 * At most `most` pieces of work at the same time; others wait, in the order in which they came. A turn is over with its work, or after
 * `longestMs` (default 2,000) although that goes on.
 */
export function createTurns(most: number, longestMs = LONGEST_TURN_MS): InTurn {
  const waiting: (() => void)[] = []
  let free = most
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    let isOver = false
    const pass = () => {
      if (isOver) return
      isOver = true
      const next = waiting.shift()
      if (next) next()
      else free++
    }
    const timer = setTimeout(pass, longestMs)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      pass()
    }
  }
}
