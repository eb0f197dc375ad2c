// An answer as it comes, as a person reads it:
//
//   text ─▶ a line tells by its first signs what it is
//        ─▶ words of it ─▶ flow: rows of the terminal, final when written
//        ─▶ or whole lines ─▶ code, tables
import type { Style } from '../render/style.js'
import { createFlow, lineOf } from './flow.js'
import { createHighlighters, type Highlighter } from './highlight.js'
import { createInlineStream, type InlineStream } from './inline.js'
import { createTable, isDelimiterRow, type Table } from './table.js'

/** Markdown in pieces of any size. What comes out is whole and never changes: joined, it is the text on the screen. */
export interface MarkdownStream {
  /** Rows as far as they are certain. */
  add(text: string): string
  /** The rest, with the end of its line. The next text begins anew. */
  end(): string
}

/** Options of {@link createMarkdownStream}. */
interface MarkdownOptions {
  /** Columns of the screen; asked again for each line. */
  readonly columns: () => number
  readonly style: Style
}

interface Fence {
  readonly mark: string
  readonly indent: number
  readonly prefix: string
  readonly highlighter: Highlighter | null
}

interface Item {
  /** Columns of the text in the source, and on the screen. */
  readonly sourceIndent: number
  readonly indent: number
}

/** So many lines of a table are looked at before its widths are fixed. */
const TABLE_SAMPLE = 100
const WIDEST_INDENT = 24
/** What has not told by then what it is, is text. Characters. */
const LONGEST_BEGINNING = 300

/** Shows Markdown on a terminal; colours and looks come from `style`. */
export function createMarkdownStream({ columns, style }: MarkdownOptions): MarkdownStream {
  let out = ''
  const write = (text: string) => {
    out += text
  }
  const room = () => Math.max(16, columns() - 1)
  const flow = createFlow(write, room)
  const highlighterOf = createHighlighters(style)
  /** The line under way, as far as nothing is said about it yet. */
  let line = ''
  /** Whether nothing of the line can be shown before its end. */
  let isWaiting = false
  let inline: InlineStream | null = null
  let fence: Fence | null = null
  let codeLines: string[] = []
  let table: { readonly prefix: string; readonly lines: string[]; laid: Table | null } | null = null
  let items: Item[] = []
  let isBlank = false
  let hasWritten = false

  /** A blank row where the source has some, never two and never at the beginning. */
  const gap = () => {
    if (isBlank && hasWritten) write('\n')
    isBlank = false
    hasWritten = true
  }
  const flushCode = () => {
    if (!fence || codeLines.length === 0) return
    const { highlighter, prefix } = fence
    const lines = codeLines.map((code) => code.replaceAll('\t', '    '))
    codeLines = []
    if (highlighter) for (const spans of highlighter.lines(lines)) write(`${prefix}${lineOf(spans)}\n`)
    else for (const code of lines) write(`${prefix}${code}\n`)
  }
  const layTable = () => {
    if (!table || table.laid) return
    const { lines, prefix } = table
    if (lines.length < 2 || !isDelimiterRow(lines[1]!)) {
      for (const text of lines.splice(0)) writeLine(prefix, text)
      return
    }
    table.laid = createTable(lines, room() - prefix.length, style)
    const rows = [...table.laid.head, ...lines.slice(2).flatMap((text) => table!.laid!.row(text))]
    lines.length = 0
    for (const row of rows) write(`${prefix}${row}\n`)
  }
  const endTable = () => {
    layTable()
    table = null
  }
  const writeLine = (prefix: string, text: string) => {
    flow.begin(prefix, prefix)
    const stream = createInlineStream(style)
    for (const span of [...stream.add(text), ...stream.end()]) flow.add(span)
    flow.end()
  }
  const startText = (first: string, rest: string, text: string, paint?: (text: string) => string) => {
    gap()
    flow.begin(first, rest)
    inline = createInlineStream(style, paint)
    for (const span of inline.add(text)) flow.add(span)
  }
  const endText = () => {
    if (!inline) return
    for (const span of inline.end()) flow.add(span)
    flow.end()
    inline = null
  }

  /** Takes the line as far as it is there, unless more of it is needed to know what it is. */
  const begin = (isWhole: boolean) => {
    if (!isWhole && isWaiting) return
    if (fence) {
      isWaiting = true
      if (isWhole) takeCode(fence)
      return
    }
    const quote = /^ {0,3}(?:> ?)+/.exec(line)?.[0] ?? ''
    if (!isWhole && /^[ >]*$/.test(line)) return
    const body = line.slice(quote.length)
    const bars = style.dim('│ ').repeat(quote.split('>').length - 1)
    const indent = /^ */.exec(body)![0].length
    const text = body.slice(indent)
    if (text === '') {
      if (!isWhole) return
      endTable()
      if (quote !== '') {
        gap()
        write(`${bars}\n`)
      } else isBlank = true
      line = ''
      return
    }
    const isTable = text.startsWith('|')
    if (isTable) {
      isWaiting = true
      if (isWhole) takeRow(bars + ' '.repeat(itemIndent(indent, false)), text)
      return
    }
    if (table) endTable()
    const kind = text.length > LONGEST_BEGINNING && !isWhole ? TEXT : kindOf(text, isWhole)
    if (kind === null) return
    switch (kind.type) {
      case 'fence': {
        const prefix = bars + ' '.repeat(itemIndent(indent, false))
        gap()
        fence = { mark: kind.mark, indent, prefix, highlighter: highlighterOf(kind.language) }
        write(`${prefix}${style.dim(`── ${kind.language}`.trimEnd())}\n`)
        line = ''
        return
      }
      case 'heading':
        items = []
        isBlank = isBlank || hasWritten
        startText(bars, bars, kind.text, (words) => style.bold(kind.level <= 2 ? style.underline(words) : words))
        return
      case 'rule':
        items = []
        gap()
        write(`${bars}${style.dim('─'.repeat(Math.min(room() - 1, 40)))}\n`)
        line = ''
        return
      case 'item': {
        items = items.filter(({ sourceIndent }) => sourceIndent <= indent)
        const at = Math.min(items.at(-1)?.indent ?? 0, WIDEST_INDENT)
        const mark = `${kind.mark} `
        items.push({ sourceIndent: indent + kind.width, indent: at + mark.length })
        const before = bars + ' '.repeat(at)
        startText(`${before}${style.dim(kind.mark)} `, before + ' '.repeat(mark.length), kind.text)
        return
      }
      case 'text': {
        const before = bars + ' '.repeat(itemIndent(indent, true))
        startText(before, before, text)
        return
      }
      default:
        kind satisfies never
    }
  }
  /** Columns before what belongs to an item of a list, or to none. */
  const itemIndent = (indent: number, isText: boolean): number => {
    // Without a blank line before it text goes on in its item, wherever it begins.
    if (isBlank || indent > 0 || !isText) items = items.filter(({ sourceIndent }) => sourceIndent <= indent)
    return Math.min(items.at(-1)?.indent ?? 0, WIDEST_INDENT)
  }
  const takeCode = ({ mark, indent, prefix }: Fence) => {
    const code = line.replace(new RegExp(`^ {0,${indent}}`), '')
    if (new RegExp(`^ {0,3}${mark[0]}{${mark.length},} *$`).test(code)) {
      flushCode()
      write(`${prefix}${style.dim('──')}\n`)
      fence = null
    } else codeLines.push(code)
    line = ''
  }
  const takeRow = (prefix: string, text: string) => {
    if (!table) {
      gap()
      table = { prefix, lines: [], laid: null }
    }
    if (table.laid) for (const row of table.laid.row(text)) write(`${prefix}${row}\n`)
    else if (table.lines.push(text) >= TABLE_SAMPLE || (table.lines.length === 2 && !isDelimiterRow(text))) layTable()
    line = ''
  }
  const takeEnd = () => {
    if (inline) endText()
    else begin(true)
    // It was text, and has begun just now.
    endText()
    line = ''
    isWaiting = false
  }
  const collected = () => {
    flushCode()
    const text = out
    out = ''
    return text
  }
  return {
    add(text) {
      const [first, ...others] = text.split('\n')
      const more = (piece: string) => {
        if (piece === '') return
        if (inline) for (const span of inline.add(piece)) flow.add(span)
        else {
          line += piece
          begin(false)
        }
      }
      more(first!)
      for (const other of others) {
        takeEnd()
        more(other)
      }
      return collected()
    },
    end() {
      if (line !== '' || inline) takeEnd()
      flushCode()
      endTable()
      fence = null
      items = []
      isBlank = false
      hasWritten = false
      return collected()
    },
  }
}

