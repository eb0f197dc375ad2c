/** Where the first of them stands in Unicode, and all after it. */
const BEYOND = /[\u00A0-\uFFFF]/
const EN_DASH = /\u2013/
const EM_DASH = /[\u2014\u2015]/
const ELLIPSIS = /\u2026/
const PLAIN: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201A\u201B\u2032]/, "'"],
  [/[\u201C\u201D\u201E\u201F\u2033]/, '"'],
  [/[\u2010-\u2012\u2212]/, '-'],
  [EN_DASH, '-'],
  [EM_DASH, '-'],
  [ELLIPSIS, '...'],
  [/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/, ' '],
]

/** A text with typographic characters in their plain form, and the way back. */
interface Plain {
  readonly text: string
  /** For each position of `text`, and its end, the position in the original; -1 inside an expanded character. Made when it is read. */
  readonly origin: readonly number[]
}

/** Dashes that are typed as two hyphens. */
export type LongDashes = 'none' | 'em' | 'all'

/** Takes smart quotes, dashes, ellipses and special spaces for their plain forms; a dash is one hyphen, or two as `long` says. */
export function toPlain(original: string, long: LongDashes = 'none'): Plain {
  const expands = (pattern: RegExp) =>
    (long !== 'none' && pattern === EM_DASH) || (long === 'all' && pattern === EN_DASH)
  // Most text has no such characters at all.
  const found = BEYOND.test(original) ? PLAIN.filter(([pattern]) => pattern.test(original)) : []
  const text = found.reduce(
    (result, [pattern, plain]) => result.replace(new RegExp(pattern, 'g'), expands(pattern) ? '--' : plain),
    original,
  )
  const expanded = found.flatMap(([pattern, plain]) => (plain.length > 1 || expands(pattern) ? [pattern] : []))
  return {
    text,
    get origin() {
      return originOf(original, (character) => {
        const pattern = expanded.find((one) => one.test(character))
        return pattern === undefined ? 1 : pattern === ELLIPSIS ? 3 : 2
      })
    },
  }
}

function originOf(original: string, lengthOf: (character: string) => number): number[] {
  const origin: number[] = []
  for (let index = 0; index < original.length; index++) {
    origin.push(index)
    const length = original[index]! < '\u00A0' ? 1 : lengthOf(original[index]!)
    for (let inner = 1; inner < length; inner++) origin.push(-1)
  }
  origin.push(original.length)
  return origin
}

/** `text` with those characters in their plain form whose kind `requested` has where `found` has only plain ones: they came with the call. */
export function withPlainOf(
  text: string,
  { requested, found }: { readonly requested: string; readonly found: string },
): string {
  const drifted = PLAIN.filter(([pattern]) => pattern.test(requested) && !pattern.test(found))
  return drifted.reduce((result, [pattern, plain]) => result.replace(new RegExp(pattern, 'g'), plain), text)
}
