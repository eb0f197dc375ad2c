/** A stretch of text, `end` not included. */
interface Span {
  readonly start: number
  readonly end: number
}

/** Where any of `forms` stands in `text`, overlapping stretches joined, in order. */
export function findSpans(text: string, forms: readonly string[]): readonly Span[] {
  const found: Span[] = []
  for (const form of forms) {
    for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) {
      found.push({ start: at, end: at + form.length })
    }
  }
  return joinSpans(found)
}

/** Overlapping spans as one; spans that only touch stay apart. */
export function joinSpans(spans: readonly Span[]): readonly Span[] {
  const joined: Span[] = []
  for (const span of [...spans].sort((left, right) => left.start - right.start || right.end - left.end)) {
    const last = joined.at(-1)
    if (last && span.start < last.end)
      joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    else joined.push(span)
  }
  return joined
}
