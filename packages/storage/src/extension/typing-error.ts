const NEAR = 2
const MIN_LETTERS = 4

/** Whether two ways of writing a command differ by no more than what fingers do wrong: a few letters of its words. */
export function isTypingError(wrong: readonly string[], right: readonly string[]): boolean {
  if (wrong.length !== right.length) return false
  const pairs = wrong.map((word, index) => [word, right[index]!] as const).filter(([left, other]) => left !== other)
  return pairs.length > 0 && pairs.every(([left, other]) => isNear(left, other))
}

function isNear(left: string, right: string): boolean {
  if (left.toLowerCase() === right.toLowerCase()) return true
  // Another number is another choice: a port, a version.
  if (left.replace(/\d+/g, '#') === right.replace(/\d+/g, '#')) return false
  if (Math.min(left.length, right.length) < MIN_LETTERS) return false
  return distance(left, right) <= NEAR
}

/** Letters put in, left out, taken for another, or turned round. */
function distance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > NEAR || left.length > 200) return NEAR + 1
  let [older, last] = [[] as number[], Array.from({ length: right.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= left.length; row++) {
    const next = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1
      let least = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + same)
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1])
        least = Math.min(least, older[column - 2]! + 1)
      next.push(least)
    }
    ;[older, last] = [last, next]
  }
  return last[right.length]!
}
