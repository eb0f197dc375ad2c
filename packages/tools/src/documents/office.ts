import { strFromU8, unzipSync } from 'fflate'
import type { DocumentKind, DocumentText } from './document-kind.js'

type OfficeKind = Extract<DocumentKind, 'docx' | 'xlsx' | 'pptx' | 'odt'>

/** What is unpacked of one document: a few kilobytes can claim to be gigabytes. */
const MAX_UNPACKED_BYTES = 100 * 1024 * 1024
/** What a workbook may come to: cells far to the right, and texts that many cells share, make more of it than was unpacked. */
const MAX_TEXT_CHARS = 16 * 1024 * 1024
const CUT = '[… the rest of the workbook is left out]'

const PARTS: Readonly<Record<OfficeKind, RegExp>> = Object.freeze({
  docx: /^word\/document\.xml$/,
  xlsx: /^xl\/(?:workbook\.xml|_rels\/workbook\.xml\.rels|sharedStrings\.xml|worksheets\/[^/]+\.xml)$/,
  pptx: /^ppt\/slides\/slide\d+\.xml$/,
  odt: /^content\.xml$/,
})

/** The text of an Office Open XML or OpenDocument file; `null` when its parts are not there. */
export function officeText(kind: OfficeKind, bytes: Uint8Array): DocumentText | null {
  let left = MAX_UNPACKED_BYTES
  const files = unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      const isWanted = PARTS[kind].test(name)
      if (isWanted) left -= originalSize
      return isWanted && left >= 0
    },
  })
  const parts = new Map(Object.entries(files).map(([name, data]) => [name, strFromU8(data)]))
  if (parts.size === 0) return null
  switch (kind) {
    case 'docx':
      return { type: 'text', text: paragraphs(parts.get('word/document.xml') ?? '', 'office'), what: 'Word document' }
    case 'pptx':
      return slides(parts)
    case 'odt':
      return { type: 'text', text: paragraphs(parts.get('content.xml') ?? '', 'odf'), what: 'OpenDocument' }
    case 'xlsx':
      return workbook(parts)
    default:
      return kind satisfies never
  }
}

function slides(parts: ReadonlyMap<string, string>): DocumentText {
  const ordered = [...parts].sort(([left], [right]) => numberOf(left) - numberOf(right))
  const texts = ordered.map(([name, xml]) => `=== slide ${numberOf(name)} ===\n${paragraphs(xml, 'office')}`)
  return { type: 'text', text: texts.join('\n\n'), what: `presentation, ${texts.length} slides` }
}

const numberOf = (name: string): number => Number(/(\d+)\.xml$/.exec(name)?.[1] ?? 0)

/** A tag whose name is of interest, any other tag, or text. In Office Open XML only `t` holds text of the document. */
const TOKENS = Object.freeze({
  office: /<(\/?)(?:w|a):(p|tab|br|tc|tr)\b[^>]*?(\/?)>|<(?:w|a):t(?:\s[^>]*)?>([^<]*)|<[^>]*>/g,
  odf: /<(\/?)(?:text|table):(p|h|tab|s|line-break|table-cell|table-row)\b[^>]*?(\/?)>|([^<]+)|<[^>]*>/g,
})

