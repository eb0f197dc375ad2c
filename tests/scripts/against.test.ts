import { expect, it } from 'vitest'
import { compareRuns, comparison } from '../../bench/against.mjs'

const row = (title: string, median: number) => ({ title, unit: 'ms', min: median, median, max: median })
const run = (...rows: ReturnType<typeof row>[]) => ({ rows, failures: [] })

it('a row has moved when its median over all pairs did, by more than 3 %', () => {
  const compared = compareRuns({
    old: [
      run(row('first', 100), row('turn', 10)),
      run(row('first', 300), row('turn', 10)),
      run(row('first', 110), row('turn', 10)),
    ],
    new: [
      run(row('first', 112), row('turn', 12)),
      run(row('first', 90), row('turn', 12)),
      run(row('first', 500), row('turn', 12)),
    ],
  })
  expect(compared.rows.map(({ title, change }) => [title, Math.round(change * 1_000) / 10])).toEqual([
    ['first', 1.8],
    ['turn', 20],
  ])
  expect(comparison(compared)).toBe('turn      10.00 →     12.00 ms   +20.0 %\n1 of 2 rows are within 3 %')
})

it('a row is told from another of its name by the one above it, and what only one commit has is named', () => {
  const old = run(row('turn', 10), row('  over SDK loop', 2), row('memory', 5), row('  over SDK loop', 1))
  const failed = {
    ...run(row('turn', 10), row('  over SDK loop', 2), row('jobs', 5)),
    failures: [{ name: 'wires', message: 'no such file' }],
  }
  const compared = compareRuns({ old: [old], new: [failed] })
  expect(compared.rows.map(({ title }) => title)).toEqual(['turn', 'turn: over SDK loop'])
  expect(compared.missing).toEqual(['memory', 'memory: over SDK loop', 'jobs', 'wires (new: no such file)'])
})
