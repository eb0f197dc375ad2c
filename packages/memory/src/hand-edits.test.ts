import { describe, expect, it } from 'vitest'
import { joinEntries } from './entries.js'
import { mergeHandEdit, mergeLateWrite } from './hand-edits.js'
import type { MemoryRecord } from './history.js'

const text = (...entries: string[]) => `${joinEntries(entries)}\n`
/** The states a store went through, one a second. */
const records = (...states: string[][]): MemoryRecord[] =>
  states.slice(1).map((state, index) => ({
    atMs: index * 1_000,
    target: 'memory',
    origin: 'test',
    before: text(...states[index]!),
    after: text(...state),
  }))
const merged = (hand: string[], history: MemoryRecord[], savedAtMs = 10_000) =>
  mergeHandEdit(text(...hand), history, savedAtMs).entries

it('puts back what was saved while an editor still showed the text of before', () => {
  const history = records(['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd'])
  expect(merged(['a', 'b', 'mine'], history)).toEqual(['a', 'b', 'mine', 'c', 'd'])
  expect(merged(['a', 'b', 'c', 'mine'], history)).toEqual(['a', 'b', 'c', 'mine', 'd'])
})

it.each([
  ['takes an entry away', ['a', 'b']],
  ['adds to what is there', ['a', 'b', 'c', 'mine']],
  ['changes an entry', ['a', 'b', 'C']],
  ['writes everything anew', ['other', 'words']],
  ['empties the file', []],
])('leaves alone who %s', (_, hand) => {
  expect(merged(hand, records(['a', 'b'], ['a', 'b', 'c']))).toEqual(hand)
})

it('takes what is saved long after for meant', () => {
  const history = records(['a', 'b'], ['a', 'b', 'c'])
  expect(merged(['a', 'b', 'mine'], history, 3_600_000)).toEqual(['a', 'b', 'mine'])
  expect(merged(['a'], [])).toEqual(['a'])
})

it('knows what was written by hand for a state that an editor may show', () => {
  const [first, second] = records(['a'], ['a', 'b'], ['a', 'b', 'c'])
  // Somebody wrote h1 into a file that was replaced at that moment, so it was brought in beside h2.
  const byHand: MemoryRecord = { ...first!, origin: 'by hand', before: first!.after, after: text('a', 'b', 'h2') }
  const brought: MemoryRecord = {
    ...second!,
    origin: 'between',
    before: text('a', 'h1'),
    after: text('a', 'b', 'h2', 'h1'),
  }
  expect(merged(['a', 'b', 'h2', 'h3'], [first!, byHand, brought])).toEqual(['a', 'b', 'h2', 'h3', 'h1'])
})

describe('what is written into a file that was replaced', () => {
  const late = (current: string[], written: string[], history: MemoryRecord[]) =>
    mergeLateWrite(current, text(...written), { records: history, savedAtMs: 10_000 })
  const history = records(['a', 'b'], ['a', 'b', 'c'], ['a', 'c'])

  it.each([
    ['is added', ['a', 'c'], ['a', 'b', 'c', 'mine'], ['a', 'c', 'mine']],
    ['takes nothing away, as it may be old or half written', ['a', 'c', 'd'], ['mine'], ['a', 'c', 'd', 'mine']],
    ['brings back what was missing only while it was written', ['new'], ['a', 'c', 'mine'], ['new', 'a', 'c', 'mine']],
    ['may be nothing', ['a', 'c'], [], ['a', 'c']],
  ])('%s', (_, current, written, expected) => {
    expect(late(current, written, history)).toEqual(expected)
  })
})