/** One line for each paragraph, and for each row of a table, whose cells are set apart by tabs. */
function paragraphs(xml: string, format: keyof typeof TOKENS): string {
  const lines: string[] = []
  let line = ''
  let [cells, inParagraph] = [0, format === 'office']
  const end = () => {
    lines.push(line.trimEnd())
    line = ''
  }
  // Where no tag ends any more, each one would be looked for to the end of the text.
  for (const [, closing, name, empty, text] of xml.slice(0, xml.lastIndexOf('>') + 1).matchAll(TOKENS[format])) {
    switch (name) {
      case undefined:
        if (text !== undefined && inParagraph)
          line += decodeEntities(format === 'odf' ? text.replace(/\s+/g, ' ') : text)
        break
      case 'tab':
        line += closing ? '' : '\t'
        break
      case 's':
        line += closing ? '' : ' '
        break
      case 'br':
      case 'line-break':
        if (!closing) end()
        break
      case 'tc':
      case 'table-cell':
        if (!empty) cells += closing ? -1 : 1
        if (closing || empty) line += '\t'
        break
      case 'tr':
      case 'table-row':
        if (closing) end()
        break
      default:
        if (format === 'odf') inParagraph = !closing && !empty
        // Several paragraphs of one cell stay on its line.
        if ((closing || empty) && cells > 0) line += ' '
        else if (closing || empty) end()
    }
  }
  if (line !== '') end()
  return lines
    .map((one) => one.replace(/(?<! ) +(?=\t|$)/g, '').trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** Each sheet as lines of cells, set apart by tabs. @see ECMA-376, part 1, section 18 */
function workbook(parts: ReadonlyMap<string, string>): DocumentText | null {
  const book = parts.get('xl/workbook.xml')
  if (book === undefined) return null
  const links = new Map<string, string>()
  for (const { attributes } of elements(parts.get('xl/_rels/workbook.xml.rels') ?? '', 'Relationship'))
    links.set(attribute(attributes, 'Id'), attribute(attributes, 'Target').replace(/^\/?(?:xl\/)?/, 'xl/'))
  const shared = Array.from(elements(parts.get('xl/sharedStrings.xml') ?? '', 'si'), ({ body }) => texts(body))
  const sheets = Array.from(elements(book, 'sheet'), ({ attributes }) => ({
    name: attribute(attributes, 'name'),
    xml: parts.get(links.get(attribute(attributes, 'r:id')) ?? '') ?? '',
  }))
  const what = `workbook, ${sheets.length} ${sheets.length === 1 ? 'sheet' : 'sheets'}`
  return { type: 'text', text: sheetLines(sheets, shared).join('\n'), what }
}

interface Sheet {
  readonly name: string
  readonly xml: string
}

/** Many sheets may be one part, many rows one text: what is read and what is written is limited on its own. */
function sheetLines(sheets: readonly Sheet[], shared: readonly string[]): readonly string[] {
  const lines: string[] = []
  let [unread, room] = [MAX_UNPACKED_BYTES, MAX_TEXT_CHARS]
  for (const { name, xml } of sheets) {
    unread -= xml.length
    room -= name.length + 1
    if (unread < 0 || room < 0) return [...lines, CUT]
    lines.push(...(lines.length > 0 ? [''] : []), `=== sheet ${name} ===`)
    for (const { body } of elements(xml, 'row')) {
      const cells = cellsOf(body, shared)
      room -= cells.reduce((sum, cell) => sum + cell.length + 1, 1)
      if (room < 0) return [...lines, CUT]
      lines.push(cells.join('\t').trimEnd())
    }
  }
  return lines
}

function cellsOf(row: string, shared: readonly string[]): readonly string[] {
  const cells: string[] = []
  for (const { attributes, body } of elements(row, 'c')) {
    const at = columnOf(attribute(attributes, 'r')) ?? cells.length
    if (at > 16_384) continue
    while (cells.length < at) cells.push('')
    cells[at] = cellText(attribute(attributes, 't'), body, shared)
  }
  return cells
}

function cellText(type: string, body: string, shared: readonly string[]): string {
  const [first] = elements(body, 'v')
  const value = decodeEntities(first?.body ?? '')
  if (type === 's') return shared[Number(value)] ?? ''
  if (type === 'inlineStr') return texts(body)
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  return value
}

/**
 * The elements of a name, none inside another of its name, in one pass: a pattern would look for each end that is missing through all of
 * the text.
 */
function* elements(xml: string, name: string): Generator<{ readonly attributes: string; readonly body: string }> {
  const [opening, closing] = [`<${name}`, `</${name}>`]
  for (let at = xml.indexOf(opening); at !== -1; at = xml.indexOf(opening, at)) {
    if (!/[\s/>]/.test(xml.charAt(at + opening.length))) {
      at += opening.length
      continue
    }
    const end = xml.indexOf('>', at)
    if (end === -1) return
    const isEmpty = xml.charAt(end - 1) === '/'
    const attributes = xml.slice(at + opening.length, isEmpty ? end - 1 : end)
    const close = isEmpty ? end : xml.indexOf(closing, end)
    if (close === -1) return
    yield { attributes, body: isEmpty ? '' : xml.slice(end + 1, close) }
    at = isEmpty ? end + 1 : close + closing.length
  }
}

/** `AB12` is column 27, counted from 0; `null` for a cell that does not say. */
function columnOf(reference: string): number | null {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0]
  if (letters === undefined) return null
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

const texts = (xml: string): string =>
  Array.from(elements(xml, 't'), ({ body }) => decodeEntities(body))
    .join('')
    .replace(/[\r\n]+/g, ' ')

const attribute = (tag: string, name: string): string =>
  decodeEntities(new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(tag)?.[1] ?? '')

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const point = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