type Kind =
  | { readonly type: 'fence'; readonly mark: string; readonly language: string }
  | { readonly type: 'heading'; readonly level: number; readonly text: string }
  | { readonly type: 'rule' }
  | { readonly type: 'item'; readonly mark: string; readonly width: number; readonly text: string }
  | { readonly type: 'text' }

const TEXT: Kind = { type: 'text' }

/** What a line is, by its beginning; null where more of it is needed. */
function kindOf(text: string, isWhole: boolean): Kind | null {
  const sign = text[0]!
  if (sign === '`' || sign === '~') {
    const fence = /^(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/.exec(text)
    if (fence) return isWhole ? { type: 'fence', mark: fence[1]!, language: fence[2]! } : null
    return isWhole || !/^(?:`{1,3}|~{1,3})$/.test(text) ? TEXT : null
  }
  if (sign === '#') {
    const heading = /^(#{1,6})\s+(\S.*)$/.exec(text)
    if (heading) return { type: 'heading', level: heading[1]!.length, text: heading[2]! }
    return isWhole || !/^#{1,6}\s*$/.test(text) ? TEXT : null
  }
  if (sign === '-' || sign === '*' || sign === '+' || sign === '_') {
    if (/^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/.test(text)) return isWhole ? { type: 'rule' } : null
    if (!isWhole && /^([-*_])(?:\s*\1?)*$/.test(text)) return null
    const item = /^[-*+](\s+)(?:\[([ xX])\]\s+)?(\S.*)$/.exec(text)
    if (!isWhole && /^[-*+]\s+\[(?:[ xX]?\]?\s*)?$/.test(text)) return null
    if (item)
      return {
        type: 'item',
        mark: item[2] === undefined ? '•' : item[2] === ' ' ? '☐' : '☑',
        width: 1 + item[1]!.length,
        text: item[3]!,
      }
    return isWhole || !/^[-*+]\s*$/.test(text) ? TEXT : null
  }
  if (/\d/.test(sign)) {
    const item = /^(\d{1,9}[.)])(\s+)(\S.*)$/.exec(text)
    if (item) return { type: 'item', mark: item[1]!, width: item[1]!.length + item[2]!.length, text: item[3]! }
    return isWhole || !/^\d{1,9}(?:[.)]\s*)?$/.test(text) ? TEXT : null
  }
  return TEXT
}
