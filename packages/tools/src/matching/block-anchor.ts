import { adaptSimilar } from './adapt-similar.js'
import { body, findRuns } from './lines.js'
import { bare, isSlip, loadSimilarity, wordsOf } from './similarity.js'
import type { Range, Strategy } from './strategy.js'

const SINGLE = 0.5
const SEVERAL = 0.7
const MIN_LINES = 3
/** A shorter line, or the end of another block, may be the only one of its kind by accident. */
const MIN_ANCHOR_CHARS = 9

/**
 * A block by its first and last line; what is between them may have changed. Where the first line does not tell one block from
 * others, the lines between may differ in spelling only.
 */
export const blockAnchor: Strategy = {
  name: 'block-anchor',
  async find(text, search) {
    const wanted = body(search).split('\n')
    const [first, last] = [wanted[0]!.trim(), wanted.at(-1)!.trim()]
    if (wanted.length < MIN_LINES || first === '' || last === '') return []
    const lines = text.split('\n')
    const candidates = findRuns(
      text,
      search,
      (at) => lines[at]!.trim() === first && lines[at + wanted.length - 1]!.trim() === last,
    )
    const similarity = await loadSimilarity()
    const middle = wanted.slice(1, -1).map(bare).join('\n')
    const middleOf = (range: Range) => linesOf(text, range).slice(1, -1).map(bare).join('\n')
    const least = candidates.length === 1 ? SINGLE : SEVERAL
    const similar = candidates.filter((range) => similarity(middleOf(range), middle) >= least)
    const isTelling =
      first.length >= MIN_ANCHOR_CHARS &&
      !first.startsWith('}') &&
      lines.filter((line) => line.trim() === first).length === 1
    if (isTelling) return similar
    const known = wordsOf(text)
    return similar.filter((range) => linesOf(text, range).every((line, index) => isSlip(line, wanted[index]!, known)))
  },
  adapt: adaptSimilar,
  singleOnly: true,
}

const linesOf = (text: string, range: Range): readonly string[] => body(text.slice(range.start, range.end)).split('\n')
