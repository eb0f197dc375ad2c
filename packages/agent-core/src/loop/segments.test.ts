import { describe, expect, it } from 'vitest'
import { type PlannedCall, segmentLength } from './segments.js'

const read = (path: string): PlannedCall => ({ concurrency: 'path', paths: [path], writes: false })
const write = (path: string): PlannedCall => ({ concurrency: 'path', paths: [path], writes: true })
const search: PlannedCall = { concurrency: 'parallel', paths: [], writes: false }
const shell: PlannedCall = { concurrency: 'exclusive', paths: [], writes: true }
const ask: PlannedCall = { concurrency: 'interactive', paths: [], writes: false }

describe('segmentLength', () => {
  it.each([
    ['reads of one file run together', [read('/a'), read('/a'), search], 3],
    ['writes of different files run together', [write('/a/x'), write('/a/y')], 2],
    ['a write waits for a read of the same file', [read('/a'), write('/a')], 1],
    ['a read waits for a write to its directory', [write('/a'), read('/a/b')], 1],
    ['names that share a prefix do not overlap', [write('/a'), write('/ab')], 2],
    ['a search waits for a write', [write('/a'), search], 1],
    ['a write waits for a search', [search, write('/a')], 1],
    ['an exclusive call runs alone', [shell, read('/a')], 1],
    ['nothing joins before an exclusive call', [read('/a'), shell, read('/b')], 1],
    ['one interactive call makes the whole message sequential', [read('/a'), read('/b'), ask], 1],
    ['a path call without paths runs alone', [{ ...read('/a'), paths: [] }, read('/b')], 1],
    ['at most eight run at once', Array.from({ length: 12 }, () => search), 8],
  ])('%s', (_, calls, expected) => {
    expect(segmentLength(calls)).toBe(expected)
  })
})
