/** The words of an error message that tell it from others: numbers, addresses and hashes differ each time, so they count as one. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  return new Set(words.filter((word) => word.length > 1).map((word) => (isNumberLike(word) ? '#' : word)))
}

/** Digits, `0x…`, or a hash: hexadecimal with a digit before its last five characters. */
function isNumberLike(word: string): boolean {
  return /^\d+$/.test(word) || word.startsWith('0x') || (/^[\da-f]+$/.test(word) && /\d/.test(word.slice(0, -5)))
}

/** Shared words among all words of both; from 0 to 1. */
export function similarity(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const shared = countShared(left, right)
  return shared === 0 ? 0 : shared / (left.size + right.size - shared)
}

/** How much of `part` is in `whole`; from 0 to 1. */
export function covered(part: ReadonlySet<string>, whole: ReadonlySet<string>): number {
  return part.size === 0 ? 0 : countShared(part, whole) / part.size
}

function countShared(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let count = 0
  for (const word of left) if (right.has(word)) count++
  return count
}
