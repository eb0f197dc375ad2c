import { expect, it } from 'vitest'
import { memoryOf, memoryOfProcess } from '../../bench/browser/memory.mjs'
import { atMost, row, verdict } from '../../bench/report.mjs'

it('what was not measured passes no limit', () => {
  expect(verdict(row('a look', 'ms', [1, 3, 2], atMost(2)))).toBe('PASS')
  for (const values of [[1, Number.NaN, 2], [], [Number.POSITIVE_INFINITY], [null as never]])
    expect(() => row('a look', 'ms', values, atMost(2)), String(values)).toThrow('"a look" was not measured')
  expect(() => row('a look', 'ms', [1], atMost(Number.NaN))).toThrow('"a look" was not measured')
})

it('memory of a process that is gone is no figure', () => {
  expect(memoryOfProcess(process.pid)).toBeGreaterThan(1)
  expect(() => memoryOfProcess(2 ** 30)).toThrow('cannot be read')
  expect(() => memoryOf(null)).toThrow('no process in the group null')
})

it('a row is judged by its median', () => {
  expect(verdict(row('turn', 'ms', [0, 9, 20], atMost(10)))).toBe('PASS')
})
