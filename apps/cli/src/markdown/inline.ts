// Emphasis, code and links within a line that is still being written. A word is shown once it cannot change its look any more.
import { Lexer, type Token } from 'marked'
import { printable, type Style } from '../render/style.js'
import type { Paint, Span } from './flow.js'

/** The inside of one line, in pieces. */
export interface InlineStream {
  /** What became certain by `text`. */
  add(text: string): readonly Span[]
  /** The rest; what was opened and never closed stands there as it was typed. The next line begins. */
  end(): readonly Span[]
}

/** An opened mark that is so far away from its end was none. Characters. */
const LONGEST_MARKED = 2_000
/** What has no blank for so long is shown in parts. Characters. */
const LONGEST_WORD = 400

export function createInlineStream(style: Style, base: Paint = (text) => text): InlineStream {
  let held = ''
  return {
    add(text) {
      const spans: Span[] = []
      for (let at = 0; at < text.length; at += LONGEST_MARKED) {
        held += text.slice(at, at + LONGEST_MARKED)
        spans.push(...take())
      }
      return spans
    },
    end() {
      const spans = spansOf(held, style, base)
      held = ''
      return spans
    },
  }

  function take(): readonly Span[] {
    const spans: Span[] = []
    for (;;) {
      // Never more than this is looked at, so that it does not matter in which pieces the text came.
      const window = held.slice(0, LONGEST_MARKED)
      const ends = certainEnds(window)
      let from = 0
      for (const end of ends) {
        spans.push(...spansOf(window.slice(from, end), style, base))
        from = end
      }
      if (from === 0 && window.length === LONGEST_MARKED) {
        // Whatever opened at its beginning was only a sign.
        const beginning = window.slice(0, LONGEST_WORD)
        from = beginning.lastIndexOf(' ') + 1 || wholeSigns(beginning)
        spans.push({ text: window.slice(0, from), paint: base })
      }
      if (from === 0) return spans
      held = held.slice(from)
    }
  }
}

/** Where in `text` what comes before keeps its look whatever follows: after blanks with nothing open before them. */
function certainEnds(text: string): readonly number[] {
  const ends: number[] = []
  const open: string[] = []
  let at = 0
  while (at < text.length) {
    const sign = text[at]!
    if (sign === '\\') at += 2
    else if (sign === '`') {
      const run = runAt(text, at)
      const close = closingRun(text, at + run, run)
      if (close === -1) return ends
      at = close
    } else if (sign === '*' || sign === '_' || sign === '~') {
      const run = runAt(text, at)
      if (at + run >= text.length) return ends
      const before = text[at - 1] ?? ' '
      const after = text[at + run]!
      const mark = sign.repeat(Math.min(run, 3))
      const isWithin = sign === '_' && /\w/.test(before) && /\w/.test(after)
      if (open.at(-1) === mark && /\S/.test(before) && !isWithin) open.pop()
      else if (/\S/.test(after) && !isWithin) open.push(mark)
      at += run
    } else if (sign === '[' || sign === '<') {
      const close = sign === '[' ? linkEnd(text, at) : tagEnd(text, at)
      if (close === -1) return ends
      at = close
    } else {
      at++
      // Words of signs that take two columns have no blanks between them.
      if (open.length === 0 && (sign === ' ' || (WIDE_SIGN.test(sign) && WIDE_SIGN.test(text[at] ?? '')))) ends.push(at)
    }
  }
  return ends
}

function runAt(text: string, at: number): number {
  let end = at
  while (text[end] === text[at]) end++
  return end - at
}

/** After the next run of exactly as many backticks; -1 where none ends yet. */
function closingRun(text: string, from: number, count: number): number {
  for (let at = text.indexOf('`', from); at !== -1; ) {
    const run = runAt(text, at)
    if (run === count && at + run < text.length) return at + run
    at = text.indexOf('`', at + run)
  }
  return -1
}

