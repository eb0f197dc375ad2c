// What somebody wrote in a mail: without the mail it answers, and without a signature.
import { convert } from 'html-to-text'

const MAX_HTML_CHARS = 1_000_000
const MAX_LINE_CHARS = 1_000
/** The line above a quoted mail, in the languages of common programs: it ends in a colon and names an address or a time. */
const ATTRIBUTION = /(?:<[^<>\s]+@[^<>\s]+>|\d{1,2}[:.]\d{2}|\d{4}).*:$/
const DIVIDER =
  /^(?:-{2,}|_{5,})\s*(?:original message|forwarded message|ursprüngliche nachricht|message d'origine)?\s*-*$/i
const FORWARDED = /^-{2,}\s*(?:forwarded message|weitergeleitete nachricht|message transféré)/im
const FORWARDING_SUBJECT = /^(?:fwd?|wg|tr|rv)\s*:/i

/** The text of a mail that has HTML only. */
export function textOfHtml(html: string): string {
  return convert(html.slice(0, MAX_HTML_CHARS), {
    wordwrap: false,
    limits: { maxDepth: 100 },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      { selector: 'blockquote', format: 'blockquote' },
    ],
  })
}

/** What is new in a mail. An answer between quoted lines stays with them. */
export function newWords(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const signature = lines.findIndex((line) => line === '-- ' || line === '--')
  const own = signature < 0 ? lines : lines.slice(0, signature)
  return withoutQuote(own).join('\n').trim()
}

/** Whether a mail passes on what somebody else wrote. */
export function isPassedOn(subject: string, text: string): boolean {
  return FORWARDING_SUBJECT.test(subject.trimStart().slice(0, MAX_LINE_CHARS)) || FORWARDED.test(text.slice(0, 100_000))
}

/** A quote at the end goes, with the line that says whose it is. */
function withoutQuote(lines: readonly string[]): readonly string[] {
  let end = lines.length
  while (end > 0 && (lines[end - 1]!.trim() === '' || lines[end - 1]!.startsWith('>'))) end--
  const hasQuote = lines.slice(end).some((line) => line.startsWith('>'))
  if (!hasQuote) return beforeDivider(lines)
  // Long attributions are broken into two lines.
  for (const count of [1, 2]) {
    const above = lines
      .slice(Math.max(0, end - count), end)
      .join(' ')
      .slice(0, MAX_LINE_CHARS)
      .trim()
    if (end >= count && ATTRIBUTION.test(above)) return lines.slice(0, end - count)
  }
  return lines.slice(0, end)
}

/** Some programs put the whole mail under a line, without marks. */
function beforeDivider(lines: readonly string[]): readonly string[] {
  const at = lines.findIndex((line) => line.length < 80 && DIVIDER.test(line.trim()) && /[a-z_]/i.test(line))
  return at < 1 || FORWARDED.test(lines[at]!) ? lines : lines.slice(0, at)
}
