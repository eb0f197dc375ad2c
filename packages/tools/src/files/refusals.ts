/** How often `piece` stands in `text`. */
export const occurrences = (text: string, piece: string): number => text.split(piece).length - 1

/** Files in which a number and a bar at the start of each line may well be data. */
const TABLE = /\.(?:psv|csv|tsv|dat|txt)$/i
const NUMBERED = /^(\d+)\|/

/** Whether `content` is what `read_file` shows rather than what a file holds: most lines begin with consecutive numbers and a bar. */
export function isNumberedDisplay(path: string, content: string): boolean {
  if (TABLE.test(path)) return false
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const numbers = lines.map((line) => Number(NUMBERED.exec(line)?.[1] ?? Number.NaN))
  const consecutive = numbers.filter((number, index) => index > 0 && number === numbers[index - 1]! + 1).length
  return lines.length >= 2 && consecutive >= Math.max(1, (lines.length - 1) / 2)
}
