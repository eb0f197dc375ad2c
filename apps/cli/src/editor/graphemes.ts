import measure from 'fast-string-truncated-width'

const ASCII = /^[\u0020-\u007E]*$/

/** What a person sees as single characters, in order. */
export function graphemes(text: string): readonly string[] {
  if (ASCII.test(text)) return [...text]
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}

/** Columns of a piece of text on a screen, colours not counted. */
export function width(text: string): number {
  return ASCII.test(text) ? text.length : measure(text).width
}
