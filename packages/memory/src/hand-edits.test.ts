import { expect, it } from 'vitest'
import { joinEntries } from './entries.js'
import { mergeHandEdit } from './hand-edits.js'
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
