import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OutputCollector } from './output-collector.js'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hermes-output-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let files = 0

function collect(chunks: readonly Buffer[], maxBytes: number, maxFileBytes = 1_000_000) {
  const collector = new OutputCollector(maxBytes, { path: join(directory, `${++files}`), maxBytes: maxFileBytes })
  for (const chunk of chunks) collector.push(chunk)
  collector.end()
  return collector
}

describe('output collector', () => {
  it('gives short output whole and makes no file', () => {
    const collector = collect([Buffer.from('abc'), Buffer.from('def')], 6)
    expect(collector.text()).toBe('abcdef')
    expect(collector.filePath).toBeNull()
  })

  it('gives 40 % head and 60 % tail of longer output', () => {
    const collector = collect([Buffer.from('0123456789abcdefghij')], 10)
    expect(collector.text()).toBe('0123\n[… 10 bytes left out …]\nefghij')
    expect(readFileSync(collector.filePath!, 'utf8')).toBe('0123456789abcdefghij')
    expect(statSync(collector.filePath!).mode & 0o777).toBe(0o600)
  })

  it('does not tear characters apart at the cuts', () => {
    const collector = collect([Buffer.from('é'.repeat(50))], 15)
    expect(collector.text()).toBe(`${'é'.repeat(3)}\n[… 86 bytes left out …]\n${'é'.repeat(4)}`)
  })

  it('shows bytes that are no UTF-8 as replacement characters', () => {
    expect(collect([Buffer.from([0x61, 0xff, 0x62])], 10).text()).toBe('a\ufffdb')
  })

  it('ends the file at its limit and says so', () => {
    const collector = collect([Buffer.alloc(60, 'a'), Buffer.alloc(60, 'b')], 10, 100)
    const text = readFileSync(collector.filePath!, 'utf8')
    expect(text.startsWith(`${'a'.repeat(60) + 'b'.repeat(40)}\n[`)).toBe(true)
    expect(collector.totalBytes).toBe(120)
  })

  it('gives the text without a file where none can be made', () => {
    const collector = new OutputCollector(4, { path: join(directory, 'no', 'such', 'place'), maxBytes: 100 })
    collector.push(Buffer.from('0123456789'))
    expect(collector.filePath).toBeNull()
    expect(collector.text()).toMatch(/^0\n.*\n789$/)
  })

  it('keeps head, tail and file right however the output is chunked', () => {
    const chunk = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), maxLength: 30 })
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 400 }), fc.integer({ min: 0, max: 300 }), (chunks, maxBytes) => {
        const whole = chunks.join('')
        const collector = collect(
          chunks.map((text) => Buffer.from(text)),
          maxBytes,
        )
        expect(collector.totalBytes).toBe(whole.length)
        const limit = Math.max(1, maxBytes)
        if (whole.length <= limit) {
          expect(collector.text()).toBe(whole)
          return
        }
        const head = Math.floor(maxBytes * 0.4)
        const tail = limit - head
        expect(collector.text().startsWith(`${whole.slice(0, head)}\n[… `)).toBe(true)
        expect(collector.text().endsWith(` …]\n${whole.slice(-tail)}`)).toBe(true)
        expect(readFileSync(collector.filePath!, 'utf8')).toBe(whole)
      }),
      { numRuns: Number(process.env['HERMES_TEST_RUNS'] ?? 60) },
    )
  })
})
