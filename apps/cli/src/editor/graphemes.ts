import measure from 'fast-string-truncated-width'

const ASCII = /^[\u0020-\u007E]*$/

/** What a person sees as single characters, in order. */
export function graphemes(text: string): readonly string[] {
  if (ASCII.test(text)) return [...text]
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
}

/** Letters and signs of one column each, our own among them. The library needs several milliseconds for the first text it measures. */
const ONE_COLUMN =
  /^[\u0020-\u007E\u00A0-\u00AC\u00AE-\u02FF\u2010-\u2027\u2190-\u2193\u2500-\u259F\u25B8\u2713\u2717]*$/

/** Columns of a piece of text on a screen, colours not counted. */
export function width(text: string): number {
  return ONE_COLUMN.test(text) ? text.length : measure(text).width
}