/** After a link that begins at `at`, or after its bracket where it is none; -1 where that is not known yet. */
function linkEnd(text: string, at: number): number {
  let depth = 0
  for (let index = at; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === '[') depth++
    else if (text[index] === ']' && --depth === 0) {
      const next = text[index + 1]
      if (next === undefined) return -1
      if (next !== '(') return index + 1
      const close = text.indexOf(')', index)
      return close === -1 ? -1 : close + 1
    }
  }
  return -1
}

function tagEnd(text: string, at: number): number {
  const next = text[at + 1]
  if (next === undefined) return -1
  if (!/[a-z/!]/i.test(next)) return at + 1
  const close = text.indexOf('>', at)
  return close === -1 ? -1 : close + 1
}

const WIDE_SIGN = /[\u2E80-\u9FFF\uAC00-\uD7AF\uFF00-\uFF60]/

/** The length of `text` without half a character at its end. */
function wholeSigns(text: string): number {
  return /[\uD800-\uDBFF]/.test(text.at(-1)!) ? text.length - 1 : text.length
}

/** What text has that is more than words. */
const MARKED = /[*_~`[\]<>&\\!@]|https?:|www\./i

/** Longer text is shown as it is: the lexer looks for the end of each mark through all that follows. Characters. */
const LONGEST_LEXED = 2 * LONGEST_MARKED

/** All of `text` as spans. */
export function spansOf(text: string, style: Style, base: Paint): readonly Span[] {
  if (text.length > LONGEST_LEXED || !MARKED.test(text)) return text === '' ? [] : [{ text, paint: base }]
  // The lexer spells out entities, in addresses too: a terminal would obey some of them.
  const spans = Lexer.lexInline(text).flatMap((token) => tokenSpans(token, style, base))
  return spans.map(({ text: shown, paint }) => ({ text: printable(shown), paint }))
}

function tokenSpans(token: Token, style: Style, paint: Paint): readonly Span[] {
  const inside = (look: Paint) =>
    (token as { readonly tokens?: readonly Token[] }).tokens?.flatMap((inner) => tokenSpans(inner, style, look)) ?? []
  const both =
    (look: Paint): Paint =>
    (text) =>
      paint(look(text))
  switch (token.type) {
    case 'strong':
      // Names such as __init__ are no emphasis.
      if (/^__\w+__$/.test(token.raw)) return [{ text: token.raw, paint }]
      return inside(both(style.bold))
    case 'em':
      return /^_\w+_$/.test(token.raw) && /_/.test(token['text'])
        ? [{ text: token.raw, paint }]
        : inside(both(style.italic))
    case 'del':
      return token.raw.startsWith('~~') ? inside(both(style.strike)) : [{ text: token.raw, paint }]
    case 'codespan':
      return [{ text: token['text'], paint: both(style.cyan) }]
    case 'link':
      return linkSpans(inside(both(style.underline)), token['href'], style, paint)
    case 'image':
      return linkSpans(
        [{ text: token['text'] || 'picture', paint: both(style.underline) }],
        token['href'],
        style,
        paint,
      )
    case 'br':
      return [{ text: ' ', paint }]
    case 'escape':
      return [{ text: token['text'], paint }]
    case 'text':
      return token['tokens'] ? inside(paint) : [{ text: entities(token.raw), paint }]
    default:
      return [{ text: token.raw, paint }]
  }
}

/** The words of a link, and where it leads unless they tell that. */
function linkSpans(spans: readonly Span[], href: string, style: Style, paint: Paint): readonly Span[] {
  const words = spans.map(({ text }) => text).join('')
  const isShown = href === words || href.replace(/^(?:https?:\/\/|mailto:)/, '') === words
  if (words === '') return [{ text: href, paint: (text) => paint(style.underline(text)) }]
  return isShown ? spans : [...spans, { text: ` (${href})`, paint: (text) => paint(style.dim(text)) }]
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00A0' }

function entities(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|([a-z]{2,5}));/g, (whole, code: string | undefined, name: string | undefined) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const point = Number(code)
    // What a terminal would obey stays as it was typed.
    const sign = point > 0x10_ff_ff ? '' : String.fromCodePoint(point)
    return sign !== '' && sign !== '\n' && sign !== '\t' && printable(sign) === sign ? sign : whole
  })
}
