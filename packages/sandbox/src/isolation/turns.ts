/** Runs work at once, or as soon as it is its turn. */
export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/** At most `most` pieces of work at the same time; others wait, in the order in which they came. */
export function createTurns(most: number): InTurn {
  const waiting: (() => void)[] = []
  let free = most
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
