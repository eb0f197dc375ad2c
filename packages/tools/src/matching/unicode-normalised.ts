import { findExact } from './exact.js'
import type { Edit, Range, Strategy } from './strategy.js'

const PLAIN: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201A\u201B\u2032]/, "'"],
  [/[\u201C\u201D\u201E\u201F\u2033]/, '"'],
  [/[\u2010-\u2015\u2212]/, '-'],
  [/\u2026/, '...'],
  [/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/, ' '],
]

function plainOf(character: string): string {
  if (character < '\u00A0') return character
  return PLAIN.find(([pattern]) => pattern.test(character))?.[1] ?? character
}

interface Plain {
  readonly text: string
  /** For each position of `text`, and its end, the position in the original; -1 inside an expanded character. */
  readonly origin: readonly number[]
}

function toPlain(original: string): Plain {
  let text = ''
  const origin: number[] = []
  for (let index = 0; index < original.length; index++) {
    const plain = plainOf(original[index]!)
    text += plain
    origin.push(index)
    for (let inner = 1; inner < plain.length; inner++) origin.push(-1)
  }
  origin.push(original.length)
  return { text, origin }
}

function find(text: string, search: string): readonly Range[] {
  const { text: plain, origin } = toPlain(text)
  return findExact(plain, toPlain(search).text)
    .map(({ start, end }) => ({ start: origin[start]!, end: origin[end]! }))
    .filter(({ start, end }) => start !== -1 && end !== -1)
}

/** Words that stay are taken from the file with their own typography; words that change come from the replacement. */
async function adapt({ region, search, replacement }: Edit): Promise<string | null> {
  const { diffWordsWithSpace } = await import('diff')
  const { origin } = toPlain(region)
  let position = 0
  let result = ''
  for (const part of diffWordsWithSpace(search, replacement)) {
    if (part.added) {
      result += part.value
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
