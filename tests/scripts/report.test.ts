import { expect, it } from 'vitest'
import { atMost, row, verdict } from '../../bench/report.mjs'

it.each([
  ['no number', [1, Number.NaN]],
  // What JSON makes of it, and what passes every upper limit.
  ['null', [null]],
  ['endless', [1 / 0]],
  ['no sample', []],
])('a figure that is %s makes no row', (_, samples) => {
  expect(() => row('share of skills', '%', samples as number[], atMost(10))).toThrow(
    /^share of skills: there is no figure \(.*\)$/,
  )
})

it('a row is judged by its median', () => {
  expect(verdict(row('turn', 'ms', [0, 9, 20], atMost(10)))).toBe('PASS')
})
