import { adaptSimilar } from './adapt-similar.js'
import { body, findRuns } from './lines.js'
import { bare, isSlip, loadSimilarity, wordsOf } from './similarity.js'
import type { Strategy } from './strategy.js'

const LEAST = 0.8
/** In larger files this would take long. */
const MAX_LINES = 50_000

/** A block every line of which is like the one asked for, the same but for spelling, spacing and quotes. */
export const contextAware: Strategy = {
  name: 'context-aware',
  async find(text, search) {
    const lines = text.split('\n')
    if (lines.length > MAX_LINES) return []
    const wanted = body(search).split('\n')
    const [plainLines, plainWanted] = [lines.map(bare), wanted.map(bare)]
    const similarity = await loadSimilarity()
    const known = wordsOf(text)
    const isLike = (at: number, index: number) => {
      const [found, requested] = [plainLines[at]!, plainWanted[index]!]
      if (found === requested) return true
      return similarity(found, requested) >= LEAST && isSlip(lines[at]!, wanted[index]!, known)
    }
    return findRuns(text, search, (first) => wanted.every((_, index) => isLike(first + index, index)))
  },
  adapt: adaptSimilar,
  singleOnly: true,
}
