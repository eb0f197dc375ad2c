/** How often `piece` stands in `text`. */
export const occurrences = (text: string, piece: string): number => text.split(piece).length - 1

/** Files in which a number and a bar at the start of each line may well be data. */
const TABLE = /\.(?:psv|csv|tsv|dat|txt)$/i
const NUMBERED = /^(\d+)\|/

/** Ends what `read_file` says instead of a page that was shown already. */
export const UNCHANGED = 'is unchanged since you read these lines; they are still above in the conversation.'

const CUT_LINE = /\[… (?:at least )?\d+ more characters\]/g
const PAGE_NOTE = /\n\[Lines \d+-\d+ of (?:more than )?\d+[.;][^\n]*\]\s*$/

/**
 * Why `text` must not be written over `before`, as it holds what `read_file` says in place of text that it does not show; `null` when
 * it may. `source` names where it comes from.
 */
export function refuseNotes(text: string, before: string, source: string): string | null {
  const cut = text.match(CUT_LINE)
  if (cut && cut.length > (before.match(CUT_LINE)?.length ?? 0))
    return `${source} holds "${cut[0]}", which stands for the rest of a long line that was not shown; writing it would destroy that rest. Nothing was written: change only other lines, with patch.`
  const isNote = (one: string) => PAGE_NOTE.test(one) || (one.endsWith(UNCHANGED) && !one.includes('\n'))
  if (isNote(text.trimEnd()) && !isNote(before.trimEnd()))
    return `${source} holds a note of read_file, which is not part of a file. Nothing was written: send the text without it.`
  return null
}

/** Whether `content` is what `read_file` shows rather than what a file holds: most lines begin with consecutive numbers and a bar. */
export function isNumberedDisplay(path: string, content: string): boolean {
  if (TABLE.test(path)) return false
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const numbers = lines.map((line) => Number(NUMBERED.exec(line)?.[1] ?? Number.NaN))
  const consecutive = numbers.filter((number, index) => index > 0 && number === numbers[index - 1]! + 1).length
  return lines.length >= 2 && consecutive >= Math.max(1, (lines.length - 1) / 2)
}
