/** A part of a text, and what is left. */
interface TextWindow {
  readonly text: string
  /** Characters of the whole. */
  readonly totalChars: number
  /** Where what is left out begins; `null` when nothing is. */
  readonly nextStart: number | null
}

/** Of what is shown of a text from its beginning; the rest of it is its end. */
const HEAD_SHARE = 0.75

/**
 * What of a text is shown: from the beginning with its end, so that both can be seen, or on from `start`. Cut at lines where there are some
 * near.
 */
export function windowOf(
  whole: string,
  { start, limit }: { readonly start: number; readonly limit: number },
): TextWindow {
  const totalChars = whole.length
  if (start >= totalChars && start > 0) return { text: '', totalChars, nextStart: null }
  if (start > 0) {
    const end = totalChars - start <= limit ? totalChars : lineEndBefore(whole, start + limit, start)
    const text = whole.slice(start, end).toWellFormed()
    if (end === totalChars) return { text, totalChars, nextStart: null }
    return { text: `${text}\n\n[… ${totalChars - end} more characters: start=${end}]`, totalChars, nextStart: end }
  }
  if (totalChars <= limit) return { text: whole, totalChars, nextStart: null }
  const head = lineEndBefore(whole, Math.floor(limit * HEAD_SHARE), 0)
  const from = lineStartAfter(whole, totalChars - (limit - head))
  const note = `[… ${from - head} of ${totalChars} characters left out here: read on with start=${head}]`
  const [first, last] = [whole.slice(0, head).toWellFormed(), whole.slice(from).toWellFormed()]
  return { text: `${first}\n\n${note}\n\n${last}`, totalChars, nextStart: head }
}

/** A line is looked for in this share of what is shown. */
const NEAR = 0.2

function lineEndBefore(text: string, at: number, from: number): number {
  const end = text.lastIndexOf('\n', at)
  return end > at - (at - from) * NEAR ? end : at
}

function lineStartAfter(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end !== -1 && end < at + (text.length - at) * NEAR ? end + 1 : at
}
