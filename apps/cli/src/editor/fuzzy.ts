/** Something to find by a few letters. */
interface Named {
  /** What is typed to name it. */
  readonly text: string
  /** Words about it. */
  readonly detail?: string
}

/** Items that fit letters; `isSure` when the first one fits by its name rather than by what is said of it. */
interface Ranked<T> {
  readonly items: readonly T[]
  readonly isSure: boolean
}

const LEAST_SCORE = 0.3

/** The items that `word` may mean: those that begin with it as they come, then those with its letters in order; where there are none, those whose detail has it. */
export async function rank<T extends Named>(word: string, items: readonly T[]): Promise<Ranked<T>> {
  if (word === '') return { items, isSure: false }
  const wanted = word.toLowerCase()
  const beginning = items.filter(({ text }) => text.toLowerCase().startsWith(wanted))
  const others = items.filter((item) => !beginning.includes(item))
  const alike = await bestOf(word, others, ({ text }) => text)
  const byName = [...beginning, ...alike]
  if (byName.length > 0 || wanted.length < 3) return { items: byName, isSure: byName.length > 0 }
  const letters = wanted.replace(/^\//, '')
  return { items: others.filter(({ detail }) => detail?.toLowerCase().includes(letters)), isSure: false }
}

/** The items whose text has the letters of `word` in order, the best first. Loads the matcher on first use. */
export async function bestOf<T>(word: string, items: readonly T[], textOf: (item: T) => string): Promise<readonly T[]> {
  if (items.length === 0) return []
  const { go, cleanup } = await import('fuzzysort')
  const found = go(word, items, { key: textOf, limit: 0, threshold: LEAST_SCORE })
  // Else the matcher keeps every text it has ever seen.
  cleanup()
  return found
    .toSorted((one, other) => other.score - one.score || (one.target < other.target ? -1 : 1))
    .map(({ obj }) => obj)
}
