import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { messageWords } from '../postgres/search/words.js'
import { wordsOf } from '../stores/learnings.js'
import { hasWordWith, indexWords, partsOfNames, toIndexText } from './index-text.js'
import { makeSnippet } from './snippet.js'

const CHARS = 1_000_000

const shapes = {
  'small letters': 'acgt',
  humps: 'aB',
  capitals: 'A',
  'letters with accents': 'é',
  hashes: '0123456789abcdef',
  'Chinese characters': '部署',
  'marks out of order': '\u0301\u0323',
  'letters with marks out of order': `a${'\u0301\u0323'.repeat(500)}`,
}

/** What takes time by the square of a length would hold the process for hours, and no time limit of a test could end it. */
const ended = <Result>(work: () => Result): Result => runInNewContext('work()', { work }, { timeout: 20_000 }) as Result

describe.each(Object.entries(shapes))('one word of a million characters, %s', (_, letters) => {
  // Because of the name in front the parts of names are looked for.
  const content = `getUser ${letters.repeat(CHARS / letters.length)}_x`

  it('is made ready for both indexes, read, marked and compared', () => {
    ended(() => lookThrough(content))
  })
})

function lookThrough(content: string): void {
  const message = { role: 'tool', content, tool_name: null, tool_calls: null, session_id: 's', source: 'cli' }
  expect(toIndexText(message)).toContain('\ue000tool')
  expect(messageWords(message)).not.toBe('')
  expect(indexWords(content).length).toBeGreaterThan(0)
  expect(hasWordWith(message, 'nowhere')).toBe(false)
  const wanted = ['acgta', 'ababx', '"acgt acgt x"', '部署x', 'y'].map((text) => ({ text, isPrefix: true }))
  expect(makeSnippet([content], wanted).length).toBeLessThan(1_000)
  expect(wordsOf(content).size).toBeGreaterThan(0)
}

describe('partsOfNames', () => {
  it('takes a long word for data and not for a name', () => {
    expect(partsOfNames(`getUserById ${'aB'.repeat(200)}`)).toEqual(['get', 'User', 'By', 'Id'])
  })
})
