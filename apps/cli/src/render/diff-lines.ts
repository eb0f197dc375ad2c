// Unified diffs, read line by line: what each line is, where it stands in its file, and which words of it changed.
import { diffWordsWithSpace } from 'diff'

/** A stretch of a line; what changed is marked where the line stands for another. */
export interface Stretch {
  readonly text: string
  readonly isChanged: boolean
}

/** One line of a diff as it was written, for what it is. `meta` is all around the changes themselves. */
export type DiffLine = { readonly type: 'meta' | 'former-name' | 'name' | 'hunk'; readonly line: string } | ChangedLine

/** A line of a file: of the former one where it was removed, else of the new one. */
export interface ChangedLine {
  readonly type: 'same' | 'removed' | 'added'
  readonly line: string
  /** Counted from 1. */
  readonly number: number
  /** The line without its sign. */
  readonly stretches: readonly Stretch[]
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
/** What a diff says of a file that ends in the middle of a line. */
export const NO_FINAL_LINE_FEED = '\\ No newline at end of file'
const SIGNS = { ' ': 'same', '-': 'removed', '+': 'added' } as const
/** Longer lines are compared up to here. */
const MAX_COMPARED = 1_200
const MAX_EDITS = 200
/** Lines that have less in common are others, not changed ones. */
const LEAST_COMMON = 0.3

/** Reads the diffs of any number of files. What is no diff is `meta`. */
export function readDiff(diff: string): readonly DiffLine[] {
  const lines = diff.split('\n')
  const read: DiffLine[] = []
  let left = { former: 0, next: 0 }
  let at = { former: 0, next: 0 }
  for (const [index, line] of lines.entries()) {
    const hunk = HUNK.exec(line)
    // Some programs write an empty line without the space before it.
    const type = line === '' ? 'same' : SIGNS[line[0] as keyof typeof SIGNS]
    if ((left.former > 0 || left.next > 0) && type !== undefined) {
      const number = type === 'removed' ? at.former : at.next
      read.push({ type, line, number, stretches: [{ text: line.slice(1), isChanged: false }] })
      const [former, next] = [type === 'added' ? 0 : 1, type === 'removed' ? 0 : 1]
      left = { former: left.former - former, next: left.next - next }
      at = { former: at.former + former, next: at.next + next }
    } else if (hunk) {
      const [, former, formerCount = '1', next, nextCount = '1'] = hunk
      left = { former: Number(formerCount), next: Number(nextCount) }
      at = { former: Number(former), next: Number(next) }
      read.push({ type: 'hunk', line })
    } else {
      const isName = line.startsWith('+++ ') && lines[index - 1]?.startsWith('--- ') === true
      const isFormer = line.startsWith('--- ') && lines[index + 1]?.startsWith('+++ ') === true
      read.push({ type: isName ? 'name' : isFormer ? 'former-name' : 'meta', line })
    }
  }
  return withChangedWords(read)
}

/** Lines that were removed and those that follow in their place are compared in pairs. */
function withChangedWords(lines: readonly DiffLine[]): readonly DiffLine[] {
  const result = [...lines]
  const places = lines.flatMap(({ line }, place) => (line === NO_FINAL_LINE_FEED ? [] : [place]))
  const endOf = (from: number, type: 'removed' | 'added') => {
    let end = from
    while (end < places.length && lines[places[end]!]!.type === type) end++
    return end
  }
  for (let from = 0; from < places.length; ) {
    const removedEnd = endOf(from, 'removed')
    const addedEnd = endOf(removedEnd, 'added')
    for (let pair = 0; pair < Math.min(removedEnd - from, addedEnd - removedEnd); pair++) {
      const [formerPlace, nextPlace] = [places[from + pair]!, places[removedEnd + pair]!]
      const [former, next] = [lines[formerPlace] as ChangedLine, lines[nextPlace] as ChangedLine]
      const changed = changedWords(former.line.slice(1), next.line.slice(1))
      if (changed === null) continue
      result[formerPlace] = { ...former, stretches: changed.former }
      result[nextPlace] = { ...next, stretches: changed.next }
    }
    from = Math.max(addedEnd, from + 1)
  }
  return result
}

interface ChangedWords {
  readonly former: readonly Stretch[]
  readonly next: readonly Stretch[]
}

function changedWords(former: string, next: string): ChangedWords | null {
  const [before, after] = [former.slice(0, MAX_COMPARED), next.slice(0, MAX_COMPARED)]
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS })
  if (parts === undefined) return null
  const common = parts.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length), 0)
  if (common < LEAST_COMMON * Math.max(before.trim().length, after.trim().length)) return null
  const stretches = (other: 'added' | 'removed', rest: string) =>
    joined([
      ...parts.flatMap((part) => (part[other] ? [] : [{ text: part.value, isChanged: part.added || part.removed }])),
      { text: rest, isChanged: false },
    ])
  return {
    former: stretches('added', former.slice(MAX_COMPARED)),
    next: stretches('removed', next.slice(MAX_COMPARED)),
  }
}

/** A space between two words that changed belongs to them. */
function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const result: Stretch[] = []
  for (const [index, { text, isChanged }] of stretches.entries()) {
    const last = result.at(-1)
    const isChange =
      isChanged || (text.trim() === '' && last?.isChanged === true && stretches[index + 1]?.isChanged === true)
    if (last?.isChanged === isChange) result[result.length - 1] = { text: last.text + text, isChanged: isChange }
    else if (text !== '') result.push({ text, isChanged: isChange })
  }
  return result
}
