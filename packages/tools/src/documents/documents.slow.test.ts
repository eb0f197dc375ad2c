import { deflateSync } from 'node:zlib'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { linesOf, pdf, setup, sheet, WORKBOOK } from './__fixtures__/documents.js'

/** A PDF whose page is packed twice: kilobytes that come to `size` bytes. */
function pdfOfFilters(size: number): Buffer {
  const packed = deflateSync(deflateSync(Buffer.alloc(size, ' '), { level: 1 }))
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

describe('read_file reads documents as text', () => {
  it('of a PDF up to two thousand pages, also where it names one page without end', async () => {
    const { put, read } = await setup()
    await put('again.pdf', pdf(['Again'], 2_500))
    const { data } = await read('again.pdf', { limit: 1 })
    const end = await read('again.pdf', { offset: data['total_lines'] })
    expect(linesOf(end)).toEqual(['[… 500 more pages are left out]'])
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
    ['bomb.xlsx', 'xl/worksheets/sheet1.xml', '<row>'.repeat(300_000)],
    ['bomb.xlsx', 'xl/worksheets/sheet1.xml', '<row'.repeat(300_000)],
    ['bomb.xlsx', 'xl/worksheets/sheet1.xml', `<row>${'<c>'.repeat(300_000)}</row>`],
    ['bomb.xlsx', 'xl/sharedStrings.xml', '<si>'.repeat(300_000)],
    ['bomb.xlsx', 'xl/workbook.xml', `${'<sheet'.repeat(300_000)}>`],
    ['bomb.docx', 'word/document.xml', '<'.repeat(800_000)],
    ['bomb.docx', 'word/document.xml', `<w:p><w:t>${' '.repeat(800_000)}x</w:t></w:p>`],
    ['bomb.odt', 'content.xml', '<text:p'.repeat(300_000)],
  ])('and is done in time whatever is missing: %s %s', async (file, part, text) => {
    const { put, read } = await setup()
    await put(file, zipSync({ ...(file.endsWith('xlsx') ? WORKBOOK : {}), [part]: strToU8(text) }))
    expect((await read(file)).text).toMatch(/ an? (?:workbook|Word document|OpenDocument)\b/)
  })

  it('and gives up on one that takes too much memory or time, without taking it here', async () => {
    const { put, read } = await setup({ documentLimits: { maxResidentBytes: 200 * 2 ** 20, timeoutMs: 20_000 } })
    const bomb = pdfOfFilters(2 ** 28)
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
})
