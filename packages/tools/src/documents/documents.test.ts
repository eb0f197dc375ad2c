import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createReadFileTool } from '../index.js'
import { defaultToolSettings, type ToolSettings } from '../settings.js'

const REPORT = [
  'Quarterly report',
  'Costs rose by 4 % & fell again. “Quoted” – naïve text, 日本語.',
  'first point',
  'second point',
  'Item\tPrice',
  'Apple\t3',
  'Pear\t12',
]

async function setup(settings: Partial<ToolSettings> = {}) {
  const { folder, environment } = await temporaryEnvironment()
  const context = createToolContext({ environment })
  const tool = createReadFileTool({ ...defaultToolSettings, ...settings })
  const put = (name: string, content: string | Uint8Array) => writeFile(join(folder, name), content)
  return { folder, put, read: (path: string, more = {}) => call(tool, { path, ...more }, context) }
}

/** The lines without their numbers and without the note at the end. */
const linesOf = ({ text }: { readonly text: string }) =>
  text
    .split('\n')
    .filter((line) => /^\d+\|/.test(line))
    .map((line) => line.replace(/^\d+\|/, ''))

/** A PDF of pages with one line each, all of them `times` over. @see ISO 32000-1, 7.5 */
function pdf(pages: readonly string[], times = 1): string {
  const kids = `${pages.map((_, at) => `${4 + 2 * at} 0 R`).join(' ')} `.repeat(times)
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${pages.length * times}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...pages.flatMap((line, at) => {
      const drawing = line === '' ? '' : `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + 2 * at} 0 R>>`,
        `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
      ]
    }),
  ]
  let text = '%PDF-1.4\n'
  const offsets = objects.map((object, at) => {
    const offset = text.length
    text += `${at + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  return `${text}xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`
}

/** A PDF whose page is packed twice: kilobytes that come to `size` bytes. */
function pdfOfFilters(size: number): Buffer {
  const packed = deflateSync(deflateSync(Buffer.alloc(size, ' ')))
  const head = `%PDF-1.4
1 0 obj
<</Type/Catalog/Pages 2 0 R>>
endobj
2 0 obj
<</Type/Pages/Kids[3 0 R]/Count 1>>
endobj
3 0 obj
<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R>>
endobj
4 0 obj
<</Length ${packed.length}/Filter[/FlateDecode/FlateDecode]>>stream
`
  return Buffer.concat([
    Buffer.from(head),
    packed,
    Buffer.from('\nendstream\nendobj\ntrailer<</Size 5/Root 1 0 R>>\n%%EOF\n'),
  ])
}

const sheet = (rows: string) => strToU8(`<worksheet><sheetData>${rows}</sheetData></worksheet>`)
const WORKBOOK = {
  'xl/workbook.xml': strToU8(
    '<workbook><sheets><sheet name="Prices &amp; more" sheetId="1" r:id="rId2"/><sheet name="Empty" sheetId="2" r:id="rId1"/></sheets></workbook>',
  ),
  'xl/_rels/workbook.xml.rels': strToU8(
    '<Relationships><Relationship Id="rId1" Target="worksheets/sheet2.xml"/><Relationship Id="rId2" Target="/xl/worksheets/sheet1.xml"/></Relationships>',
  ),
  'xl/sharedStrings.xml': strToU8(
    '<sst><si><t>Apple</t></si><si><r><t>Pe</t></r><r><t xml:space="preserve">ar </t></r></si></sst>',
  ),
  'xl/worksheets/sheet1.xml': sheet(
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1"><f>1+2</f><v>3</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2" t="b"><v>1</v></c><c r="C2" t="inlineStr"><is><t>a&lt;b</t></is></c></row>',
  ),
  'xl/worksheets/sheet2.xml': sheet(''),
}

describe('read_file reads documents as text', () => {
  it.each(['docx', 'odt', 'pptx'])('of a %s that another program wrote', async (extension) => {
    const { folder, read } = await setup()
    await copyFile(join(import.meta.dirname, `__fixtures__/report.${extension}`), join(folder, `report.${extension}`))
    const lines = linesOf(await read(`report.${extension}`))
    expect(lines.filter((line) => line !== '' && !line.startsWith('==='))).toEqual([...REPORT, 'Last line.'])
  })

  it('of a workbook, sheet by sheet', async () => {
    const { put, read } = await setup()
    await put('prices.xlsx', zipSync(WORKBOOK))
    const result = await read('prices.xlsx')
    expect(linesOf(result)).toEqual([
      '=== sheet Prices & more ===',
      'Apple\t\t3',
      'Pear \tTRUE\ta<b',
      '',
      '=== sheet Empty ===',
    ])
    expect(result.text).toMatch(/\n\[The text of a workbook, 2 sheets\.\]$/)
    expect(result.data).toMatchObject({ extracted_from: 'workbook, 2 sheets', total_lines: 5 })
  })

  it('of a PDF, page by page, with the paging of any file', async () => {
    const { put, read } = await setup()
    await put('two.pdf', pdf(['Hello from page one', 'And from page two']))
    expect(linesOf(await read('two.pdf'))).toEqual([
      '=== page 1 ===',
      'Hello from page one',
      '',
      '=== page 2 ===',
      'And from page two',
    ])
    expect((await read('two.pdf', { offset: 5, limit: 1 })).text).toBe(
      '5|And from page two\n[The text of a PDF, 2 pages. Lines 5-5 of 5; this is the end.]',
    )
    await put('scanned.pdf', pdf(['']))
    expect((await read('scanned.pdf')).text).toMatch(
      /is a PDF, 1 page without text: they are images; it holds no text\]$/,
    )
  })

  it('of a PDF up to two thousand pages, also where it names one page without end', async () => {
    const { put, read } = await setup()
    await put('again.pdf', pdf(['Again'], 10_000))
    const { data } = await read('again.pdf', { limit: 1 })
    const end = await read('again.pdf', { offset: data['total_lines'] })
    expect(linesOf(end)).toEqual(['[… 8000 more pages are left out]'])
  })

  it('of a notebook, with its outputs', async () => {
    const { put, read } = await setup()
    const cells = [
      { cell_type: 'markdown', source: ['# Title\n', 'Text.'] },
      {
        cell_type: 'code',
        source: 'print(1)\n1 / 0',
        outputs: [
          { output_type: 'stream', text: ['1\n'] },
          { output_type: 'display_data', data: { 'text/plain': '<Figure>', 'image/png': 'AAAA' } },
          { output_type: 'error', ename: 'ZeroDivisionError', evalue: 'division by zero' },
        ],
      },
    ]
    await put('n.ipynb', JSON.stringify({ cells, metadata: { kernelspec: { language: 'python' } } }))
    expect(linesOf(await read('n.ipynb'))).toEqual([
      '=== cell 1: markdown ===',
      '# Title',
      'Text.',
      '',
      '=== cell 2: python ===',
      'print(1)',
      '1 / 0',
      '--- output ---',
      '1',
      '--- output ---',
      '<Figure>',
      '[image/png]',
      '--- output ---',
      'ZeroDivisionError: division by zero',
    ])
  })

  it('unless they are damaged, or something else under that name', async () => {
    const { folder, put, read } = await setup()
    const real = await readFile(join(import.meta.dirname, '__fixtures__/report.docx'))
    await writeFile(join(folder, 'cut.docx'), real.subarray(0, 5_000))
    await put('other.docx', zipSync({ 'a.txt': strToU8('a') }))
    await put('plain.docx', 'Just text.\n')
    await put('broken.pdf', '%PDF-1.4\nnothing\n')
    await put('broken.ipynb', '{"cells": [')
    for (const name of ['cut.docx', 'other.docx']) {
      expect((await read(name)).text).toMatch(/is not text but ZIP archive or Office document/)
    }
    expect((await read('broken.pdf')).text).toMatch(/is not text but PDF document/)
    expect((await read('plain.docx')).text).toBe('1|Just text.')
    expect((await read('broken.ipynb')).text).toBe('1|{"cells": [')
  })

  it('and unpacks no more than a document may hold', async () => {
    const { put, read } = await setup()
    const bomb = zipSync({ ...WORKBOOK, 'xl/worksheets/sheet1.xml': new Uint8Array(120 * 1024 * 1024) })
    expect(bomb.length).toBeLessThan(200_000)
    await put('bomb.xlsx', bomb)
    expect(linesOf(await read('bomb.xlsx'))[1]).toBe('')
  })

  it.each([
    ['a text that many cells share', `<row>${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`.repeat(100)],
    ['cells far to the right', '<row><c r="XFD1"><v>1</v></c></row>'.repeat(100_000)],
    ['sheets that are one part', `<row>${' '.repeat(100_000)}</row>`],
  ])('and writes no more than anybody could read: %s', async (_, rows) => {
    const { put, read } = await setup()
    const shared = strToU8(`<sst><si><t>${'x'.repeat(200_000)}</t></si></sst>`)
    const name = '<sheet name="Again" r:id="rId2"/>'
    const book = strToU8(`<workbook><sheets>${name.repeat(10_000)}</sheets></workbook>`)
    const files = { 'xl/workbook.xml': book, 'xl/sharedStrings.xml': shared, 'xl/worksheets/sheet1.xml': sheet(rows) }
    await put('bomb.xlsx', zipSync({ ...WORKBOOK, ...files }))
    const { data } = await read('bomb.xlsx', { limit: 1 })
    const end = await read('bomb.xlsx', { offset: data['total_lines'] })
    expect(linesOf(end)).toEqual(['[… the rest of the workbook is left out]'])
  })

  it.each([
    ['bomb.xlsx', 'xl/worksheets/sheet1.xml', '<row>'.repeat(2_000_000)],
    ['bomb.xlsx', 'xl/worksheets/sheet1.xml', '<row'.repeat(2_000_000)],
    ['bomb.xlsx', 'xl/worksheets/sheet1.xml', `<row>${'<c>'.repeat(2_000_000)}</row>`],
    ['bomb.xlsx', 'xl/sharedStrings.xml', '<si>'.repeat(2_000_000)],
    ['bomb.xlsx', 'xl/workbook.xml', `${'<sheet'.repeat(2_000_000)}>`],
    ['bomb.docx', 'word/document.xml', '<'.repeat(5_000_000)],
    ['bomb.docx', 'word/document.xml', `<w:p><w:t>${' '.repeat(5_000_000)}x</w:t></w:p>`],
    ['bomb.odt', 'content.xml', '<text:p'.repeat(2_000_000)],
  ])('and is done in time whatever is missing: %s %s', async (file, part, text) => {
    const { put, read } = await setup()
    await put(file, zipSync({ ...(file.endsWith('xlsx') ? WORKBOOK : {}), [part]: strToU8(text) }))
    expect((await read(file)).text).toMatch(/ an? (?:workbook|Word document|OpenDocument)\b/)
  })

  it('and gives up on one that takes too much memory or time, without taking it here', async () => {
    const { put, read } = await setup({ documentLimits: { maxResidentBytes: 200 * 2 ** 20, timeoutMs: 20_000 } })
    const bomb = pdfOfFilters(2 ** 29)
    expect(bomb.length).toBeLessThan(10_000)
    await put('bomb.pdf', bomb)
    const before = process.memoryUsage.rss()
    expect(await read('bomb.pdf')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/bomb\.pdf is a PDF that takes more than 200 MB of memory to read, so .* pdftotext/),
    })
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 2 ** 20)

    const hasty = await setup({ documentLimits: { maxResidentBytes: 512 * 2 ** 20, timeoutMs: 1 } })
    await hasty.put('a.pdf', pdf(['first']))
    expect((await hasty.read('a.pdf')).text).toContain('takes more than 0.001 s to read')
  })

  it('and reads a PDF of three hundred pages whole', async () => {
    const { put, read } = await setup()
    const lines = Array.from({ length: 300 }, (_, at) => `Line of page ${at + 1}`)
    await put('book.pdf', pdf(lines))
    const result = await read('book.pdf', { limit: 2_000 })
    expect(linesOf(result).filter((line) => line.startsWith('Line'))).toEqual(lines)
  })

  it('stops at once when the session does', async () => {
    const { folder, environment } = await temporaryEnvironment()
    await writeFile(join(folder, 'a.pdf'), pdf(['first']))
    const context = createToolContext({ environment, signal: AbortSignal.abort(new Error('stopped')) })
    await expect(call(createReadFileTool(), { path: 'a.pdf' }, context)).rejects.toThrow('stopped')
  })

  it('follows a document that changed', async () => {
    const { put, read } = await setup()
    await put('a.pdf', pdf(['first']))
    await read('a.pdf')
    await put('a.pdf', pdf(['second']))
    expect(linesOf(await read('a.pdf'))[1]).toBe('second')
  })
})

describe('read_file and images', () => {
  const PNG = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )

  it('shows them to a model that sees', async () => {
    const asked: string[] = []
    const { put, read } = await setup({ seesImages: async (sessionId) => asked.push(sessionId) > 0 })
    await put('dot.png', PNG)
    const result = await read('dot.png')
    expect(result.content).toEqual([
      {
        type: 'text',
        origin: 'external',
        text: expect.stringMatching(/dot\.png is a PNG image, 70 bytes; here it is:$/),
      },
      { type: 'image', mediaType: 'image/png', data: PNG.toString('base64'), name: 'dot.png' },
    ])
    expect(asked).toEqual(['session'])
  })

  it('says what they are to one that does not, and that they are too large', async () => {
    const blind = await setup()
    await blind.put('dot.png', PNG)
    expect(await blind.read('dot.png')).toMatchObject({ isError: true, text: expect.stringContaining('PNG image') })
    const { put, read } = await setup({ seesImages: () => true })
    await put('large.png', Buffer.concat([PNG, Buffer.alloc(11 * 1024 * 1024)]))
    expect((await read('large.png')).text).toContain('at most 10485760 are shown')
  })
})
