import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { call, createToolContext, temporaryEnvironment } from '../__fixtures__/test-context.js'
import { createReadFileTool } from '../index.js'
import { linesOf, pdf, setup, WORKBOOK } from './__fixtures__/documents.js'

const REPORT = [
  'Quarterly report',
  'Costs rose by 4 % & fell again. “Quoted” – naïve text, 日本語.',
  'first point',
  'second point',
  'Item\tPrice',
  'Apple\t3',
  'Pear\t12',
]

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
    const requested: string[] = []
    const { put, read } = await setup({ seesImages: async (sessionId) => requested.push(sessionId) > 0 })
    await put('dot.png', PNG)
    const result = await read('dot.png')
    expect(result.content).toEqual([
      {
        type: 'text',
        origin: 'external',
        sources: [{ type: 'file', path: expect.stringMatching(/dot\.png$/) }],
        text: expect.stringMatching(/dot\.png is a PNG image, 70 bytes; here it is:$/),
      },
      { type: 'image', mediaType: 'image/png', data: PNG.toString('base64'), name: 'dot.png' },
    ])
    expect(new Set(requested)).toEqual(new Set(['session']))
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
