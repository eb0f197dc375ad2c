import { findExact } from './exact.js'
import type { Edit, Range, Strategy } from './strategy.js'
import { toPlain, withPlainOf } from './typography.js'

function find(text: string, search: string): readonly Range[] {
  const { text: plain, origin } = toPlain(text)
  return findExact(plain, toPlain(search).text)
    .map(({ start, end }) => ({ start: origin[start]!, end: origin[end]! }))
    .filter(({ start, end }) => start !== -1 && end !== -1)
}

/** Words that stay are taken from the file with their own typography; words that change come from the replacement, without what drifted. */
async function adapt({ region, search, replacement }: Edit): Promise<string | null> {
  const { diffWordsWithSpace } = await import('diff')
  const { origin } = toPlain(region)
  let position = 0
  let result = ''
  for (const part of diffWordsWithSpace(search, replacement)) {
    if (part.added) {
      result += withPlainOf(part.value, { asked: search, found: region })
      continue
    }
    const end = position + toPlain(part.value).text.length
    if (!part.removed) {
      const [from, to] = [origin[position] ?? -1, origin[end] ?? -1]
      if (from === -1 || to === -1) return null
      result += region.slice(from, to)
    }
    position = end
  }
  return result
}

/** Smart quotes, dashes, ellipses and special spaces taken for their plain forms. */
export const unicodeNormalised: Strategy = { name: 'unicode-normalised', find, adapt }
