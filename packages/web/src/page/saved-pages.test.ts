import { describe, expect, it } from 'vitest'
import { compareWords, readabilityAlone, savedPages, wordsOf, wordsOfMarkdown } from '../__fixtures__/saved-pages.js'
import { htmlToMarkdown } from './html-to-markdown.js'

const PAGES = savedPages()
const URL_READ = 'https://pages.example/one'
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const read = PAGES.map((page) => {
  const { title, text: body } = htmlToMarkdown(page.html, URL_READ)
  // As the tool shows it.
  const text = body.startsWith(`# ${title}\n`) ? body : `# ${title}\n\n${body}\n`
  return {
    ...page,
    text,
    ours: compareWords(page.words, wordsOfMarkdown(text)),
    alone: compareWords(page.words, wordsOf(readabilityAlone(page.html))),
  }
})

describe('thirty saved pages of thirty kinds', () => {
  it('give at least 95 % of the words that a reader wants, and at most 5 % others, better than Readability alone', () => {
    const figures = (kind: 'ours' | 'alone') => ({
      found: mean(read.map((page) => page[kind].found)),
      other: mean(read.map((page) => page[kind].other)),
    })
    const [ours, alone] = [figures('ours'), figures('alone')]
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`
    const lines = read.map((page) => `${page.name}: ${percent(page.ours.found)}, ${percent(page.ours.other)} others`)
    const report = [...lines, `Readability alone: ${percent(alone.found)}, ${percent(alone.other)} others`].join('\n')
    expect(read).toHaveLength(30)
    expect(ours.found, report).toBeGreaterThanOrEqual(0.95)
    expect(ours.other, report).toBeLessThanOrEqual(0.05)
    expect(ours.found, report).toBeGreaterThan(alone.found)
    expect(ours.other, report).toBeLessThan(alone.other)
  })

  it.each(read.filter(({ code }) => code.length > 0))('$name keeps its code byte for byte', ({ text, code }) => {
    for (const one of code) expect(text).toContain(`\n${one.replace(/\n$/, '')}\n`)
  })

  it.each(read.filter(({ tables }) => tables.length > 0))('$name keeps its tables', ({ text, tables }) => {
    const plain = text.replaceAll('`', '')
    for (const rows of tables) for (const cells of rows) expect(plain).toContain(`| ${cells.join(' | ')} |`)
  })
})
