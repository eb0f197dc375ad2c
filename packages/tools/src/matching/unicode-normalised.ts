import { findExact } from './exact.js'
import type { Edit, Range, Strategy } from './strategy.js'
import { type LongDashes, toPlain, withPlainOf } from './typography.js'

function find(text: string, search: string): readonly Range[] {
  for (const long of search.includes('--') ? LONG_DASHES : (['none'] as const)) {
    const { text: plain, origin } = toPlain(text, long)
    const ranges = findExact(plain, toPlain(search, long).text)
      .map(({ start, end }) => ({ start: origin[start]!, end: origin[end]! }))
      .filter(({ start, end }) => start !== -1 && end !== -1)
    if (ranges.length > 0) return ranges
  }
  return []
}

const LONG_DASHES: readonly LongDashes[] = ['none', 'em', 'all']

/** Words that stay are taken from the file with their own typography; words that change come from the replacement, without what drifted. */
async function adapt({ region, search, replacement }: Edit): Promise<string | null> {
  const { diffWordsWithSpace } = await import('diff')
  const long = LONG_DASHES.find((one) => toPlain(region, one).text === toPlain(search, one).text) ?? 'none'
  const { origin } = toPlain(region, long)
  let position = 0
  let result = ''
  for (const part of diffWordsWithSpace(search, replacement)) {
    if (part.added) {
      result += withPlainOf(part.value, { requested: search, found: region })
      continue
    }
    const end = position + toPlain(part.value, long).text.length
    if (!part.removed) {
      const [from, to] = [origin[position] ?? -1, origin[end] ?? -1]
      if (from === -1 || to === -1) return null
      result += region.slice(from, to)
    }
    position = end
  }
  return result
}

/** Smart quotes, dashes, ellipses and special spaces taken for their plain forms, `--` for a dash too. */
export const unicodeNormalised: Strategy = { name: 'unicode-normalised', find, adapt }
