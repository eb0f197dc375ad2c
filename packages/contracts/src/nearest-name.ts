/** A typing error touches at most so much of a word, and so many letters. */
const TOUCHED = 0.4
const MOST_EDITS = 2
/** Two letters in the wrong order are more likely than a letter too many. */
const SWAPPED = 0.9

/**
 * The one of `names` that `word` is most likely a typing error of, of several the first; `null` when none is so near. Case and leading dashes
 * do not count; two letters in the wrong order are one error, as a missing, a wrong or an additional one is, and a likelier one.
 */
export function nearestName(word: string, names: readonly string[]): string | null {
  const written = bare(word)
  const atMost = Math.min(MOST_EDITS, Math.floor(written.length * TOUCHED))
  let nearest: string | null = null
  let fewest = Number.POSITIVE_INFINITY
  for (const name of names) {
    const edits = editsBetween(written, bare(name), atMost)
    if (edits <= atMost && edits < fewest) [nearest, fewest] = [name, edits]
  }
  return nearest
}

function bare(word: string): string {
  return word.toLowerCase().replace(/^-+/, '')
}

/** How many errors lie between two words, as far as their lengths allow `atMost`. */
function editsBetween(from: string, to: string, atMost: number): number {
  if (Math.abs(from.length - to.length) > atMost) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      next.push(
        Math.min(
          last[column]! + 1,
          next[column - 1]! + 1,
          last[column - 1]! + (isSame ? 0 : 1),
          isSwapped ? before[column - 2]! + SWAPPED : Number.POSITIVE_INFINITY,
        ),
      )
    }
    ;[before, last] = [last, next]
  }
  return last[to.length]!
}
